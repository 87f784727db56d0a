"""A schema without `$ref` and `allOf`: all rules for one value in one place.

A rule that one schema cannot express is omitted and noted as lost, so the result accepts the same or more.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Final

from toolgen.contract.json_value import identity

from ...constraints import FLAGS, LIMITS, limits_of
from ...keywords import BRANCHES
from .keywords import CONSTRAINTS, Schema, Subschema, accepts_all, effective, has_no_effect, rejects_all
from .schema_index import SchemaIndex

NEVER: Final[Schema] = {"not": {}}
"""Normal form of a schema that rejects every value."""

_TIGHTER: Final = {row.keyword: row.tighter for row in LIMITS if row.side}
"""Functions that return the stricter of two limits, by keyword."""
_FLAGS: Final = frozenset(row.keyword for row in FLAGS)
(_STEP,) = limits_of("integer", "step")
_OBJECT: Final = frozenset(("properties", "additionalProperties", "patternProperties"))
_UNMERGED: Final = (
    "contains not if prefixItems unevaluatedItems dependentRequired dependentSchemas $dynamicRef "
    "$recursiveRef"
).split()
_LEADING: Final = frozenset(("$ref", *BRANCHES))
"""Keywords that can make a schema a mere reference to another one."""
_DEEPEST: Final = 40
_MOST_JOINED: Final = 5_000
_SEEING_THROUGH: Final = ("anyOf", "oneOf", "if", "not", "dependentSchemas", "$dynamicRef", "$recursiveRef")


class Merger:
    """Merges schemas, and keeps the merged ones alive, so that identity distinguishes schemas."""

    def __init__(self, survey: SchemaIndex, losses: set[str]) -> None:
        self._survey = survey
        self._losses = losses
        self._flat: dict[int, tuple[Schema, Schema]] = {}
        self._followed: dict[int, tuple[Subschema, Schema]] = {}
        self._joined: dict[tuple[int, int], tuple[Schema, Schema, Schema]] = {}
        self._depth = 0

    def flat(self, schema: Schema) -> Schema:
        """Return the schema with its references and `allOf` merged into it; `NEVER` if nothing passes it."""
        if id(schema) in self._flat:
            return self._flat[id(schema)][0]
        if "allOf" in schema or "$ref" in schema or "unevaluatedProperties" in schema:
            flat = self._merged(schema)
        else:
            flat = NEVER if rejects_all(schema) else schema
        self._flat[id(schema)] = flat, schema
        return flat

    def is_never(self, schema: Subschema) -> bool:
        followed = self.follow(schema)
        return followed is False or (isinstance(followed, dict) and self.flat(followed) is NEVER)

    def both(self, left: Subschema, right: Subschema) -> Subschema:
        """Return a schema that accepts what both accept; the same object for the same two."""
        if left is True or right is True:
            other = right if left is True else left
            return False if rejects_all(other) else other
        if rejects_all(left) or rejects_all(right):
            return False
        if isinstance(left, bool) or (accepts_all(left) and not accepts_all(right)):
            return right
        if accepts_all(right) or left is right or isinstance(right, bool):
            return left
        key = (id(left), id(right))
        if key not in self._joined:
            if len(self._joined) >= _MOST_JOINED:
                self._losses.add("allOf")
                return left
            self._joined[key] = {"allOf": [left, right]}, left, right
        return self._joined[key][0]

    def follow(self, schema: Subschema) -> Subschema:
        """Return the target of a schema that only refers to another one; otherwise the schema itself."""
        if isinstance(schema, bool) or _LEADING.isdisjoint(schema):
            return schema
        if id(schema) not in self._followed:
            self._followed[id(schema)] = self._end_of(schema), schema
        return self._followed[id(schema)][0]

    def _end_of(self, schema: Subschema) -> Subschema:
        while isinstance(schema, dict) and not _LEADING.isdisjoint(schema):
            words = [word for word in schema if word in CONSTRAINTS and not has_no_effect(word, schema)]
            if words == ["$ref"]:
                target = self._survey.targets.get(id(schema))
                if target is None:
                    return schema
                schema = target
            elif words in (["allOf"], ["anyOf"], ["oneOf"]) and len(schema[words[0]]) == 1:
                schema = schema[words[0]][0]
            else:
                return schema
        return schema

    def _merged(self, schema: Schema) -> Schema:
        self._depth += 1
        try:
            if self._depth > _DEEPEST:
                self._losses.add("allOf")
                return {}
            own = {word: value for word, value in schema.items() if word not in ("allOf", "$ref")}
            rest = own.pop("unevaluatedProperties", True)
            merged = self._merged_parts([NEVER if rejects_all(own) else own, *self._flat_parts(schema)])
            return merged if merged is NEVER or accepts_all(rest) else self._with_rest(merged, rest)
        finally:
            self._depth -= 1

    def _merged_parts(self, parts: list[Schema]) -> Schema:
        """Return a schema with the rules of all parts; merge them in pairs, because a merge copies both."""
        while len(parts) > 1:
            pairs = [self._merge(*parts[at : at + 2]) for at in range(0, len(parts) - 1, 2)]
            parts = pairs + parts[len(pairs) * 2 :]
        return parts[0]

    def _flat_parts(self, schema: Schema) -> Iterable[Schema]:
        for part in self._parts(schema):
            target = self.follow(part)
            if target is False:
                yield NEVER
            elif isinstance(target, dict):
                yield self.flat(target)

    def _parts(self, schema: Schema) -> Iterable[Subschema]:
        if "$ref" in schema:
            target = self._survey.targets.get(id(schema))
            if target is None:
                self._losses.add("$ref")
            else:
                yield target
        yield from schema.get("allOf", ())

    def _with_rest(self, schema: Schema, rest: Subschema) -> Schema:
        """Return the schema with `unevaluatedProperties` rewritten to `additionalProperties` (Core 11.3)."""
        if "additionalProperties" in schema:
            return schema
        if any(word in schema for word in _SEEING_THROUGH):
            self._losses.add("unevaluatedProperties")
            return schema
        return {**schema, "additionalProperties": rest}

    def _merge(self, left: Schema, right: Schema) -> Schema:
        if left is NEVER or right is NEVER:
            return NEVER
        left, right = self._mergeable(left), self._mergeable(right)
        merged = {**left, **self._merged_objects(left, right)}
        for word, value in right.items():
            if word in _OBJECT:
                continue
            if word not in merged:
                merged[word] = value
            elif word in CONSTRAINTS:
                combined = self._combined(word, merged[word], value)
                if combined is None:
                    return NEVER
                merged[word] = combined
        return merged

    def _mergeable(self, schema: Schema) -> Schema:
        lost: list[str] = [word for word in _UNMERGED if word in schema]
        self._losses.update(effective(schema, *lost))
        if "items" in schema and "prefixItems" in lost:
            lost.append("items")
        return {word: value for word, value in schema.items() if word not in lost} if lost else schema

    def _combined(self, word: str, left: Any, right: Any) -> Any:
        """Return the value of a keyword with the effect of both values; None if no value can pass both."""
        if (tighter := _TIGHTER.get(word)) is not None:
            return tighter(left, right)
        if word in _FLAGS:
            return left or right
        if word == "type":
            return _common_types(named_types(left), named_types(right)) or None
        if word in ("items", "propertyNames"):
            return self.both(left, right)
        if word == "required":
            return list(dict.fromkeys([*left, *right]))
        if word == "enum":
            shared = {identity(value) for value in right}
            return [value for value in left if identity(value) in shared] or None
        if word == "const":
            return left if identity(left) == identity(right) else None
        if identity(left) == identity(right):
            return left
        if word == _STEP.keyword and isinstance(left, int) and isinstance(right, int):
            return math.lcm(left, right)
        self._losses.add(word)
        return left

    def _merged_objects(self, left: Schema, right: Schema) -> Schema:
        ours, theirs = left.get("properties", {}), right.get("properties", {})
        our_rest, their_rest = left.get("additionalProperties", True), right.get("additionalProperties", True)
        patterns = dict(left.get("patternProperties", {}))
        for pattern, schema in right.get("patternProperties", {}).items():
            patterns[pattern] = self.both(patterns[pattern], schema) if pattern in patterns else schema
        rest = self.both(our_rest, their_rest)
        if patterns and not (accepts_all(our_rest) and accepts_all(their_rest)):
            self._losses.add("patternProperties")
            our_rest = their_rest = rest = True
        properties = {
            key: self.both(ours.get(key, our_rest), theirs.get(key, their_rest)) for key in [*ours, *theirs]
        }
        merged: Schema = {}
        if properties:
            merged["properties"] = properties
        if "additionalProperties" in left or "additionalProperties" in right:
            merged["additionalProperties"] = rest
        if patterns:
            merged["patternProperties"] = patterns
        return merged


def named_types(value: str | list[str]) -> list[str]:
    """Return the types in the value of `type`; `number` covers `integer` (Validation 6.1.1)."""
    names = [value] if isinstance(value, str) else list(value)
    return [name for name in names if name != "integer" or "number" not in names]


def _common_types(left: list[str], right: list[str]) -> list[str]:
    common = [name for name in left if name in right]
    # A list with `number` has no separate `integer`.
    if ("integer" in left and "number" in right) or ("number" in left and "integer" in right):
        common.append("integer")
    return common
