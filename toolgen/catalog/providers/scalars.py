"""Strings, numbers, booleans and enums in the dialect of a provider."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from toolgen.contract.json_value import Json, identity
from toolgen.shapes.constraints import held_by, limits_of
from toolgen.shapes.union_shapes import types_of

from .codecs import SAME, EnumText
from .dialects import Dialect
from .parts import Context, Part, Schema, SchemaPlace
from .sentences import listed, shown

_OF_TEXT: Final = frozenset(row.keyword for row in held_by("string") if row.takes in ("text", "length"))
_OF_NUMBER: Final = frozenset((*(row.keyword for row in limits_of("number")), "format"))
_LOOKAROUND: Final = re.compile(r"\(\?<?[=!]")
_BACKREFERENCE: Final = re.compile(r"\\[1-9bBk]")
_REPETITION: Final = re.compile(r"\{(\d+)(?:,(\d*))?\}")
_NUMBER_FORMATS: Final = frozenset("int32 int64 uint32 uint64 float double unixtime".split())


def scalar_part(ctx: Context, schema: Schema, kind: str, place: SchemaPlace) -> Part:
    """Return a text, a number, a boolean or null."""
    if kind == "null":
        wire: Schema = {"type": "null"}
        if ctx.dialect.has_nullable:
            return ctx.json_text(schema, place, "type")
        return Part(schema={**wire, **ctx.description(schema, place, frozenset())}, takes_null=True)
    own = _OF_TEXT if kind == "string" else _OF_NUMBER if kind in ("integer", "number") else frozenset[str]()
    keywords = {
        keyword: schema[keyword]
        for keyword in schema
        if keyword in own & ctx.dialect.keywords and _is_taken(ctx.dialect, keyword, schema[keyword])
    }
    unsaid = set(keywords)
    if kind != "string" and schema.get("format") in _NUMBER_FORMATS and "format" not in keywords:
        ctx.lose(place, "format", "dropped")
        unsaid.add("format")
    text = ctx.description(schema, place, frozenset(unsaid))
    return Part(schema={"type": kind, **keywords, **text})


def _is_taken(dialect: Dialect, keyword: str, value: Json) -> bool:
    match keyword:
        case "format":
            return value in dialect.formats
        case "pattern":
            return _is_pattern_taken(dialect, str(value))
        case _:
            return isinstance(value, int | float) and not isinstance(value, bool)


def _is_pattern_taken(dialect: Dialect, pattern: str) -> bool:
    if _LOOKAROUND.search(pattern):
        return False
    if not dialect.has_backreferences and _BACKREFERENCE.search(pattern):
        return False
    most = dialect.budget.repetitions
    counts = [int(count) for match in _REPETITION.findall(pattern) for count in match if count]
    return most is None or all(count <= most for count in counts)


def enum_part(ctx: Context, schema: Schema, kinds: Sequence[str], place: SchemaPlace) -> Part:
    """Return a choice among values, without values that the type of the schema excludes."""
    keyword = "const" if "const" in schema else "enum"
    values = _values([schema["const"]] if keyword == "const" else schema["enum"], kinds)
    takes_null = None in values
    values = [value for value in values if value is not None]
    if any(isinstance(value, dict | list) for value in values):
        return ctx.json_text(schema, place, keyword)
    if not values:
        if not takes_null:
            for lost in sorted(schema.keys() & {"type", "const", "enum"}):
                ctx.lose(place, lost, "dropped", "no value fits")
        return scalar_part(ctx, {**_described(schema), "type": "null"}, "null", place)
    by_kind: dict[str, list[Json]] = {}
    for value in values:
        by_kind.setdefault(types_of(value)[0], []).append(value)
    if {"integer", "number"} <= by_kind.keys():
        by_kind["number"] = [
            value for value in values if isinstance(value, int | float) and value not in (True, False)
        ]
        del by_kind["integer"]
    text = ctx.description(schema, place, frozenset((keyword,)))
    branches = [_of_kind(ctx, kind, own, keyword, place) for kind, own in by_kind.items()]
    codec = SAME if ctx.dialect.has_exact_enums else _codec(values)
    wire = branches[0] if len(branches) == 1 else {"anyOf": branches}
    if "description" in wire and text:
        text = {"description": f"{text['description']} {wire['description']}"}
    return Part(schema={**wire, **text}, codec=codec, takes_null=takes_null)


def _values(values: Sequence[Json], kinds: Sequence[str]) -> list[Json]:
    by_identity: dict[object, Json] = {}
    for value in values:
        if not kinds or set(kinds).intersection(types_of(value)):
            by_identity.setdefault(identity(value), value)
    return list(by_identity.values())


def _of_kind(ctx: Context, kind: str, values: list[Json], keyword: str, place: SchemaPlace) -> Schema:
    most = ctx.enum_size
    characters = ctx.dialect.budget.enum_characters
    size = sum(len(value) for value in values if isinstance(value, str))
    is_large = (most is not None and len(values) > most) or (
        characters is not None and len(values) > 250 and size > characters
    )
    if is_large or kind not in ctx.dialect.enum_kinds:
        words = f"Always {shown(values[0])}." if len(values) == 1 else f"One of: {listed(values)}."
        ctx.lose(place, keyword, "described", words)
        return {"type": kind, "description": words}
    if keyword == "const" and "const" in ctx.dialect.keywords:
        return {"type": kind, "const": values[0]}
    return {"type": kind, "enum": values}


def _codec(values: Sequence[Json]) -> EnumText:
    return EnumText(tuple(value for value in values if isinstance(value, str)))


def _described(schema: Mapping[str, Json]) -> Schema:
    return {key: value for key, value in schema.items() if key == "description"}
