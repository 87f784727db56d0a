"""Whether a value fits a schema, told without a validator and in few steps.

What a pattern, a condition or another keyword has to say is in doubt, and whoever asks says what that means:
a default that may not fit is not filled, and a branch of a union that may fit is tried.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from toolgen.contract.json_pointer import referred
from toolgen.contract.json_value import Json, identity

from ..constraints import FLAGS, Holder, limits_of
from ..issues import TooComplexError
from ..keywords import CONDITIONS
from ..steps import Steps
from ..union_shapes import types_of

_MOST_STEPS: Final = 20_000
"""Looks at a value by a schema, for all defaults of one schema."""
_MOST_OF_CHOICE: Final = 100_000
"""Those for one choice of a branch."""
_DEEPEST: Final = 64
"""Arrays and objects of a value inside each other."""
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


def may_fit(root: Mapping[str, Any], schema: Any, value: Json, steps: Steps | None = None) -> bool:
    """Return whether a value may fit a part of a schema, by its types, values, keys and sizes.

    It takes at most the steps that are left; many choices of one document share them.
    """
    return PlainFit(root, in_doubt=True, steps=steps or Steps(_MOST_OF_CHOICE)).fits(schema, value)


class PlainFit:
    """Tells of one schema what its parts plainly say; `in_doubt` is the answer where they do not."""

    def __init__(
        self, root: Mapping[str, Any], *, in_doubt: bool = False, steps: Steps | None = None
    ) -> None:
        self._root = root
        self._in_doubt = in_doubt
        self._steps = steps or Steps(_MOST_STEPS)
        self._decided: dict[tuple[str, int], bool] = {}
        """What was decided, by reference and value, of which there is one at each place of a document."""

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

    def fits(self, schema: object, value: Json) -> bool:
        """Return whether a value fits a schema."""
        try:
            return self._fits(schema, value, 0)
        except (TooComplexError, RecursionError):
            return self._in_doubt
        except (AttributeError, TypeError, ValueError, ArithmeticError):  # it is no schema
            return self._in_doubt

    def _fits(self, schema: Any, value: Json, depth: int) -> bool:
        self._steps.take(1)
        if isinstance(schema, bool):
            return schema
        is_plain = isinstance(schema, Mapping) and (self._in_doubt or _UNTOLD.isdisjoint(schema))
        if depth > _DEEPEST or not is_plain:
            return self._in_doubt
        if "$ref" in schema and not self._fits_reference(schema, value, depth):
            return False
        if self._in_doubt and value is None and schema.get("nullable") is True:
            return True
        unions = [schema[word] for word in ("anyOf", "oneOf") if word in schema]
        return (
            self._is_among(schema, value)
            and self._is_within(schema, value)
            and self._holds_parts(schema, value, depth)
            and all(self._fits(part, value, depth) for part in schema.get("allOf", ()))
            and all(any(self._fits(branch, value, depth) for branch in branches) for branches in unions)
        )

    def _fits_reference(self, schema: Mapping[str, Any], value: Json, depth: int) -> bool:
        """Return whether a value fits what a schema refers to; one that leads to itself is in doubt."""
        key = str(schema["$ref"]), id(value)
        if key not in self._decided:
            self._decided[key] = self._in_doubt
            self._decided[key] = self._fits(self.followed(schema), value, depth)
        return self._decided[key]

    def _is_among(self, schema: Mapping[str, Any], value: Json) -> bool:
        """Return whether a value is of the type, and one of the values that the schema names."""
        if "type" in schema:
            named = schema["type"]
            if set(types_of(value)).isdisjoint([named] if isinstance(named, str) else named):
                return False
        for choices in (schema.get("enum"), [schema["const"]] if "const" in schema else None):
            if choices is not None:
                self._steps.take(len(choices))
                if identity(value) not in map(identity, choices):
                    return False
        return True

    def _is_within(self, schema: Mapping[str, Json], value: Json) -> bool:
        """Return whether a value is within its limits; a pattern of somebody else is not tried."""
        match value:
            case bool() | None:
                return True
            case int() | float():
                return self._passes(schema, "number", value)
            case str():
                is_plain = self._in_doubt or "pattern" not in schema
                return is_plain and self._passes(schema, "string", len(value))
            case list():
                is_unique = any(schema.get(row.keyword) for row in FLAGS)
                has_twice = is_unique and len(set(map(identity, value))) < len(value)
                return not has_twice and self._passes(schema, "array", len(value))
            case dict():
                return self._passes(schema, "map", len(value))

    def _passes(self, schema: Mapping[str, Json], holder: Holder, size: float) -> bool:
        """Return whether a number or a size is within all limits; some of draft-04 are true or false."""
        return all(
            self._in_doubt if isinstance(limit := schema[row.keyword], bool) else row.passes(size, limit)
            for row in limits_of(holder)
            if row.keyword in schema
        )

    def _holds_parts(self, schema: Mapping[str, Any], value: Json, depth: int) -> bool:
        match value:
            case list():
                first, items = schema.get("prefixItems", ()), schema.get("items", True)
                return all(
                    self._fits(first[at] if at < len(first) else items, item, depth + 1)
                    for at, item in enumerate(value)
                )
            case dict():
                properties = schema.get("properties", {})
                others = True if "patternProperties" in schema else schema.get("additionalProperties", True)
                return set(schema.get("required", ())) <= value.keys() and all(
                    self._fits(properties.get(key, others), part, depth + 1) for key, part in value.items()
                )
            case _:
                return True


def _has_id(schema: Mapping[str, Json]) -> bool:
    return isinstance(schema.get("$id"), str) or isinstance(schema.get("id"), str)
