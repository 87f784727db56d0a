"""Whether a value fits a schema, told without a validator and in few steps, as a default needs it.

What it cannot tell does not fit: values that a pattern, a `oneOf` or a condition has to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from toolgen.contract.json_pointer import referred
from toolgen.contract.json_value import Json, identity

from ..constraints import FLAGS, Holder, limits_of
from ..issues import TooComplexError, json_type
from ..steps import Steps
from .schema import CONDITIONS

_MOST_STEPS: Final = 20_000
"""Looks at a value by a schema, for all defaults of one schema."""
_DEEPEST: Final = 64
_LONGEST_CHAIN: Final = 16
"""References that lead to one another."""
_UNTOLD: Final = frozenset(
    {
        *CONDITIONS,
        *("oneOf", "$dynamicRef", "$recursiveRef", "dependentRequired", "dependentSchemas", "dependencies"),
        *("contains", "minContains", "maxContains", "prefixItems", "additionalItems", "unevaluatedItems"),
        *("patternProperties", "propertyNames", "unevaluatedProperties"),
    }
)


class PlainFit:
    """Tells of one schema what its parts plainly say."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._steps = Steps(_MOST_STEPS)

    def followed(self, schema: Any) -> Any:
        """Return what a schema refers to by JSON Pointers into its document, itself without; else None.

        Of a part with an `$id` of its own nothing is told, for its references start there (Core 8.2.1).
        """
        for _ in range(_LONGEST_CHAIN):
            if not isinstance(schema, Mapping) or (schema is not self._root and _has_id(schema)):
                return None
            if "$ref" not in schema:
                return schema
            schema = referred(self._root, schema["$ref"])
        return None

    def fits(self, schema: Any, value: Json) -> bool:
        """Return whether a value fits a schema; False where that cannot be told."""
        try:
            return self._fits(schema, value, 0)
        except (TooComplexError, AttributeError, TypeError, ValueError, ArithmeticError):  # it is no schema
            return False

    def _fits(self, schema: Any, value: Json, depth: int) -> bool:
        self._steps.take(1)
        if isinstance(schema, bool):
            return schema
        if depth > _DEEPEST or not isinstance(schema, Mapping) or not _UNTOLD.isdisjoint(schema):
            return False
        if "$ref" in schema:
            target = self.followed(schema)
            if target is None or not self._fits(target, value, depth + 1):
                return False
        branches: Iterable[Any] = schema.get("anyOf", (True,))
        return (
            self._is_among(schema, value)
            and _is_within(schema, value)
            and self._holds_parts(schema, value, depth)
            and all(self._fits(part, value, depth + 1) for part in schema.get("allOf", ()))
            and any(self._fits(branch, value, depth + 1) for branch in branches)
        )

    def _is_among(self, schema: Mapping[str, Any], value: Json) -> bool:
        """Return whether a value is of the type, and one of the values that the schema names."""
        if "type" in schema:
            named = schema["type"]
            kinds = {json_type(value)} | ({"number"} if json_type(value) == "integer" else set())
            kinds |= {"integer"} if isinstance(value, float) and value.is_integer() else set()
            if kinds.isdisjoint([named] if isinstance(named, str) else named):
                return False
        for choices in (schema.get("enum"), [schema["const"]] if "const" in schema else None):
            if choices is not None:
                self._steps.take(len(choices))
                if identity(value) not in map(identity, choices):
                    return False
        return True

    def _holds_parts(self, schema: Mapping[str, Any], value: Json, depth: int) -> bool:
        match value:
            case list():
                items = schema.get("items", True)
                return all(self._fits(items, item, depth + 1) for item in value)
            case dict():
                properties, others = schema.get("properties", {}), schema.get("additionalProperties", True)
                return set(schema.get("required", ())) <= value.keys() and all(
                    self._fits(properties.get(key, others), part, depth + 1) for key, part in value.items()
                )
            case _:
                return True


def _has_id(schema: Mapping[str, Any]) -> bool:
    return isinstance(schema.get("$id"), str) or isinstance(schema.get("id"), str)


def _is_within(schema: Mapping[str, Any], value: Json) -> bool:
    """Return whether a value is within its limits; False of a text that has a pattern."""
    match value:
        case bool() | None:
            return True
        case int() | float():
            return _passes(schema, "number", value)
        case str():
            return "pattern" not in schema and _passes(schema, "string", len(value))
        case list():
            is_unique = any(schema.get(row.keyword) for row in FLAGS)
            has_twice = is_unique and len(set(map(identity, value))) < len(value)
            return not has_twice and _passes(schema, "array", len(value))
        case dict():
            return _passes(schema, "map", len(value))


def _passes(schema: Mapping[str, Any], holder: Holder, size: float) -> bool:
    """Return whether a number or a size is within all limits; draft-04 has some that are true or false."""
    return all(
        not isinstance(limit := schema[row.keyword], bool) and row.passes(size, limit)
        for row in limits_of(holder)
        if row.keyword in schema
    )
