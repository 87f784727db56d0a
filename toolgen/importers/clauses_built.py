"""Asks `build` whether a design may hold clauses, before they are written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from toolgen import dsl
from toolgen.shapes.design.schema import object_schema, schemas_of

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


class BuiltDesign:
    """A design that is the last of some variables, and is not written yet."""

    def __init__(self, statements: Iterable[tuple[str, Call]], schemas: Mapping[str, Any]) -> None:
        """Build the design; `schemas` are those that stand in files, by path."""
        self._named: dict[str, Any] = {}
        for name, part in statements:
            self._named[name] = _built(part, self._named, schemas)
        evaluation = dsl.build(self._named["design"])
        self.design = evaluation.design
        self.faults = [each.message for each in evaluation.diagnostics if not each.is_warning]

    def schemas(self, types: Iterable[str]) -> dict[str, Any]:
        """Return the schemas of all objects and unions by name, and of these types, used or not."""
        parts = [self._named[name] for name in types if name in self._named]
        named = [part for part in parts if isinstance(part, dsl.Type)]
        used = {each.name for each in self.design.types} if self.design else set[str]()
        made: dict[str, Any] = {}
        for design in (_types_design([each for each in named if each.name not in used], named), self.design):
            if design is not None:
                held = [each for service in design.services for each in service.objects]
                objects = {each.name: each for each in (*held, *design.types)}
                made |= schemas_of(objects, design.unions)
        return made


def _types_design(unused: list[dsl.Type], named: list[dsl.Type]) -> Any:
    """Return the checked design of types that a design does not use; None for none.

    Where they refer by name to some that it uses, all are in it.
    """
    if not unused:
        return None
    alone = dsl.build(dsl.Design("types", "Types.", *unused)).design
    return alone or dsl.build(dsl.Design("types", "Types.", *named)).design


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
