"""Schemas without their references: an object with one marked property represents each type.

Therefore each component is read once, regardless of the number of operations, and can be recursive.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from toolgen.contract.json_pointer import definition_of, tokens_of
from toolgen.contract.json_value import Json, objects_in
from toolgen.contract.record import frozen_record
from toolgen.shapes import naming
from toolgen.shapes.foreign.nodes import ENUM, NULL, Node, reference
from toolgen.shapes.foreign.normal_form import UnsafeError, normal_form
from toolgen.shapes.foreign.reader.keywords import CONSTRAINTS
from toolgen.shapes.foreign.reader.names import ClassNames

from .clauses_built import NotExpressibleError
from .clauses_layout import Part
from .openapi_components import Components, Direction
from .openapi_document import UnreadableError, component_name, mapping
from .openapi_schemas import Tag, Translator
from .pointers import joined

_PLAIN: Final = frozenset(["type", "properties", "required", "additionalProperties", "allOf", "$ref"])
"""Keywords of an object that describe only its properties."""
_MARK: Final = "\0"
"""Prefix of the single property in an object that represents a type."""


@frozen_record(kw_only=False)
class TypeKey:
    """A component in one direction, complete or without the tag of the unions of which it is a branch."""

    address: str
    direction: Direction = ""
    tag: str = ""


@dataclass(slots=True, kw_only=True)
class Cut:
    """A schema in which marked objects represent references to types."""

    schema: Any = None
    definitions: dict[str, object] = field(default_factory=dict)
    keys: dict[str, TypeKey] = field(default_factory=dict)
    """Types by their marks."""
    inlined: dict[str, str] = field(default_factory=dict)
    """Names in `definitions` of schemas that do not become types, by address."""
    names: ClassNames = field(default_factory=lambda: ClassNames(""))
    """Names in `definitions`."""
    place: str = ""
    direction: Direction = ""
    fixed: dict[str, Part] = field(default_factory=dict)
    """Types that replace a property regardless of its schema."""
    separate: set[str] = field(default_factory=set)
    """Properties that keep their schemas, although clauses could express them."""
    properties: dict[str, tuple[object, str]] = field(default_factory=dict)
    """Original schemas with their addresses, by property."""

    @property
    def complete_schema(self) -> dict[str, Any]:
        """Schema with the definitions that it refers to by name."""
        return {**self.schema, "$defs": self.definitions} if self.definitions else self.schema

    def source(self, pointer: str) -> str:
        """Return the place in the document for a pointer into the complete schema."""
        kind, *rest = [*tokens_of(pointer), ""]
        if kind == "properties" and rest[0] in self.properties:
            return joined(self.properties[rest[0]][1], *rest[1:-1])
        addresses = {name: address for address, name in self.inlined.items()}
        if kind == "$defs" and rest[0] in addresses:
            return joined(addresses[rest[0]], *rest[1:-1])
        return self.place + pointer

    def separate_all(self) -> None:
        """Keep the schemas of all properties, even if clauses could express them."""
        self.separate |= self.properties.keys()
        property_notes = {name: notes_of_part(part) for name, part in self.schema["properties"].items()}
        self.schema = {**self.schema, "properties": property_notes}

    def of(self, properties: Mapping[str, object]) -> dict[str, Any]:
        """Return an object with some properties and the definitions that they refer to."""
        definitions: dict[str, object] = {}
        waiting: list[object] = [properties]
        while waiting:
            for part in objects_in(waiting.pop()):
                name = definition_of(part.get("$ref"))
                if name in self.definitions and name not in definitions:
                    definitions[name] = self.definitions[name]
                    waiting.append(definitions[name])
        return {"type": "object", "properties": properties, **({"$defs": definitions} if definitions else {})}


class Cutter:
    """Cuts the schemas of one document at their types."""

    def __init__(self, components: Components) -> None:
        self._components = components
        self._api = components.api

    def cut(self, schema: object, place: str, direction: Direction) -> Cut:
        """Return a schema in which marks replace references to types.

        Raises:
            UnreadableError: A reference is dangling, or a text in it cannot be displayed.
        """
        cut = Cut(place=place, direction=direction)
        translator = Translator(self._components, direction, partial(self._refer, cut), inlines=True)
        cut.schema = shown(translator.translated(schema, place), place)
        return cut

    def cut_object(
        self, properties: Mapping[str, tuple[object, str]], required: Iterable[str], direction: Direction
    ) -> Cut:
        """Return a closed object with these properties, given as schema and address.

        Raises:
            UnreadableError: A reference is dangling, or a text cannot be displayed.
        """
        cut = Cut(direction=direction, properties=dict(properties))
        translator = Translator(self._components, direction, partial(self._refer, cut), inlines=True)
        parts = {name: shown(translator.translated(*part), part[1]) for name, part in properties.items()}
        cut.schema = {"type": "object", "properties": parts, "additionalProperties": False}
        if needed := list(required):
            cut.schema["required"] = needed
        return cut

    def _refer(self, cut: Cut, translator: Translator, address: str, tag: Tag | None) -> dict[str, object]:
        address = self._components.canonical(address)
        kind = self._components.kind(address)
        if kind == "inline":
            if address not in cut.inlined:
                name = cut.names.take(naming.class_name(component_name(address)))
                cut.inlined[address] = name
                cut.definitions[name] = True
                schema = translator.translated(self._api.find(address), address)
                cut.definitions[name] = definition = shown(schema, address)
                if isinstance(definition, dict) and not {"enum", "oneOf"}.isdisjoint(definition):
                    definition[ENUM] = address
            name = cut.inlined[address]
            return reference(name)
        direction = self._components.direction(address, cut.direction)
        if tag and not all(isinstance(value, str) for value in tag.values):
            tag = None  # OneOf needs string tags; the union stays a schema, and its branches keep their tag
        key = TypeKey(address, direction, tag.name if tag and kind == "class" else "")
        mark = cut.names.take("Type")
        key_of_mark = f"{_MARK}{mark}"
        cut.keys[key_of_mark] = key
        stub: dict[str, Any] = {"type": "object", "properties": {key_of_mark: {}}}
        if tag and kind == "class":
            stub["properties"][tag.name] = {"enum": list(tag.values)}
            stub["required"] = [tag.name]
        cut.definitions[mark] = stub
        stands = reference(mark)
        if self._components.facts(address).is_nullable:
            return {"anyOf": [stands, {"type": "null"}]}
        return stands


def mark_of(class_: Node, cut: Cut) -> str:
    """Return the mark of a class that represents a type; "" for other classes."""
    return next((name for name in class_["properties"] if name in cut.keys), "")


def shown(schema: object, place: str) -> Any:
    """Return a schema with known keywords and without hidden characters.

    Raises:
        UnreadableError: A name or a value cannot be displayed.
    """
    try:
        return normal_form(schema)
    except UnsafeError as error:
        raise UnreadableError(place + error.pointer, error.fault, "correct it in the source") from error


def without_null(schema: Any) -> Json:
    """Return the schema of an object without null, which is added where the object is used."""
    if not isinstance(schema, dict):
        return {}
    for word in ("anyOf", "oneOf"):
        branches = schema.get(word)
        if isinstance(branches, list) and NULL in branches:
            rest = [branch for branch in branches if branch != NULL]
            outer = {key: value for key, value in schema.items() if key != word}
            if len(rest) == 1 and isinstance(rest[0], dict) and not rest[0].keys() & outer.keys():
                return {**outer, **rest[0]}
            return {**outer, word: rest}
    if isinstance(schema.get("type"), list):
        kinds = [kind for kind in schema["type"] if kind != "null"]
        return {**schema, "type": kinds[0] if len(kinds) == 1 else kinds}
    return schema


def never_null(schema: Any, definitions: Mapping[str, Any]) -> Any:
    """Return a schema without null, which a path cannot contain; shared schemas are inlined."""
    if not isinstance(schema, dict):
        return schema
    schema = without_null(schema)
    if isinstance(values := schema.get("enum"), list):
        schema = {**schema, "enum": [value for value in values if value is not None]}
    for word in ("allOf", "anyOf", "oneOf"):
        if isinstance(branches := schema.get(word), list):
            schema = {**schema, word: [never_null(branch, definitions) for branch in branches]}
    shared = definitions.get(definition_of(schema.get("$ref")))
    inner = never_null(shared, {})
    if not isinstance(inner, dict) or inner == shared:
        return schema
    rest = {key: value for key, value in schema.items() if key != "$ref"}
    if inner.keys().isdisjoint(rest):
        return {**inner, **rest}
    return {**rest, "allOf": [*rest.get("allOf", ()), inner]}


def plain_object(cut: Cut) -> tuple[dict[str, object], list[str], bool]:
    """Return properties, required properties and openness of an object without other keywords.

    Raises:
        NotExpressibleError: The object has other keywords.
    """
    properties: dict[str, object] = {}
    required: dict[str, None] = {}
    waiting: list[object] = [cut.schema]
    is_open = True
    while waiting:
        schema = waiting.pop(0)
        if not isinstance(schema, dict) or set(schema) & CONSTRAINTS - _PLAIN or "$ref" in schema:
            raise NotExpressibleError("the object has keywords besides its properties")
        rest = schema.get("additionalProperties", True)
        if rest not in (True, {}, False) or (rest is False and schema is not cut.schema):
            raise NotExpressibleError("its additional properties have a schema")
        is_open = is_open and rest is not False
        if properties.keys() & mapping(schema.get("properties")).keys() or (
            "allOf" in schema and not is_open
        ):
            raise NotExpressibleError("a property is defined twice")
        properties |= mapping(schema.get("properties"))
        names, parts = schema.get("required", []), schema.get("allOf", [])
        if not (isinstance(names, list) and isinstance(parts, list)) or not all(
            isinstance(name, str) for name in names
        ):
            raise NotExpressibleError("it is not a valid schema")
        required |= dict.fromkeys(names)
        waiting += parts
    return properties, list(required), is_open


def notes_of_part(part: object) -> dict[str, object]:
    """Return the annotations of a schema for readers."""
    return {
        key: part[key]
        for key in ("title", "description", "deprecated")
        if isinstance(part, dict) and key in part
    }


def without_property(class_: Node, name: str) -> Node:
    """Return a class without a property."""
    properties = {key: node for key, node in class_["properties"].items() if key != name}
    required = [key for key in class_.get("required", ()) if key != name]
    return {**class_, "properties": properties, "required": required}
