"""An almost unchanged schema, without keywords that a provider rejects. Models only treat it as a hint."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from toolgen.contract.json_value import Json, objects_in
from toolgen.shapes.keywords import embedded

from .codecs import SAME, Wrapped
from .dialects import Dialect
from .losses import Loss
from .parts import Schema, SchemaPlace, described_limits
from .sentences import alternatives, joined, other_rules
from .structured import ARGUMENTS, Rewritten, rewritten

_NAMED: Final = frozenset(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"))
"""Keywords whose value is an object with names as keys."""
_VALUES: Final = frozenset(
    ("default", "examples", "enum", "const", "example", "required", "dependentRequired")
)
"""Keywords whose values contain no schemas."""
_COMBINATORS: Final = ("anyOf", "oneOf", "allOf", "enum", "const", "not", "if", "then", "else")
"""Keywords that OpenAI and Anthropic reject at the root of every tool."""
_ITEM: Final[Schema] = {"type": ["string", "number", "boolean", "object", "null"]}
"""Items of an array without a schema for them: OpenAI rejects an array without items."""


def plain(schema: Schema, dialect: Dialect) -> Rewritten:
    """Return the schema for a tool that is not strict.

    It is rewritten only if it has a key that the provider rejects.
    """
    pattern = dialect.property_name
    if dialect.is_structured or (pattern and not all(re.fullmatch(pattern, key) for key in _keys(schema))):
        return rewritten(schema, dialect, dialect.budget.enum_size)
    losses: list[Loss] = []
    root, words, is_wrapped = _root(schema, losses)
    cleaned = _cleaned(root, SchemaPlace(), losses)
    description = str(cleaned.pop("description", "") if is_wrapped else "")
    if not is_wrapped:
        cleaned.pop("description", None)
    codec = Wrapped(ARGUMENTS, SAME) if is_wrapped else SAME
    return Rewritten(
        schema=cleaned, codec=codec, losses=tuple(losses), description=joined(words, description)
    )


def _root(schema: Schema, losses: list[Loss]) -> tuple[Schema, str, bool]:
    """Return an object without combinators, their words, and whether the schema is its only property."""
    combinators = [keyword for keyword in _COMBINATORS if keyword in schema]
    words: list[str] = []
    is_object = schema.get("type", "object") == "object" and "$ref" not in schema
    says = {keyword: _words(keyword, schema[keyword]) for keyword in combinators}
    if not is_object or any(text is None for text in says.values()):
        defs = {} if _is_recursive(schema) else {key: schema[key] for key in schema.keys() & {"$defs"}}
        inner = {key: value for key, value in schema.items() if key not in defs}
        inner_schema = inner if defs else embedded(inner, f"#/properties/{ARGUMENTS}")
        wrapped: Schema = {"type": "object", "properties": {ARGUMENTS: inner_schema}, "required": [ARGUMENTS]}
        wrapped["additionalProperties"] = False
        return {**wrapped, **defs}, "", True
    for keyword, text in says.items():
        losses.append(Loss(path="", keyword=keyword, action="described", detail=text or ""))
        words += [text] if text and text not in words else []
    rest = {key: value for key, value in schema.items() if key not in combinators}
    return {**rest, "type": "object"}, joined(*words), False


def _words(keyword: str, value: Any) -> str | None:
    """Return the rule of a root keyword in words; None if it has content beyond the root's properties."""
    if keyword in ("anyOf", "oneOf"):
        return alternatives(value)
    return None if keyword in ("allOf", "enum", "const") else other_rules()


def _is_recursive(schema: Json) -> bool:
    """Return whether a reference leads to a place outside of `$defs`."""
    references = (part.get("$ref") for part in objects_in(schema))
    return any(isinstance(each, str) and not each.startswith("#/$defs/") for each in references)


def _keys(schema: Json, is_named: bool = False) -> Iterator[str]:
    """Yield the keys of all properties."""
    match schema:
        case dict():
            for key, value in schema.items():
                if is_named or key not in _VALUES:
                    yield from _keys(value, not is_named and key in _NAMED)
            properties = schema.get("properties")
            if not is_named and isinstance(properties, dict):
                yield from properties
        case list():
            for item in schema:
                yield from _keys(item)
        case _:
            pass


def _cleaned(schema: Json, place: SchemaPlace, losses: list[Loss]) -> Any:
    """Return a schema without toolgen's own keywords; objects get properties and arrays get items."""
    if isinstance(schema, list):
        return [_cleaned(item, place.at(index), losses) for index, item in enumerate(schema)]
    if not isinstance(schema, dict):
        return schema
    cleaned: Schema = {}
    losses += described_limits(schema, place)
    for key, value in schema.items():
        if key.startswith("x-") or key == "$schema":
            continue
        if key in _NAMED and isinstance(value, dict):
            cleaned[key] = {name: _cleaned(part, place.at(key, name), losses) for name, part in value.items()}
        else:
            cleaned[key] = value if key in _VALUES else _cleaned(value, place.at(key), losses)
    kinds = cleaned.get("type")
    if kinds == "object":
        cleaned.setdefault("properties", {})
    if (kinds == "array" or (isinstance(kinds, list) and "array" in kinds)) and "prefixItems" not in cleaned:
        cleaned.setdefault("items", dict(_ITEM))
    return cleaned
