"""Objects in the normal form: free maps, and classes with properties."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from ... import naming
from ...constraints import lengths_of
from ..nodes import Node
from . import scalars
from .keywords import ANNOTATIONS, Schema, Subschema, accepts_all, effective, has_no_effect
from .merging import Merger, named_types

_LENGTHS: Final = lengths_of("map")
_ONLY_LOST = ("dependentRequired", "dependentSchemas")


@dataclass(slots=True, kw_only=True)
class InnerSchemas:
    """Converts the schemas inside an object into the normal form."""

    unsupported: set[str]
    merger: Merger
    node: Callable[[Subschema, str], Node]
    """Returns the node of a schema; the name is the class name if it is an object."""
    property: Callable[[Subschema, str, bool], Node]
    """Returns the node of a property, required or not, with the annotations beside it."""


def is_map(flat: Schema) -> bool:
    """Return whether an object's schema names no key, so that it is a map (or an object without any key)."""
    return not (flat.get("properties") or flat.get("required") or _listed_keys(flat) or _is_closed(flat))


def _is_closed(flat: Schema) -> bool:
    return flat.get("additionalProperties") is False and not flat.get("patternProperties")


def _listed_keys(flat: Schema) -> list[str]:
    """Return the keys that `propertyNames` enumerates, if no other keyword names any."""
    names = flat.get("propertyNames")
    if not isinstance(names, dict) or flat.get("properties") or flat.get("patternProperties"):
        return []
    plain = all(word in ("type", "enum", *ANNOTATIONS) for word in names)
    values = names.get("enum", ()) if plain and names.get("type", "string") == "string" else ()
    return [value for value in values if isinstance(value, str)]


def as_map(inner: InnerSchemas, flat: Schema, name: str) -> Node:
    """Return the node of an object with free keys; `name` is the class name if its values are objects."""
    losses = inner.unsupported
    losses.update(effective(flat, *_ONLY_LOST))
    node: Node = {"type": "object", "additionalProperties": {}}
    names = _names_node(inner, flat)
    patterns: dict[str, Subschema] = flat.get("patternProperties", {})
    rest = flat.get("additionalProperties", True)
    if not patterns:
        if inner.merger.is_never(rest):
            losses.add("additionalProperties")
        else:
            node["additionalProperties"] = inner.node(rest, name)
    elif inner.merger.is_never(rest) and len(patterns) == 1:
        [(pattern, schema)] = patterns.items()
        node["additionalProperties"] = inner.node(schema, name)
        if pattern and (names or not scalars.expressible(pattern)):
            losses.add("patternProperties")
        elif pattern:
            names = {"type": "string", "pattern": pattern}
    elif not (has_no_effect("patternProperties", flat) and accepts_all(rest)):
        losses.add("patternProperties")
    if names:
        node["propertyNames"] = names
    return {**node, **scalars.sizes(flat, "map", losses)}


def _names_node(inner: InnerSchemas, flat: Schema) -> Node:
    """Return the string node of `propertyNames`, empty without constraints; keys are strings anyway."""
    names = flat.get("propertyNames", True)
    if accepts_all(names):
        return {}
    schema = inner.merger.follow(names)
    merged: Schema = inner.merger.flat(schema) if isinstance(schema, dict) else {"not": {}}
    others = [
        word for word in merged if word in ("enum", "const", "anyOf", "oneOf", "not", "if", "$dynamicRef")
    ]
    if others or "string" not in named_types(merged.get("type", "string")):
        inner.unsupported.add("propertyNames")
        return {}
    node = scalars.string(merged, inner.unsupported)
    return node if set(node) - {"type", "format"} else {}


class ClassBuilder:
    """One class under construction, from a merged schema."""

    def __init__(self, inner: InnerSchemas, name: str, flat: Schema) -> None:
        self._inner = inner
        self._name = name
        self._flat = flat
        self._required = list(dict.fromkeys(flat.get("required", ())))
        self._properties: dict[str, Subschema] = dict(flat.get("properties", {}))
        self._rest: Subschema = flat.get("additionalProperties", True)
        if inner.merger.is_never(self._rest):
            self._rest = False
        self._keys_are_listed = bool(_listed_keys(flat))

    def node(self) -> Node:
        """Return the class in the normal form."""
        if self._keys_are_listed:
            self._properties = dict.fromkeys(_listed_keys(self._flat), self._rest)
            self._rest = False
        patterns = effective(self._flat, "patternProperties")
        if self._flat.get("patternProperties") and (patterns or not accepts_all(self._rest)):
            self._note_unsupported("patternProperties")
            self._rest = True
        self._widen()
        self._add_required()
        if isinstance(self._rest, dict):
            if not accepts_all(self._rest):
                self._note_unsupported("additionalProperties")
            self._rest = True
        node: Node = {"type": "object", "properties": self._property_nodes()}
        node["required"] = self._required
        node["additionalProperties"] = self._rest
        self._note_rest_unsupported(node)
        description = self._flat.get("description")
        return {**node, "description": description} if isinstance(description, str) and description else node

    def _note_unsupported(self, word: str) -> None:
        self._inner.unsupported.add(word)

    def _add_required(self) -> None:
        for key in self._required:
            if key not in self._properties:
                if self._rest is False:
                    self._note_unsupported("required")
                self._properties[key] = self._rest if isinstance(self._rest, dict) else True

    def _property_nodes(self) -> dict[str, object]:
        nodes: dict[str, Any] = {}
        must = set(self._required)
        for key, schema in self._properties.items():
            required = key in must
            if self._rest is False and not required and self._inner.merger.is_never(schema):
                continue
            name = naming.class_name(self._name, key)
            nodes[key] = self._inner.property(schema, name, required)
        return nodes

    def _note_rest_unsupported(self, node: Node) -> None:
        flat, properties = self._flat, node["properties"]
        self._inner.unsupported.update(effective(flat, *_ONLY_LOST))
        least, most = _LENGTHS
        if flat.get(least, 0) > len(self._required):
            self._note_unsupported(least)
        fits = self._rest is False and len(properties) <= flat.get(most, 0)
        if most in flat and not fits:
            self._note_unsupported(most)
        if "propertyNames" in flat and not self._keys_are_listed and _names_matter(self._inner, flat):
            self._note_unsupported("propertyNames")

    def _widen(self) -> None:
        """Add the properties that are named in the branches of `anyOf` and `oneOf`."""
        for word in effective(self._flat, "anyOf", "oneOf"):
            self._note_unsupported(word)
            self._widen_by(self._flat[word])

    def _widen_by(self, branches: list[Subschema]) -> None:
        merger = self._inner.merger
        followed = [merger.follow(branch) for branch in branches if not merger.is_never(branch)]
        schemas = [merger.flat(branch) if isinstance(branch, dict) else {} for branch in followed]
        schemas = [schema for schema in schemas if "object" in named_types(schema.get("type", "object"))]
        naming_it: dict[str, list[Schema]] = {}
        for schema in schemas:
            for key in schema.get("properties", ()):
                naming_it.setdefault(key, []).append(schema)
        are_open = sum(not _is_closed(schema) for schema in schemas)
        for key, named in naming_it.items():
            if key not in self._properties and self._rest is not False:
                is_known = are_open == sum(not _is_closed(schema) for schema in named)
                self._properties[key] = _in_any(
                    [part["properties"][key] for part in named], is_known=is_known
                )
        required = [set(schema.get("required", ())) for schema in schemas]
        own_keys = set(self._required)
        for key in schemas[0].get("required", ()) if schemas else ():
            if key not in own_keys and all(key in keys for keys in required):
                self._required.append(key)


def _names_matter(inner: InnerSchemas, flat: Schema) -> bool:
    """Return whether `propertyNames` constrains keys beyond being strings."""
    names = flat["propertyNames"]
    plain = isinstance(names, dict) and all(word in ("type", *ANNOTATIONS) for word in names)
    return not accepts_all(names) and (not plain or bool(_names_node(inner, flat)))


def _in_any(named: list[Subschema], *, is_known: bool) -> Schema:
    """Return the schema of a key that some branches name, which accepts what any branch accepts.

    `is_known` means that no other branch accepts the key.
    """
    if is_known:
        return {"anyOf": named}
    notes = next((schema for schema in named if isinstance(schema, dict)), {})
    return {word: notes[word] for word in ANNOTATIONS if word in notes and word != "default"}
