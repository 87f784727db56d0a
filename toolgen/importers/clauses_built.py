"""Validation of clauses with `build`, before they are written to a design."""

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
    """Check that an attribute can have a type that refers to no other type.

    Raises:
        NotExpressibleError: The type is not allowed.
    """
    if fault := _fault_of(type_):
        raise NotExpressibleError(fault)


_HOLDER: Final = "TypeOfTheAttributeThatIsChecked"
"""A name that no enumeration of a document has."""


@lru_cache(4_096)
def _fault_of(type_: Part) -> str:
    """Return why a type is not allowed for attributes; "" if it is.

    Cached, because documents repeat types.
    """
    attribute = call("Attribute", literal("x"), type_, Text("X."))
    try:
        _checked([("x", call("Type", literal(_HOLDER), Text("X."), attribute))])
    except NotExpressibleError as error:
        return str(error)
    return ""


def check_tool(
    toolset: str, tool: ClauseCall, types: Iterable[tuple[str, ClauseCall]] = ()
) -> tuple[Any, Any]:
    """Return the schemas of a tool's arguments and result; `types` are its named types, in order.

    Raises:
        NotExpressibleError: A toolset cannot contain the tool.
    """
    group = call("Toolset", literal(toolset), Text("T."), tool)
    design = check_service(call("Service", literal("tools"), Text("S."), group), types)
    built = design.services[0].toolsets[0]
    objects = {each.name: each for each in (*built.objects, *design.types)}
    checked = built.tools[0]
    return object_schema(checked.payload, objects), object_schema(checked.result, objects)


def check_service(service: ClauseCall, types: Iterable[tuple[str, ClauseCall]] = ()) -> Any:
    """Return the checked design of a service; `types` are its named types, in order.

    Raises:
        NotExpressibleError: A design cannot contain the service.
    """
    return _checked([*types, ("service", service)])


def _checked(statements: Iterable[tuple[str, ClauseCall]]) -> Any:
    """Return the checked design of some variables.

    Raises:
        NotExpressibleError: a design may not hold them.
    """
    builder = _Builder()
    for name, part in statements:
        builder.add(name, part)
    design = dsl.Design("tools", "Tools.", *builder.named.values())
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
    """Variable, method or tool that is at fault; "" if unknown."""
    part: ClauseCall | None
    """Clause of the owner that is at fault, or the owner itself."""


class BuiltDesign:
    """A design in the last of several variables, before it is written."""

    def __init__(self, statements: Iterable[tuple[str, ClauseCall]], schemas: Mapping[str, Any]) -> None:
        """Build the design; `schemas` are the schemas in files, by path."""
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
        service_objects = [each for service in self.design.services for each in service.objects]
        objects = {each.name: each for each in (*service_objects, *self.design.types)}
        return schemas_of(objects, self.design.unions)


_DIVIDED: Final = ("Method", "Tool")
"""Clauses whose parts have faults of their own; the same applies to every `Example`."""
_NO_CODE: Final = compile("", "", "exec")


def _call(clause: Any, values: list[Any], keywords: dict[str, Any]) -> Any:
    return clause(*values, **keywords)


_create_clause: Final = FunctionType(_call.__code__, {"__name__": "design"})
"""Creates a clause as a design would, so that the search for the author's call ends here."""


class _Builder:
    """Converts expressions to clauses, each of which records its variable, method or tool."""

    def __init__(self, schemas: Mapping[str, Json] | None = None) -> None:
        self.named: dict[str, Any] = {}
        self._schemas = schemas or {}
        self._owners: list[tuple[str, ClauseCall]] = []

    def add(self, name: str, part: ClauseCall) -> Any:
        """Create the value of a variable, and return it."""
        self.named[name] = self._built(part, name, self._source(name, part))
        return self.named[name]

    def fault(self, finding: Finding) -> Fault:
        file = finding.place.file
        owner, part = self._owners[int(file)] if file.isdecimal() else ("", None)
        return Fault(message=finding.message, owner=owner, part=part)

    def _source(self, owner: str, part: ClauseCall) -> object:
        """Return a source that is unique for this clause: its file name is the index of the owner."""
        self._owners.append((owner, part))
        return Source(_NO_CODE.replace(co_filename=str(len(self._owners) - 1)), 0)

    def _built(self, part: Part | Named, owner: str, source: Any) -> object:
        """Return the clause or the value of an expression; a string names a type or a clause."""
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
                clause = _create_clause(value_of(part.clause), values, keywords)
                vars(clause)["source"] = source
                return clause
            case Items():
                return tuple(self._built(item, owner, source) for item in part.parts)
            case Named():
                return self._built(part.value, owner, source)
            case _:
                return part.value
