"""Checks with `build` that clauses are valid in a design, before they are written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import FunctionType
from typing import Any, Final

from toolgen import dsl
from toolgen.contract.findings import Finding
from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record
from toolgen.dsl.expr.source import Source
from toolgen.dsl.words import value_of
from toolgen.shapes.tree.schema import object_schema, schemas_of

from .clauses_layout import ClauseCall, Items, Named, Part, Text, call, literal


class NotExpressibleError(ValueError):
    """Clauses cannot express a schema; the text has the reason."""


def check_type(type_: Part) -> None:
    """Check that an attribute may have a type that refers to no other.

    Raises:
        NotExpressibleError: it may not.
    """
    if fault := _fault_of(type_):
        raise NotExpressibleError(fault)


@lru_cache(4_096)
def _fault_of(type_: Part) -> str:
    """Return why no attribute may have a type; "" if one may. A document has the same type many times."""
    attribute = call("Attribute", literal("x"), type_, Text("X."))
    try:
        check_tool("tools", call("Tool", literal("find"), Text("Find."), call("Args", attribute)))
    except NotExpressibleError as error:
        return str(error)
    return ""


def check_tool(
    toolset: str, tool: ClauseCall, types: Iterable[tuple[str, ClauseCall]] = ()
) -> tuple[Any, Any]:
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


def check_service(service: ClauseCall, types: Iterable[tuple[str, ClauseCall]] = ()) -> Any:
    """Return the checked design of a service beside the named types that it uses, in order.

    Raises:
        NotExpressibleError: a design may not hold it.
    """
    builder = _Builder()
    for name, type_ in types:
        builder.add(name, type_)
    named = [*builder.named.values()]
    design = dsl.Design("tools", "Tools.", *named, builder.add("service", service))
    evaluation = dsl.build(design)
    if evaluation.design is None:
        errors = (finding.message for finding in evaluation.diagnostics if not finding.is_warning)
        raise NotExpressibleError(next(errors, "the design has errors"))
    return evaluation.design


@frozen_record
class Fault:
    """A clause that a design cannot contain, and the reason."""

    message: str
    owner: str
    """The variable, the method or the tool that is at fault; "" if nobody can tell."""
    part: ClauseCall | None
    """The clause of it that is at fault, or it itself."""


class BuiltDesign:
    """A design in the last of some variables, before it is written."""

    def __init__(self, statements: Iterable[tuple[str, ClauseCall]], schemas: Mapping[str, Any]) -> None:
        """Build the design; `schemas` are those that stand in files, by path."""
        builder = _Builder(schemas)
        for name, part in statements:
            builder.add(name, part)
        evaluation = dsl.build(builder.named["design"])
        self.design = evaluation.design
        self.faults = [builder.fault(each) for each in evaluation.diagnostics if not each.is_warning]

    def schemas(self) -> dict[str, Any]:
        """Return the schemas of all objects and unions by name."""
        if self.design is None:
            return {}
        held = [each for service in self.design.services for each in service.objects]
        objects = {each.name: each for each in (*held, *self.design.types)}
        return schemas_of(objects, self.design.unions)


_DIVIDED: Final = ("Method", "Tool")
"""Clauses whose parts are at fault by themselves, as examples always are."""
_NO_CODE: Final = compile("", "", "exec")


def _call(clause: Any, values: list[Any], keywords: dict[str, Any]) -> Any:
    return clause(*values, **keywords)


_made: Final = FunctionType(_call.__code__, {"__name__": "design"})
"""Makes a clause as a design does, so that the search for the author's call ends here."""


class _Builder:
    """Makes clauses of expressions, each of which knows the variable, method or tool in which it stands."""

    def __init__(self, schemas: Mapping[str, Json] | None = None) -> None:
        self.named: dict[str, Any] = {}
        self._schemas = schemas or {}
        self._owners: list[tuple[str, ClauseCall]] = []

    def add(self, name: str, part: ClauseCall) -> Any:
        """Make what a variable is, and return it."""
        self.named[name] = self._built(part, name, self._source(name, part))
        return self.named[name]

    def fault(self, finding: Finding) -> Fault:
        file = finding.place.file
        owner, part = self._owners[int(file)] if file.isdecimal() else ("", None)
        return Fault(message=finding.message, owner=owner, part=part)

    def _source(self, owner: str, part: ClauseCall) -> object:
        """Return a place that is of this clause alone, in a file that has its number for a name."""
        self._owners.append((owner, part))
        return Source(_NO_CODE.replace(co_filename=str(len(self._owners) - 1)), 0)

    def _built(self, part: Part | Named, owner: str, source: Any) -> object:
        """Return the clause or the value of an expression; a name is that of a type or of a clause."""
        match part:
            case str():
                return self.named[part] if part in self.named else value_of(part)
            case ClauseCall():
                if part.clause in _DIVIDED:
                    owner = str(getattr(part.parts[0], "value", owner))
                    source = self._source(owner, part)
                values: list[Any] = []
                keywords: dict[str, Any] = {}
                for item in part.parts:
                    place = source
                    if isinstance(item, ClauseCall) and (part.clause in _DIVIDED or item.clause == "Example"):
                        place = self._source(owner, item)
                    if isinstance(item, Named):
                        keywords[item.keyword] = self._built(item.value, owner, place)
                    else:
                        values.append(self._built(item, owner, place))
                if part.clause == "JSONSchema" and isinstance(values[0], str) and values[0] in self._schemas:
                    values[0] = self._schemas[values[0]]
                clause = _made(value_of(part.clause), values, keywords)
                vars(clause)["source"] = source
                return clause
            case Items():
                return tuple(self._built(item, owner, source) for item in part.parts)
            case Named():
                return self._built(part.value, owner, source)
            case _:
                return part.value
