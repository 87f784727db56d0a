"""Answers that a model may give to a provider's schema, and the losses that say why one does not fit."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any, Final

import jsonschema
from jsonschema.validators import validator_for

from tests.conformance.provider_rules import without_nullable
from toolgen.catalog.providers import Projection
from toolgen.contract.json_pointer import referred

_TEXTS: Final = (
    *("a", "", "x" * 30, "2024-05-01", "12", "-1", "A1", "0", "true", "null", "{}", "[]", "[1]", '"x"', "US"),
    *('{"a":1}', '{"name":"x"}', "é", "#ffffff", "AB12", "https://example.org/a", "a@example.org"),
)
_FORMATS: Final[Mapping[str, str]] = {
    "date-time": "2024-05-01T10:00:00Z",
    "time": "10:00:00Z",
    "date": "2024-05-01",
    "duration": "P1D",
    "email": "a@example.org",
    "hostname": "example.org",
    "ipv4": "10.0.0.1",
    "ipv6": "::1",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "uri": "https://example.org/a",
}
_ANY: Final[tuple[Any, ...]] = (None, True, 1, -2.5, "a", "", [], {}, [1, "a"], {"a": 1})
_NUMBERS: Final = (0, 1, -1, 2, 5, 100, 10**6, -(10**6), 0.5, -3.25)
_FLAT: Final = frozenset(("null", "string", "integer", "boolean", "number"))
_COMBINATOR: Final = re.compile(r"/(anyOf|oneOf|allOf)/[0-9]+")


def unexplained(one: Projection, schema: Any, chance: Random) -> tuple[Any, str] | None:
    """Return an answer of the provider's schema that, decoded, does not fit the tool's for an unnamed reason.

    None where the answer that was drawn fits both, or what is wrong with it is named.
    """
    is_closed = one.dialect.name == "gemini"  # it sends declared properties alone
    answer = _Answers(one.schema, chance, is_closed=is_closed).value(one.schema)
    if not jsonschema.Draft202012Validator(without_nullable(one.schema)).is_valid(answer):
        return None
    decoded = json.loads(one.decode(json.dumps(answer)))
    judge: Any = validator_for(schema, default=jsonschema.Draft202012Validator)
    for error in judge(schema).iter_errors(decoded):
        if not _is_explained(one, schema, error):
            return answer, f"{'/'.join(map(str, error.absolute_schema_path))}: {error.message[:200]}"
    return None


class _Answers:
    """Draws values of a provider's schema; a few do not fit it."""

    def __init__(self, root: Any, chance: Random, *, is_closed: bool) -> None:
        self._root = root
        self._chance = chance
        self._is_closed = is_closed

    def value(self, schema: Any, depth: int = 0) -> Any:
        if not isinstance(schema, Mapping) or not schema:
            return self._chance.choice(_ANY)
        if "$ref" in schema:
            return self.value(referred(self._root, schema["$ref"]), depth + 1)
        if schema.get("nullable") and self._chance.random() < 0.2:
            return None
        if "const" in schema or "enum" in schema:
            return schema["const"] if "const" in schema else self._chance.choice(schema["enum"])
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                rest = {key: value for key, value in schema.items() if key != keyword}
                branch = self._branch(schema[keyword], depth)
                return self.value({**rest, **branch} if isinstance(branch, Mapping) else branch, depth + 1)
        kinds = schema.get("type") or ("object" if "properties" in schema else "any")
        return self._of_kind(schema, kinds if isinstance(kinds, str) else self._chance.choice(kinds), depth)

    def _branch(self, branches: Sequence[Any], depth: int) -> Any:
        flat = [
            branch for branch in branches if isinstance(branch, Mapping) and str(branch.get("type")) in _FLAT
        ]
        return self._chance.choice(flat if depth > 8 and flat else branches)

    def _of_kind(self, schema: Mapping[str, Any], kind: str, depth: int) -> Any:
        match kind:
            case "object":
                return self._object(schema, depth)
            case "array":
                return self._array(schema, depth)
            case "string":
                least, most = schema.get("minLength", 0), schema.get("maxLength", 1000)
                texts = [text for text in _TEXTS if least <= len(text) <= most] or ["x" * least]
                return _FORMATS.get(schema.get("format", ""), self._chance.choice(texts))
            case "integer" | "number":
                return self._number(schema, kind)
            case "boolean":
                return self._chance.random() < 0.5
            case "null":
                return None
            case _:
                return self._chance.choice(_ANY)

    def _number(self, schema: Mapping[str, Any], kind: str) -> float:
        low = schema.get("minimum", schema.get("exclusiveMinimum", -(10**6)))
        high = schema.get("maximum", schema.get("exclusiveMaximum", 10**6))
        choices = [*_NUMBERS, low, low + 1, high - 1, high, schema.get("multipleOf", 0)]
        whole = [int(value) for value in choices] if kind == "integer" else choices
        return self._chance.choice([value for value in whole if low <= value <= high] or [low])

    def _array(self, schema: Mapping[str, Any], depth: int) -> list[Any]:
        first, rest = schema.get("prefixItems", []), schema.get("items", True)
        least = schema.get("minItems", 0)
        most = least if depth > 6 else max(least, min(schema.get("maxItems", 3), least + 3))
        count = self._chance.choice([self._chance.randint(least, most), len(first) or least])
        parts = [*first, *([] if rest is False else [rest] * count)][:count]
        return [self.value(part, depth + 1) for part in parts]

    def _object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        share = self._chance.choice([0.0, 0.3, 0.7, 1.0]) if depth < 5 else 0.0
        required = schema.get("required", ())
        drawn = {
            key: self.value(part, depth + 1)
            for key, part in schema.get("properties", {}).items()
            if key in required or self._chance.random() < share
        }
        rest = schema.get("additionalProperties", True)
        if not self._is_closed and rest is not False and depth < 5 and self._chance.random() < 0.3:
            drawn[self._chance.choice(["other", "x-y"])] = self.value(rest, depth + 1)
        return drawn


def _is_explained(one: Projection, root: Any, error: jsonschema.ValidationError) -> bool:
    """Return whether a loss names the rule that is broken or, of a union, all that are of one branch."""
    if _is_named(one, [*_ways(root, error.absolute_schema_path)], has_keyword=error.validator is not None):
        return True
    branches: dict[Any, list[jsonschema.ValidationError]] = {}
    for inner in error.context or ():
        branches.setdefault(inner.schema_path[0], []).append(inner)
    return any(all(_is_explained(one, root, inner) for inner in own) for own in branches.values())


def _is_named(one: Projection, ways: Sequence[str], *, has_keyword: bool) -> bool:
    for loss in one.losses:
        if loss.action == "not strict":
            continue  # why, and not what
        is_whole = loss.action == "as JSON text" or not loss.keyword
        place = _COMBINATOR.sub("", loss.path) + ("" if is_whole else f"/{loss.keyword}")
        if any(f"{way}/".startswith(f"{place}/") or _is_end(way, place) for way in ways):
            return True
        if not has_keyword and not loss.keyword and any(place.startswith(way) for way in ways):
            return True  # `false`, whose errors do not say where it stands
    return False


def _is_end(tail: str, place: str) -> bool:
    return tail.startswith("properties/") and place.endswith(f"/{tail}")


def _ways(root: Any, steps: Sequence[Any]) -> Iterator[str]:
    """Yield each JSON Pointer to a keyword without combinators: whole, and from each reference on.

    A loss stands at the place where a schema is declared, or under the reference that it was merged into; the
    latter are yielded as the ends of pointers, without a slash before them.
    """
    ways: list[list[str]] = [[]]
    tails: list[list[str]] = []
    node = root
    for step in steps:
        while isinstance(node, Mapping) and step not in node and "$ref" in node:
            ways.append(node["$ref"].split("/")[1:])
            tails.append([])
            node = referred(root, node["$ref"])
        for way in (*ways, *tails):
            way.append(str(step).replace("~", "~0").replace("/", "~1"))
        node = node[step]
    for way in ways:
        yield _COMBINATOR.sub("", "".join(f"/{step}" for step in way))
    for tail in tails:
        yield _COMBINATOR.sub("", "".join(f"/{step}" for step in tail)).removeprefix("/")
