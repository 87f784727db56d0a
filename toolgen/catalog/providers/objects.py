"""Objects, maps and arrays in the dialect of a provider."""

from __future__ import annotations

import re
from typing import Any, Final

from toolgen.contract.json_value import Json
from toolgen.shapes.constraints import lengths_of

from .codecs import EXPLICIT_NULL, SAME, Array, ObjectCodec, Pairs, Property, ValuesCodec
from .parts import Context, Part, Schema, SchemaPlace, nullable
from .sentences import listed

_REST: Final = "additional_properties"
_OF_OBJECT: Final = frozenset(
    "properties required additionalProperties patternProperties propertyNames unevaluatedProperties".split()
)
_SIZES: Final = lengths_of("array")
_LEAST, _MOST = _SIZES
_SIZES_OF_MAPS: Final = lengths_of("map")
_OF_ARRAY: Final = frozenset(("items", "prefixItems", "additionalItems", *_SIZES))
_EXPLICIT: Final[Schema] = {
    "type": "object",
    "properties": {EXPLICIT_NULL: {"type": "null"}},
    "required": [EXPLICIT_NULL],
    "additionalProperties": False,
    "description": "Pass this object to set null. A plain null leaves the value out.",
}


def object_part(ctx: Context, schema: Schema, place: SchemaPlace, *, is_root: bool = False) -> Part:
    """Return an object; the root always becomes an object of known properties."""
    properties = dict(schema.get("properties") or {})
    rest = _rest(schema)
    required = [name for name in schema.get("required") or [] if isinstance(name, str)]
    if not is_root and not properties and rest is not False:
        return _map_part(ctx, schema, rest, place)
    most = ctx.dialect.budget.object_levels
    if most is not None and place.level > most:
        return ctx.json_text(schema, place, "properties")
    if not is_root and not properties and not required and ctx.dialect.has_nullable:
        return ctx.json_text(schema, place, "properties")
    undeclared = [name for name in required if name not in properties]
    if rest is not False:
        properties |= dict.fromkeys(undeclared, True)
    elif undeclared:
        ctx.lose(
            place, "required", "dropped", f"not declared, and no other key is allowed: {listed(undeclared)}"
        )
    return _known_part(ctx, schema, properties, frozenset(required), place, is_root=is_root)


def _rest(schema: Schema) -> Any:
    """Return the schema of undeclared keys: False for none, None if it is not defined."""
    patterns = list((schema.get("patternProperties") or {}).values())
    undeclared = schema.get("additionalProperties", schema.get("unevaluatedProperties"))
    if not patterns:
        return True if undeclared == {} else undeclared
    return patterns[0] if len(patterns) == 1 and undeclared is False else True


def _known_part(
    ctx: Context,
    schema: Schema,
    properties: Schema,
    required: frozenset[str],
    place: SchemaPlace,
    *,
    is_root: bool,
) -> Part:
    wires: Schema = {}
    needed: list[str] = []
    codecs: dict[str, Property] = {}
    taken = set(properties)
    for key in sorted(properties, key=lambda key: not _is_tag(properties[key])):
        part = ctx.part(properties[key], place.at("properties", key, deeper=1))
        name = _wire_name(ctx, key, taken)
        taken.add(name)
        if name != key:
            ctx.lose(place.at("properties", key), "properties", "described", f"sent as {name}")
        wires[name], codecs[key] = _property(ctx, part, name, properties[key], is_required=key in required)
        if key in required or ctx.dialect.needs_all_required:
            needed.append(name)
    rest, rest_name = _rest(schema), None
    if ctx.dialect.has_maps and rest is not False:
        if isinstance(rest, dict) and rest:
            ctx.lose(place, "additionalProperties", "dropped")
        codec = ObjectCodec(properties=codecs, is_open=True)
    elif rest is False or rest is None:
        if rest is None and (properties or not is_root):
            ctx.lose(place, "additionalProperties", "closed")
        codec = ObjectCodec(properties=codecs)
    else:
        rest_name = _wire_name(ctx, _REST, taken)
        pairs = _pairs(ctx, {**schema, "description": ""}, rest, place)
        optional = ctx.dialect.needs_all_required
        wires[rest_name] = nullable(pairs.schema, has_nullable=False) if optional else pairs.schema
        needed += [rest_name] if optional else []
        codec = ObjectCodec(
            properties=codecs, rest=Property(wire=rest_name, codec=pairs.codec, is_null_absent=optional)
        )
    wire: Schema = {"type": "object", "properties": wires}
    if needed or "additionalProperties" in ctx.dialect.keywords:
        wire["required"] = needed
    if "additionalProperties" in ctx.dialect.keywords and not (ctx.dialect.has_maps and rest is not False):
        wire["additionalProperties"] = False
    text = {} if is_root else ctx.description(schema, place, _OF_OBJECT)
    return Part(schema={**wire, **text}, codec=codec)


def _is_tag(schema: Json) -> bool:
    """Return whether a property is the tag of a union; OpenAI requires it to be the first."""
    return isinstance(schema, dict) and "const" in schema


def _property(
    ctx: Context, part: Part, name: str, schema: Json, *, is_required: bool
) -> tuple[Schema, Property]:
    """Return the provider's schema of a property, and how it is sent."""
    if is_required or not ctx.dialect.needs_all_required:
        wire = ctx.nullable(part) if part.takes_null else part.schema
        return wire, Property(wire=name, codec=part.codec)
    is_default = isinstance(schema, dict) and "default" in schema and schema["default"] is None
    is_explicit = part.takes_null and not is_default
    wire = ctx.nullable(part)
    if is_explicit:
        wire = _with_explicit_null(wire)
    codec = Property(wire=name, codec=part.codec, is_null_absent=True, has_explicit_null=is_explicit)
    return wire, codec


def _with_explicit_null(wire: Schema) -> Schema:
    text = {key: value for key, value in wire.items() if key == "description"}
    own = {key: value for key, value in wire.items() if key != "description"}
    branches = own["anyOf"] if own.keys() == {"anyOf"} else [own]
    return {**text, "anyOf": [*branches, _EXPLICIT]}


def _wire_name(ctx: Context, key: str, taken: set[str]) -> str:
    """Return a key that the provider accepts, and that no other property has."""
    pattern = ctx.dialect.property_name
    if key not in taken and not pattern:
        return key
    if key != _REST and (not pattern or re.fullmatch(pattern, key)):
        return key
    name = key if not pattern else re.sub(r"[^a-zA-Z0-9_]", "_", key)[:60]
    if pattern and not re.fullmatch(pattern, name):
        name = f"_{name}"
    while name in taken:
        name += "_"
    return name


def _map_part(ctx: Context, schema: Schema, rest: Json, place: SchemaPlace) -> Part:
    """Return an object with arbitrary keys."""
    if ctx.dialect.has_maps:
        inner = ctx.part(True if rest is None else rest, place.at("additionalProperties", deeper=1))
        value = ctx.nullable(inner) if inner.takes_null else inner.schema
        wire = {"type": "object", "properties": {}, "additionalProperties": value}
        text = ctx.description(schema, place, _OF_OBJECT | ctx.dialect.keywords)
        return Part(schema={**wire, **text}, codec=ValuesCodec(inner.codec))
    if rest is None or rest is True:
        return ctx.json_text({**schema, "type": "object"}, place, "type")
    return _pairs(ctx, schema, rest, place)


def _pairs(ctx: Context, schema: Schema, rest: Json, place: SchemaPlace) -> Part:
    """Return the keys and values of an object as an array."""
    most = ctx.dialect.budget.object_levels
    if most is not None and place.level > most:
        return ctx.json_text({**schema, "type": "object"}, place, "additionalProperties")
    inner = ctx.part(rest, place.at("additionalProperties", deeper=1))
    own = "additionalProperties" if "properties" in schema else "type"
    ctx.lose(place, own, "described", "each key once")
    if patterns := schema.get("patternProperties"):
        ctx.lose(place, "additionalProperties", "described", f"each key matches {next(iter(patterns))}")
    names = schema.get("propertyNames")
    key = {"type": "string"}
    if isinstance(names, dict):
        key = ctx.part({"type": "string", **names}, place.at("propertyNames")).schema
    item: Schema = {
        "type": "object",
        "properties": {"key": key, "value": ctx.nullable(inner) if inner.takes_null else inner.schema},
        "required": ["key", "value"],
    }
    if "additionalProperties" in ctx.dialect.keywords:
        item["additionalProperties"] = False
    sizes = {size: schema.get(own) for size, own in zip(_SIZES, _SIZES_OF_MAPS, strict=True)}
    limits = {
        keyword: size
        for keyword, size in sizes.items()
        if size is not None and "properties" not in schema and _is_size_taken(ctx, keyword, size)
    }
    kept_keywords = {own for size, own in zip(_SIZES, _SIZES_OF_MAPS, strict=True) if size in limits}
    text = ctx.description(
        schema, place, _OF_OBJECT | kept_keywords, "Pairs of key and value. Each key occurs once."
    )
    return Part(schema={"type": "array", "items": item, **limits, **text}, codec=Pairs(inner.codec))


def _is_size_taken(ctx: Context, keyword: str, size: Any) -> bool:
    most = ctx.dialect.budget.min_items
    is_small = keyword != _LEAST or most is None or size <= most
    return keyword in ctx.dialect.keywords and is_small


def array_part(ctx: Context, schema: Schema, place: SchemaPlace) -> Part:
    """Return an array; if it is a tuple, each item can be any of the tuple's items."""
    first, rest = schema.get("prefixItems"), schema.get("items", True)
    if isinstance(rest, list):  # a tuple before 2020-12
        first, rest = rest, schema.get("additionalItems", True)
    sizes = {
        keyword: schema[keyword]
        for keyword in _SIZES
        if isinstance(schema.get(keyword), int) and _is_size_taken(ctx, keyword, schema[keyword])
    }
    keywords = (_OF_ARRAY - set(_SIZES)) | sizes.keys()
    if not isinstance(first, list) or not first:
        inner = ctx.part(rest, place.at("items"))
        items = ctx.nullable(inner) if inner.takes_null else inner.schema
        text = ctx.description(schema, place, keywords)
        codec = SAME if inner.codec is SAME else Array(items=inner.codec)
        return Part(schema={"type": "array", "items": items, **sizes, **text}, codec=codec)
    return _tuple_part(ctx, schema, first, rest, place, sizes, keywords)


def _tuple_part(
    ctx: Context,
    schema: Schema,
    first: list[Json],
    rest: Json,
    place: SchemaPlace,
    sizes: Schema,
    keywords: frozenset[str],
) -> Part:
    parts = [ctx.part(item, place.at("prefixItems", index)) for index, item in enumerate(first)]
    others = None if rest is False else ctx.part(rest, place.at("items"))
    wires: list[Schema] = []
    for part in [*parts, *([others] if others else [])]:
        wire = ctx.nullable(part) if part.takes_null else part.schema
        if wire not in wires:
            wires.append(wire)
    ctx.lose(place, "prefixItems", "described", f"{len(first)} items in this order")
    if others is None and _is_size_taken(ctx, _MOST, len(first)):
        sizes = {**sizes, _MOST: min(len(first), sizes.get(_MOST, len(first)))}
    text = ctx.description(schema, place, keywords, f"Items with fixed positions: the first {len(first)}.")
    codec = Array(first=tuple(part.codec for part in parts), items=others.codec if others else SAME)
    items = wires[0] if len(wires) == 1 else {"anyOf": wires}
    return Part(schema={"type": "array", "items": items, **sizes, **text}, codec=codec)
