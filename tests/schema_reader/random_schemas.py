"""Random schemas of all keywords, and random values that often fit them."""

from __future__ import annotations

from random import Random
from typing import Any, Final

KEYS: Final = ("a", "b", "c", "type")
TYPES: Final = ("string", "integer", "number", "boolean", "null", "array", "object")
SCALARS: Final = (None, True, False, 0, 1, 2, 3, -1, 1.0, 2.5, 0.5, "a", "b", "", "abc")

_WORDS: Final[dict[str, tuple[str, tuple[Any, ...]]]] = {
    "minLength": ("string", (0, 1, 2, 3.0)),
    "maxLength": ("string", (0, 1, 2)),
    "pattern": ("string", ("^a", "", "b", "(?=a)", "^[ab]*$")),
    "minimum": ("number", (0, 1, 0.5, 1.0)),
    "maximum": ("number", (1, 2, 1.5)),
    "exclusiveMinimum": ("number", (0, 0.5)),
    "exclusiveMaximum": ("number", (2, 2.5)),
    "multipleOf": ("number", (1, 2, 0.5, 2.0, 0.3)),
    "minItems": ("array", (0, 1, 2)),
    "maxItems": ("array", (0, 1, 2)),
    "uniqueItems": ("array", (True, False)),
    "minContains": ("array", (0, 2)),
    "required": ("object", ([], ["a"], ["a", "type"])),
    "minProperties": ("object", (0, 1, 2)),
    "maxProperties": ("object", (0, 2, 4)),
    "dependentRequired": ("object", ({"a": []}, {"a": ["b"]})),
}
_ONE: Final = {
    "items": ("array", 0.6),
    "contains": ("array", 0.08),
    "additionalProperties": ("object", 0.4),
    "propertyNames": ("object", 0.08),
    "unevaluatedProperties": ("object", 0.06),
    "unevaluatedItems": ("array", 0.04),
    "not": ("", 0.03),
}


class Draws:
    """Draws schemas and values; the same seed gives the same."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def value(self, depth: int = 0) -> Any:
        match self._random.randrange(9 if depth < 3 else 6):
            case 6:
                return [self.value(depth + 1) for _ in range(self._random.randrange(4))]
            case 7 | 8:
                return {
                    self._random.choice(KEYS): self.value(depth + 1) for _ in range(self._random.randrange(4))
                }
            case _:
                return self._random.choice(SCALARS)

    def root(self, *, draft_7: bool) -> dict[str, Any]:
        drawn = self.schema(0)
        schema: dict[str, Any] = drawn if isinstance(drawn, dict) else {}
        schema["$defs"] = {name: self.schema(2) for name in "xyz"}
        if draft_7:
            schema["$schema"] = "http://json-schema.org/draft-07/schema#"
        return schema

    def schema(self, depth: int) -> Any:
        if self._chance(0.06):
            return self._random.choice([True, False, {}])
        schema: dict[str, Any] = {}
        if self._chance(0.85):
            many = self._random.sample(TYPES, self._random.randrange(1, 4))
            schema["type"] = many if self._chance(0.2) else "object" if depth < 2 else many[0]
        types = schema.get("type", ("string", "object"))
        for word, (kind, values) in _WORDS.items():
            if self._chance(0.2 if _concerns(kind, types) else 0.01):
                schema[word] = self._random.choice(values)
        if self._chance(0.12):
            schema["enum"] = [self.value(2) for _ in range(self._random.randrange(1, 5))]
        if self._chance(0.04):
            schema["const"] = self.value(2)
        if self._chance(0.1):
            schema["default"] = self.value(2)
        if depth < 4:
            self._add_subschemas(schema, types, depth + 1)
        if self._chance(0.1):
            schema["$ref"] = f"#/$defs/{self._random.choice('xyz')}"
        return schema

    def _add_subschemas(self, schema: dict[str, Any], types: Any, depth: int) -> None:
        for word, (kind, often) in _ONE.items():
            if self._chance(often if not kind or _concerns(kind, types) else 0.01):
                schema[word] = self.schema(depth)
        if _concerns("object", types) and self._chance(0.7):
            keys = self._random.sample(KEYS, self._random.randrange(4))
            schema["properties"] = {key: self.schema(depth) for key in keys}
        for word, often in (("patternProperties", 0.04), ("dependencies", 0.03), ("dependentSchemas", 0.02)):
            if self._chance(often):
                schema[word] = {self._random.choice(("a", "b", "")): self.schema(depth)}
        for word, often in (("anyOf", 0.12), ("oneOf", 0.12), ("allOf", 0.12), ("prefixItems", 0.03)):
            if self._chance(often):
                schema[word] = [self.schema(depth) for _ in range(self._random.randrange(1, 4))]
        if self._chance(0.03):
            schema.update({word: self.schema(depth) for word in ("if", "then", "else")})

    def instance(self, schema: Any, root: dict[str, Any], depth: int = 0) -> Any:
        """Return a value that the schema may well accept."""
        if depth > 6 or not isinstance(schema, dict) or self._chance(0.15):
            return self.value(depth)
        if "$ref" in schema and self._chance(0.5):
            return self.instance(root["$defs"][schema["$ref"][-1]], root, depth + 1)
        for word in ("enum", "anyOf", "oneOf", "allOf"):
            if word in schema and self._chance(0.5):
                drawn = self._random.choice(schema[word])
                return drawn if word == "enum" else self.instance(drawn, root, depth + 1)
        kind = schema.get("type", "object")
        match kind if isinstance(kind, str) else self._random.choice(kind):
            case "object":
                return self._object(schema, root, depth + 1)
            case "array":
                items = schema.get("items", True)
                return [self.instance(items, root, depth + 1) for _ in range(self._random.randrange(4))]
            case "string":
                return self._random.choice(("a", "b", "", "abc"))
            case "integer" | "number":
                return self._random.choice((0, 1, 2, 3, 1.0, 2.5, 0.5))
            case other:
                return {"boolean": True}.get(other)

    def _object(self, schema: dict[str, Any], root: dict[str, Any], depth: int) -> dict[str, Any]:
        drawn: dict[str, Any] = {}
        for word in ("allOf", "anyOf", "oneOf"):
            for branch in schema.get(word, ()):
                inner = self.instance(branch, root, depth) if self._chance(0.5) else None
                drawn.update(inner if isinstance(inner, dict) else {})
        for key, inner in schema.get("properties", {}).items():
            if self._chance(0.7):
                drawn[key] = self.instance(inner, root, depth)
        for key in schema.get("required", ()):
            drawn.setdefault(key, self.value(depth))
        if self._chance(0.3):
            drawn[self._random.choice(KEYS)] = self.instance(schema.get("additionalProperties"), root, depth)
        return drawn

    def _chance(self, often: float) -> bool:
        return self._random.random() < often


def _concerns(kind: str, types: Any) -> bool:
    return kind in types or (kind == "number" and "integer" in types)
