"""Asks `build` whether a design may hold clauses, before they are written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from toolgen import dsl
from toolgen.shapes.design.schema import object_schema

from .clauses_layout import Call, Items, Named, Part, Text, call, literal


class NotExpressibleError(ValueError):
    """Clauses cannot say what the schema says; the text says why."""


def check_type(type_: Part) -> None:
    """Check that an attribute may have a type that refers to no other.

    Raises:
        NotExpressibleError: it may not.
    """
    attribute = call("Attribute", literal("x"), type_, Text("X."))
    check_tool("tools", call("Tool", literal("find"), Text("Find."), call("Args", attribute)))


def check_tool(toolset: str, tool: Call, types: Iterable[tuple[str, Call]] = ()) -> tuple[Any, Any]:
    """Return the schemas of a tool's arguments and result, beside the named types that it uses, in order.

    Raises:
        NotExpressibleError: a toolset may not hold it.
    """
    group = call("Toolset", literal(toolset), Text("T."), tool)
    design = check_service(call("Service", literal("tools"), Text("S."), group), types)
    built = design.services[0].toolsets[0]
    objects = {each.name: each for each in (*built.objects, *design.types)}
    checked = built.tools[0]
    return object_schema(checked.payload, objects), object_schema(checked.result, objects)


def check_service(service: Call, types: Iterable[tuple[str, Call]] = ()) -> Any:
    """Return the checked design of a service beside the named types that it uses, in order.

    Raises:
        NotExpressibleError: a design may not hold it.
    """
    named: dict[str, Any] = {}
    for name, type_ in types:
        named[name] = _built(type_, named)
    design = dsl.Design("tools", "Tools.", *named.values(), _built(service, named))
    evaluation = dsl.build(design)
    if evaluation.design is None:
        errors = (finding.message for finding in evaluation.diagnostics if not finding.is_warning)
        raise NotExpressibleError(next(errors, "it is no design"))
    return evaluation.design


def faults_of(statements: Iterable[tuple[str, Call]], schemas: Mapping[str, Any]) -> list[str]:
    """Return the messages about a design that is the last of these variables.

    `schemas` are those that stand in files, by path: the design is not written yet.
    """
    named: dict[str, Any] = {}
    for name, part in statements:
        named[name] = _built(part, named, schemas)
    return [each.message for each in dsl.build(named["design"]).diagnostics if not each.is_warning]


def faulty_types(statements: Iterable[tuple[str, Call]], schemas: Mapping[str, Any]) -> dict[str, str]:
    """Return those of named types that no design may hold, each with the first message about it.

    A message that several types have is about the first of them: the others refer to it.
    """
    named: dict[str, Any] = {}
    for name, part in statements:
        named[name] = _built(part, named, schemas)
    faults: dict[str, str] = {}
    for name in named:
        diagnostics = dsl.build(dsl.Design("types", "Types.", named[name])).diagnostics
        fault = next((each.message for each in diagnostics if not each.is_warning), "")
        if fault:
            faults.setdefault(fault, name)
    return {name: fault for fault, name in faults.items()}


def _built(part: Part | Named, types: dict[str, Any], schemas: Mapping[str, Any] | None = None) -> Any:
    """Return the clause or the value that an expression makes; a name is that of a type or of a clause."""
    match part:
        case str():
            return types[part] if part in types else getattr(dsl, part)
        case Call():
            named = [item for item in part.parts if isinstance(item, Named)]
            keywords = {item.keyword: _built(item.value, types, schemas) for item in named}
            values = [_built(item, types, schemas) for item in part.parts if not isinstance(item, Named)]
            if part.clause == "JSONSchema" and schemas and isinstance(values[0], str):
                values[0] = schemas[values[0]]
            return getattr(dsl, part.clause)(*values, **keywords)
        case Items():
            return tuple(_built(item, types) for item in part.parts)
        case _:
            return part.value
