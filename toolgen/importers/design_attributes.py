"""The arguments or the result of a function, attribute by attribute, if clauses cannot express everything.

A method takes and returns attributes, so a single schema cannot replace them. Attributes that clauses can
express are written as clauses; every other one has the type `JSONSchema` with the definitions that it needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolgen.contract.json_pointer import definition_of
from toolgen.contract.json_value import Json, objects_in
from toolgen.shapes.foreign.reader import read
from toolgen.shapes.python.sensitive import MARK, without_marks

from .clauses_built import NotExpressibleError, check_tool
from .clauses_layout import ClauseCall, Named, Part, Text, call, literal
from .design_objects import to_clauses
from .design_types import TypeTable


class AttributesWriter:
    """Writer of the attributes of one side of a tool; adds their types to the table."""

    def __init__(self, toolset: str, class_name: str, types: TypeTable) -> None:
        self._toolset = toolset
        self._class_name = class_name
        self._types = types

    def of(self, schema: Any) -> Iterator[Part | Named]:
        """Yield the attributes of an object, in order."""
        definitions: dict[str, Any] = schema.get("$defs", {})
        object_ = schema
        while "properties" not in object_ and (name := definition_of(object_.get("$ref"))):
            object_ = definitions[name]
        required = object_.get("required", ())
        for key, property_ in object_.get("properties", {}).items():
            used = _used(property_, definitions)
            yield self._attribute(key, property_, {"$defs": used} if used else {}, key in required)
        if object_.get("additionalProperties"):
            yield Named("open", literal(True))

    def _attribute(
        self, key: str, property_: Json, definitions: dict[str, Json], is_required: bool
    ) -> ClauseCall:
        if is_sensitive(property_):
            marked = self._attribute(key, _unmarked(property_), definitions, is_required)
            return call("Attribute", *marked.parts, Named("sensitive", literal(True)))
        facts: dict[str, Any] = {"required": [key]} if is_required else {}
        alone = {
            "type": "object",
            "properties": {key: property_},
            **facts,
            "additionalProperties": False,
            **definitions,
        }
        reading = read(alone, name=self._class_name, arguments=True)
        try:
            if reading.foreign is None:
                raise NotExpressibleError("it cannot be read")
            written = to_clauses(reading.foreign, self._class_name, self._types, formats_are_types=True)
            [part] = written.parts
            if not isinstance(part, ClauseCall) or part.clause != "Attribute":
                raise NotExpressibleError("it cannot be an attribute")
            self._check(part, [(type_.name, type_.text) for type_ in written.types])
        except NotExpressibleError:
            return self._opaque(key, property_, definitions, is_required)
        self._types.add(written)
        return part

    def _opaque(
        self, key: str, property_: Any, definitions: dict[str, Json], is_required: bool
    ) -> ClauseCall:
        """Return an attribute whose type is its schema."""
        own = {word: value for word, value in property_.items() if word not in ("description", "default")}
        text = Text(property_["description"]) if property_.get("description") else literal(None)
        parts = (literal(key), call("JSONSchema", literal({**own, **definitions})), text)
        if is_required:
            return call("Attribute", *parts, Named("required", literal(True)))
        if property_.get("default") is not None:
            attribute = call("Attribute", *parts, Named("default", literal(property_["default"])))
            try:
                self._check(attribute, [])
            except NotExpressibleError:
                pass  # the function itself has the default
            else:
                return attribute
        return call("Attribute", *parts)

    def _check(self, attribute: ClauseCall, types: list[tuple[str, ClauseCall]]) -> None:
        tool = call("Tool", literal("tool"), Text("T."), call("Args", attribute))
        check_tool(self._toolset, tool, types)


def is_sensitive(property_: Json) -> bool:
    """Return whether a parameter value, or a part of it without a class, is marked `Sensitive`."""
    return any(part.get(MARK) is True for part in objects_in(property_))


def without_sensitive_marks(schema: Any) -> Any:
    """Return the schema of an object without the marks that its attributes express."""
    properties = {key: _unmarked(property_) for key, property_ in schema.get("properties", {}).items()}
    return {**schema, "properties": properties}


def _unmarked(property_: Any) -> Any:
    return without_marks(property_) if isinstance(property_, dict) else property_


def _used(schema: Json, definitions: dict[str, Json]) -> dict[str, Json]:
    """Return the definitions that a schema refers to, directly or indirectly, in their order."""
    used: set[str] = set()
    waiting = [schema]
    while waiting:
        names = {definition_of(part.get("$ref")) for part in objects_in(waiting.pop())}
        new = names & definitions.keys() - used
        used |= new
        waiting += [definitions[name] for name in new]
    return {name: part for name, part in definitions.items() if name in used}
