"""Whether a document has the structure that a schema describes, to choose the branch of a union.

It decides by types, values, keys and sizes, and takes everything else for fulfilled, patterns too: it chooses
between branches and validates nothing, and no pattern of somebody else can slow it down.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from toolgen.contract.json_pointer import referred
from toolgen.contract.json_value import Json, identity
from toolgen.shapes.constraints import Constraint, limits_of

_BOUNDS: Final = limits_of("number", "bound")
_LENGTHS: Final = limits_of("string", "length")
_SIZES: Final = limits_of("array", "length")
_MOST_STEPS: Final = 100_000
"""The most steps of one decision; a schema whose references multiply would take forever, and fits then."""


def types_of(value: Json) -> tuple[str, ...]:
    """Return the types of a value by JSON Schema: an integer is a number too, as is 1.0 an integer."""
    match value:
        case None:
            return ("null",)
        case bool():
            return ("boolean",)
        case int():
            return ("integer", "number")
        case float():
            return ("integer", "number") if value.is_integer() else ("number",)
        case str():
            return ("string",)
        case list():
            return ("array",)
        case _:
            return ("object",)


class Matcher:
    """Matches documents against parts of one schema."""

    def __init__(self, root: Any) -> None:
        self._root = root

    def fits(self, schema: Any, value: Json) -> bool:
        """Return whether the value has the structure of the schema, which is a part of the root."""
        return _Match(self._root).fits(schema, value)


class _Match:
    """One decision."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._steps = 0
        self._decided: dict[tuple[str, int], bool] = {}
        """What was decided, by reference and value, of which there is one at each place of the document."""

    def fits(self, schema: Any, value: Json) -> bool:
        self._steps += 1
        if self._steps > _MOST_STEPS:
            return True
        if not isinstance(schema, Mapping):
            return schema is not False
        if "$ref" in schema and not self._fits_reference(str(schema["$ref"]), value):
            return False
        if value is None and schema.get("nullable") is True:
            return True
        return self._has_value(schema, value) and self._fits_parts(schema, value)

    def _fits_reference(self, reference: str, value: Json) -> bool:
        """Return whether a value fits what a reference leads to; one that leads to itself says nothing."""
        key = reference, id(value)
        if key not in self._decided:
            self._decided[key] = True
            target = referred(self._root, reference)
            self._decided[key] = target is None or self.fits(target, value)
        return self._decided[key]

    def _has_value(self, schema: Mapping[str, Any], value: Json) -> bool:
        kinds = schema.get("type")
        if kinds is not None:
            allowed = {kinds} if isinstance(kinds, str) else set(kinds)
            if not allowed.intersection(types_of(value)):
                return False
        if "const" in schema and identity(schema["const"]) != identity(value):
            return False
        values = schema.get("enum")
        return values is None or identity(value) in map(identity, values)

    def _fits_parts(self, schema: Mapping[str, Any], value: Json) -> bool:
        for keyword in ("anyOf", "oneOf"):
            branches = schema.get(keyword)
            if branches and not any(self.fits(branch, value) for branch in branches):
                return False
        if not all(self.fits(part, value) for part in schema.get("allOf", ())):
            return False
        match value:
            case dict():
                return self._fits_object(schema, value)
            case list():
                return self._fits_array(schema, value)
            case str():
                return _fits_text(schema, value)
            case int() | float() if not isinstance(value, bool):
                return _fits_number(schema, value)
            case _:
                return True

    def _fits_object(self, schema: Mapping[str, Any], value: dict[str, Json]) -> bool:
        if not all(key in value for key in schema.get("required", ())):
            return False
        properties = schema.get("properties", {})
        rest = True if "patternProperties" in schema else schema.get("additionalProperties", True)
        return all(self.fits(properties.get(key, rest), inner) for key, inner in value.items())

    def _fits_array(self, schema: Mapping[str, Any], value: list[Json]) -> bool:
        if not _passes(_SIZES, schema, len(value)):
            return False
        first = schema.get("prefixItems", ())
        if not all(self.fits(part, item) for part, item in zip(first, value, strict=False)):
            return False
        return all(self.fits(schema.get("items", True), item) for item in value[len(first) :])


def _fits_text(schema: Mapping[str, Any], value: str) -> bool:
    return _passes(_LENGTHS, schema, len(value))


def _fits_number(schema: Mapping[str, Any], value: float) -> bool:
    return _passes(_BOUNDS, schema, value)


def _passes(limits: Iterable[Constraint], schema: Mapping[str, Any], value: float) -> bool:
    """Return whether a number, or a size, is within the limits of a schema."""
    return all(row.passes(value, schema[row.keyword]) for row in limits if row.keyword in schema)
