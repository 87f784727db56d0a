"""Contradictory schemas: values that the type rejects, and rules that exclude each other."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeAlias

from toolgen.contract.json_pointer import escaped, referred
from toolgen.contract.json_value import Json, identity
from toolgen.shapes.constraints import FLAGS, LIMITS, Constraint, Holder, lengths_of
from toolgen.shapes.foreign.reader.keywords import CONSTRAINTS, children, rejects_all
from toolgen.shapes.foreign.reader.merging import named_types
from toolgen.shapes.union_shapes import types_of

Follow: TypeAlias = Callable[[str, str], tuple[Any, str] | None]
"""Returns the target of a reference at a place, with the target's place; None if there is none."""
Part: TypeAlias = tuple[Any, str]
"""A schema with its place."""

_TYPES: Final = frozenset("null boolean string integer number array object".split())
_NAMES: Final = tuple(_TYPES)
_HARMLESS: Final = frozenset(
    ("type", "items", "properties", "additionalProperties", "pattern", *(row.keyword for row in FLAGS))
)
"""Keywords that never cause a contradiction, regardless of their subschemas."""
_HOLDERS: Final[tuple[tuple[Holder, frozenset[str]], ...]] = (
    ("string", frozenset(["string"])),
    ("number", frozenset(["number", "integer"])),
    ("array", frozenset(["array"])),
    ("map", frozenset(["object"])),
)
_, _MOST_KEYS = lengths_of("map")
_CONDITIONS: Final = ("not", "if", "contains", "dependentSchemas", "propertyNames", "$defs", "definitions")
"""Keywords whose subschemas may reject everything on purpose, or are unused."""
_UNIONS: Final = ("anyOf", "oneOf")
_JOINING: Final = frozenset(("$ref", "allOf"))
_ROWS: Final = {
    holder: [row for row in LIMITS if holder in row.holders and row.side] for holder, _ in _HOLDERS
}
_BOUNDS: Final = frozenset(row.keyword for rows in _ROWS.values() for row in rows)
_SINGLE: Final = _HARMLESS | _BOUNDS
"""Keywords that cannot contradict each other while at most one is a bound."""
_MOST_PARTS: Final = 100
_MOST_BRANCHES: Final = 50
_DEEPEST: Final = 3
"""Maximum depth of required properties that are followed."""


def contradictions(
    root: Any,
    place: str = "",
    follow: Follow | None = None,
    *,
    takes_nullable: bool = False,
    is_3_0: bool = False,
) -> Iterator[tuple[str, str, str]]:
    """Yield place, fault and hint of each enum with rejected values, and of each unsatisfiable schema.

    With `takes_nullable`, `nullable` allows null; with `is_3_0`, keywords next to a reference are ignored, as
    in OpenAPI 3.0.
    """

    def local(reference: str, at: str) -> Part | None:
        target = referred(root, reference)
        return None if target is None else (target, place + reference[1:])

    rules = _Rules(follow or local, takes_nullable=takes_nullable, is_3_0=is_3_0)
    waiting: list[tuple[object, str, bool]] = [(root, place, True)]
    while waiting:
        schema, at, is_needed = waiting.pop()
        if not isinstance(schema, dict):
            continue
        inner = [
            (part, "/".join((at, *map(escaped, tokens))), is_needed and tokens[0] not in _CONDITIONS)
            for tokens, part in children(schema)
        ]
        waiting += reversed(inner)
        if fault := rules.refused_choices(schema):
            yield f"{at}/{fault[0]}", fault[1], "correct the type or the values; until then they are refused"
        elif is_needed and (reason := rules.refusal_at(schema, at)):
            yield at, f"no value fits this schema: {reason}", "correct it; until then every value is refused"


class _Rules:
    """Satisfiability rules for the schemas of a document."""

    def __init__(self, follow: Follow, *, takes_nullable: bool, is_3_0: bool) -> None:
        self._follow = follow
        self._is_3_0 = is_3_0
        self._takes_nullable = takes_nullable

    def refused_choices(self, schema: dict[str, Json]) -> tuple[str, str] | None:
        """Return keyword and fault of an enum or const with values that its type rejects."""
        keyword = "const" if "const" in schema else "enum"
        values = [schema["const"]] if keyword == "const" else schema.get("enum")
        if not isinstance(values, list) or "type" not in schema:
            return None
        kinds = _types(schema, self._is_nullable(schema))
        refused = [value for value in values if kinds.isdisjoint(types_of(value))]
        shown = ", ".join(json.dumps(value, ensure_ascii=False) for value in refused)
        return (keyword, f"contains {shown:.80}, which the type next to it refuses") if refused else None

    def refusal_at(self, schema: dict[str, Json], place: str) -> str:
        """Return why no value fits a schema; "" if one can, or if the reason is in a subschema."""
        if self._is_nullable(schema) or self._is_reference(schema):
            return ""
        words = CONSTRAINTS.intersection(schema)
        is_plain = len(words & _BOUNDS) < 2 and words <= _SINGLE
        if words <= {"$ref"} or (is_plain and schema.get("type", "null") in _NAMES):
            return ""
        joined = [part for part in self._joined(schema, place) if isinstance(part[0], dict)]
        if any(self._refusal(self._parts([part]), _DEEPEST) for part in joined):
            return ""
        return self._refusal(self._parts([(schema, place)]), _DEEPEST)

    def _is_reference(self, schema: dict[str, Json]) -> bool:
        return self._is_3_0 and isinstance(schema.get("$ref"), str)

    def _is_nullable(self, schema: dict[str, Json]) -> bool:
        return self._takes_nullable and schema.get("nullable") is True

    def _parts(self, waiting: Sequence[Part]) -> list[Part]:
        """Return schemas with all parts that `allOf` and references add to them, each once."""
        stack, seen, parts = [*reversed(waiting)], set[int](), list[Part]()
        while stack and len(parts) < _MOST_PARTS:
            schema, place = stack.pop()
            if not isinstance(schema, dict):
                parts += [(schema, place)] if schema is False else []
                continue
            if id(schema) in seen:
                continue
            seen.add(id(schema))
            if not self._is_reference(schema):
                parts.append((schema, place))
            stack += self._joined(schema, place)
        return parts

    def _joined(self, schema: dict[str, Json], place: str) -> Iterator[Part]:
        """Yield the parts that `allOf` and a reference add to a schema."""
        joined = [] if self._is_reference(schema) else _list(schema, "allOf")
        for n, part in enumerate(joined):
            yield part, f"{place}/allOf/{n}"
        reference = schema.get("$ref")
        if isinstance(reference, str) and (target := self._follow(reference, f"{place}/$ref")):
            yield target

    def _refusal(self, parts: Sequence[Part], depth: int) -> str:
        """Return why no value fits all of the parts; "" if one can."""
        schemas: list[dict[str, Any]] = [part for part, _ in parts if isinstance(part, dict)]
        if len(schemas) < len(parts) or any(map(rejects_all, schemas)):
            return "a part of it is false or not: {}"
        types = _TYPES.intersection(*(_types(each, self._is_nullable(each)) for each in schemas))
        if not types:
            return "its parts have no type in common"
        values = _common_values(schemas)
        if values is not None:
            values = [value for value in values if not types.isdisjoint(types_of(value))]
            values = [value for value in values if _is_within(value, schemas)]
            types &= frozenset(kind for value in values for kind in types_of(value))
            if not types:
                return "none of its values satisfies the other keywords"
        reasons: list[str] = []
        is_limited = any(not _BOUNDS.isdisjoint(each) for each in schemas)
        for holder, kinds_with_size in _HOLDERS if is_limited else ():
            if reason := _crossing(schemas, holder):
                types -= kinds_with_size
                reasons.append(reason)
        if "object" in types and (reason := self._refusal_of_keys(parts, schemas, depth)):
            types -= {"object"}
            reasons.append(reason)
        if not types:
            return reasons[0]
        return self._refusal_of_branches(parts, depth)

    def _refusal_of_keys(self, parts: Sequence[Part], schemas: list[dict[str, Any]], depth: int) -> str:
        required = {key: None for each in schemas for key in _list(each, "required") if isinstance(key, str)}
        limits = [each[_MOST_KEYS] for each in schemas if isinstance(each.get(_MOST_KEYS), int)]
        if limits and len(required) > min(limits):
            return f"it requires {len(required)} properties, and {_MOST_KEYS} is {min(limits)}"
        for schema in schemas:
            properties = _map(schema, "properties")
            is_closed = rejects_all(schema.get("additionalProperties", True))
            missing = [key for key in required if key not in properties]
            if is_closed and missing and not schema.get("patternProperties"):
                return f"{missing[0]!r} is required, but one part of it does not allow this property"
        named = [(_map(schema, "properties"), place) for schema, place in parts]
        for key in required if depth else ():
            candidates = [(properties[key], place) for properties, place in named if key in properties]
            if (
                len(candidates) == 1
                and isinstance(candidates[0][0], dict)
                and _JOINING.isdisjoint(candidates[0][0])
            ):
                continue
            inner = self._parts([(part, f"{place}/properties/{escaped(key)}") for part, place in candidates])
            if (len(candidates) > 1 or False in (part for part, _ in inner)) and (
                reason := self._refusal(inner, depth - 1)
            ):
                return f"no value fits the required property {key!r}: {reason}"
        return ""

    def _refusal_of_branches(self, parts: Sequence[Part], depth: int) -> str:
        """Return why each branch of a union is rejected by the surrounding schema; "" if one is not."""
        if not depth or not any(_list(part, word) for part, _ in parts for word in _UNIONS):
            return ""
        rest: list[Part] = [
            ({word: value for word, value in part.items() if word not in _UNIONS}, at) for part, at in parts
        ]
        for part, place in parts:
            for word in _UNIONS:
                branches = _list(part, word)
                if len(branches) > _MOST_BRANCHES or not branches or any(map(_refuses_nothing, branches)):
                    continue
                first = ""
                for n, branch in enumerate(branches):
                    branch_parts = self._parts([(branch, f"{place}/{word}/{n}")])
                    if not (reason := self._refusal([*rest, *branch_parts], depth - 1)):
                        break
                    first = first or reason
                else:
                    return f"it refuses every branch of its {word}: {first}"
        return ""


def _refuses_nothing(schema: object) -> bool:
    return isinstance(schema, dict) and CONSTRAINTS.isdisjoint(schema)


def _types(schema: dict[str, Any], is_nullable: bool) -> frozenset[str]:
    """Return the JSON types that a schema accepts; a number can be an integer."""
    kinds = schema.get("type", [])
    if not isinstance(kinds, (str, list)) or not kinds:
        return _TYPES
    types = {str(each) for each in named_types(kinds)}
    types |= {"integer"} if "number" in types else set()
    types |= {"null"} if is_nullable else set()
    return frozenset(types)


def _common_values(schemas: Sequence[dict[str, Any]]) -> list[Any] | None:
    """Return the values that all enums and consts have in common; None if there are none."""
    common: dict[object, object] | None = None
    for schema in schemas:
        lists = [[schema["const"]]] if "const" in schema else []
        lists += [schema["enum"]] if isinstance(schema.get("enum"), list) else []
        for values in lists:
            found = {identity(value): value for value in values}
            common = found if common is None else {key: common[key] for key in common if key in found}
    return None if common is None else list(common.values())


def _crossing(schemas: Sequence[dict[str, Any]], holder: Holder) -> str:
    """Return how the limits for a kind of value exclude each other; "" if they do not."""
    limits = _limits(schemas, holder)
    for low, least in limits:
        for high, most in limits:
            if (low.side, high.side) == ("low", "high") and not (
                low.passes(most, least) and high.passes(least, most)
            ):
                return f"{low.keyword} is {least}, and {high.keyword} is {most}"
    return ""


def _is_within(value: Json, schemas: Sequence[dict[str, Any]]) -> bool:
    """Return whether a value, or its size, is within the limits for its kind."""
    kinds = types_of(value)
    size = len(value) if isinstance(value, str | list | dict) else value
    return all(
        row.passes(size, limit)
        for holder, kinds_with_size in _HOLDERS
        if not kinds_with_size.isdisjoint(kinds)
        for row, limit in _limits(schemas, holder)
    )


def _limits(schemas: Sequence[dict[str, object]], holder: Holder) -> list[tuple[Constraint, Any]]:
    return [
        (row, limit)
        for row in _ROWS[holder]
        for schema in schemas
        if isinstance(limit := schema.get(row.keyword), int | float) and not isinstance(limit, bool)
    ]


def _list(schema: object, keyword: str) -> list[object]:
    value = schema.get(keyword) if isinstance(schema, dict) else None
    return value if isinstance(value, list) else []


def _map(schema: Json, keyword: str) -> dict[str, Any]:
    value = schema.get(keyword) if isinstance(schema, dict) else None
    return value if isinstance(value, dict) else {}
