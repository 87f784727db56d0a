"""What providers document of tools' schemas, written down apart from toolgen's own tables (November 2026).

Sources: OpenAI's guide "Structured outputs" and its API reference of function tools; Claude's "Structured
outputs" and "Define tools"; the Gemini API reference of Schema and FunctionDeclaration. What they leave open
is refused here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from typing import Any

Schema = dict[str, Any]

_OPENAI = set(
    "type description properties required additionalProperties items enum const anyOf $ref $defs pattern "
    "format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems".split()
)
_CLAUDE = set(
    "type description properties required additionalProperties items enum const anyOf allOf $ref $defs "
    "pattern format minItems default".split()
)
_GEMINI_SCHEMA = set(
    "type format title description nullable enum maxItems minItems properties required minProperties "
    "maxProperties minLength maxLength pattern example anyOf propertyOrdering default items minimum "
    "maximum".split()
)
_GEMINI_JSON = set(
    "$id $defs $ref $anchor type format title description enum items prefixItems minItems maxItems minimum "
    "maximum anyOf oneOf properties additionalProperties required propertyOrdering".split()
)
_FORMATS = {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
_GEMINI_FORMATS = set("email byte date date-time password int32 int64 float double enum".split())


def names_broken(name: str, dialect: str) -> bool:
    """Return whether a provider refuses a tool of this name."""
    pattern = r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}" if dialect.startswith("gemini") else r"[a-zA-Z0-9_-]{1,64}"
    return not re.fullmatch(pattern, name)


def broken(schema: Schema, dialect: str) -> list[str]:
    """Return the documented rules that a schema breaks."""
    check = {
        "openai": _plain,
        "openai-responses": _plain,
        "openai-strict": _openai_strict,
        "openai-responses-strict": _openai_strict,
        "anthropic": _anthropic,
        "anthropic-strict": _anthropic_strict,
        "gemini": _gemini,
        "gemini-json": _gemini_json,
    }[dialect]
    return list(check(schema))


def _root(schema: Schema) -> Iterator[str]:
    if schema.get("type") != "object" or "properties" not in schema:
        yield "the root is no object with properties"
    for keyword in ("anyOf", "oneOf", "allOf", "enum", "not"):
        if keyword in schema:
            yield f"{keyword} at the root"


def _plain(schema: Schema) -> Iterator[str]:
    yield from _root(schema)
    for node in nodes(schema):
        kinds = node.get("type")
        kinds = [kinds] if isinstance(kinds, str) else kinds or []
        if "array" in kinds and "items" not in node and "prefixItems" not in node:
            yield "an array without items"


def _anthropic(schema: Schema) -> Iterator[str]:
    yield from _root(schema)
    yield from _keys(schema, r"[a-zA-Z0-9_.-]{1,64}")


def _openai_strict(schema: Schema) -> Iterator[str]:
    yield from _root(schema)
    count = values = characters = 0
    for node in nodes(schema):
        yield from _common(node, _OPENAI, _FORMATS)
        if node.get("type") == "object":
            count += len(node.get("properties", {}))
            if set(node.get("required", ())) != set(node.get("properties", {})):
                yield "a property is not required"
        enum = node.get("enum", [])
        texts = [value for value in enum if isinstance(value, str)]
        if len(enum) > 250 and sum(map(len, texts)) > 15_000:
            yield "an enum of too many characters"
        values += len(enum)
        characters += sum(map(len, [*node.get("properties", {}), *node.get("$defs", {}), *texts]))
        characters += len(str(node.get("const", "")))
    if count > 5000 or values > 1000 or characters > 120_000:
        yield f"{count} properties, {values} enum values, {characters} characters"
    for part in (schema, *schema.get("$defs", {}).values()):
        if _levels(part) > 10:
            yield "more than 10 objects in each other"


def _anthropic_strict(schema: Schema) -> Iterator[str]:
    yield from _anthropic(schema)
    optional = unions = 0
    for node in nodes(schema):
        yield from _common(node, _CLAUDE, {*_FORMATS, "uri"})
        optional += len(set(node.get("properties", {})) - set(node.get("required", ())))
        unions += "anyOf" in node or isinstance(node.get("type"), list)
        if node.get("minItems", 0) > 1:
            yield "minItems of more than 1"
        if any(isinstance(value, dict | list) for value in node.get("enum", ())):
            yield "an enum of more than scalars"
        if re.search(r"\\[1-9bB]", node.get("pattern", "")):
            yield "a pattern with a reference or a word boundary"
    if optional > 24 or unions > 16:
        yield f"{optional} optional properties, {unions} unions"
    if _is_recursive(schema):
        yield "a schema that leads to itself"


def _gemini(schema: Schema) -> Iterator[str]:
    if schema["properties"]:  # a tool without arguments has no parameters
        yield from _root(schema)
    for number, node in enumerate(nodes(schema)):
        yield from (f"{key} is no field" for key in node.keys() - _GEMINI_SCHEMA)
        kind = node.get("type")
        if not isinstance(kind, str) and "anyOf" not in node:
            yield f"the type {kind!r}"
        if kind == "object" and not node.get("properties") and number:
            yield "an object without properties"
        if kind == "array" and "items" not in node:
            yield "an array without items"
        if not all(isinstance(value, str) for value in node.get("enum", ())):
            yield "an enum of more than texts"
        if "format" in node and node["format"] not in _GEMINI_FORMATS:
            yield f"the format {node['format']}"
    yield from _keys(schema, r"[a-zA-Z_][a-zA-Z0-9_]{0,63}")


def _gemini_json(schema: Schema) -> Iterator[str]:
    yield from _root(schema)
    for node in nodes(schema):
        yield from (f"{key} is no keyword" for key in node.keys() - _GEMINI_JSON)
        if "$ref" in node and len(node) > 1:
            yield "something beside a reference"
        if not all(isinstance(value, str | int | float) for value in node.get("enum", ())):
            yield "an enum of more than texts and numbers"
        if any(isinstance(value, bool) for value in node.get("enum", ())):
            yield "an enum of booleans"
        if node.get("additionalProperties", False) is not False:
            yield "a map"


def _common(node: Schema, keywords: Set[str], formats: Set[str]) -> Iterator[str]:
    """Yield what both strict modes refuse."""
    yield from (f"{key} is not taken" for key in node.keys() - keywords)
    if "$ref" in node and (len(node) > 1 or not node["$ref"].startswith("#/$defs/")):
        yield f"the reference {node}"
    if not {"type", "anyOf", "$ref"} & node.keys():
        yield f"no type: {node}"
    if node.get("type") == "object" and node.get("additionalProperties") is not False:
        yield "an open object"
    if node.get("type") == "array" and "items" not in node:
        yield "an array without items"
    if "format" in node and node["format"] not in formats:
        yield f"the format {node['format']}"
    if re.search(r"\(\?<?[=!]", node.get("pattern", "")):
        yield "a pattern that looks around"


def _keys(schema: Schema, pattern: str) -> Iterator[str]:
    for node in nodes(schema):
        yield from (
            f"the key {key!r}" for key in node.get("properties", {}) if not re.fullmatch(pattern, key)
        )


def _levels(schema: Any) -> int:
    if not isinstance(schema, dict):
        return 0
    inner = max(map(_levels, _children(schema)), default=0)
    return inner + (schema.get("type") == "object")


def _is_recursive(schema: Schema) -> bool:
    defs = schema.get("$defs", {})
    leads = {
        name: {node["$ref"].removeprefix("#/$defs/") for node in nodes(part) if "$ref" in node}
        for name, part in defs.items()
    }
    while ends := [name for name, found in leads.items() if not found]:
        for name in ends:
            del leads[name]
        for found in leads.values():
            found.difference_update(ends)
    return bool(leads)


def nodes(schema: Any) -> Iterator[Schema]:
    """Yield each schema inside a schema, itself first."""
    if isinstance(schema, dict):
        yield schema
        for part in (*_children(schema), *schema.get("$defs", {}).values()):
            yield from nodes(part)


def _children(schema: Schema) -> Iterator[Any]:
    for key in ("properties", "patternProperties"):
        yield from schema.get(key, {}).values()
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        yield from schema.get(key, ())
    for key in ("items", "additionalProperties"):
        yield schema.get(key)


def without_nullable(schema: Any) -> Any:
    """Return Gemini's schema as JSON Schema has it, for a validator."""
    if isinstance(schema, list):
        return [without_nullable(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: value if key == "enum" else without_nullable(value) for key, value in schema.items()}
    if made.get("nullable") is True:
        return {"anyOf": [{key: value for key, value in made.items() if key != "nullable"}, {"type": "null"}]}
    return made
