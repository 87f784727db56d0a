"""A schema rewritten into the keywords of a provider, with the codec of the arguments.

The tool's own schema stays the only validator. The codec reverses each change of structure, and each dropped
keyword is described in words and recorded as a loss.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from toolgen.contract.json_pointer import definition_of
from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record
from toolgen.shapes.constraints import Holder, held_by, lengths_of

from .budgets import nodes
from .codecs import SAME, ArgumentCodec, Wrapped
from .dialects import Dialect
from .losses import Loss
from .merging import UnmergeableError
from .objects import array_part, object_part
from .parts import Context, Part, Schema, SchemaPlace
from .scalars import enum_part, scalar_part
from .sentences import joined
from .unions import (
    flattened,
    merged_part,
    reference_part,
    resolved,
    union_part,
    with_loss_keyword,
    without_annotations,
)

ARGUMENTS: Final = "arguments"
"""The only property of the object that replaces arguments that are not a plain object."""
_KINDS: Final = ("string", "number", "integer", "boolean", "object", "array", "null")
_HINTS: Final[Mapping[str, tuple[str, ...]]] = {
    "object": ("properties", "additionalProperties", "required", "patternProperties", "propertyNames"),
    "array": ("items", "prefixItems", *lengths_of("array")),
}


@frozen_record
class Rewritten:
    """The schema of a tool's arguments in the form for a provider."""

    schema: Schema
    codec: ArgumentCodec
    losses: tuple[Loss, ...]
    description: str = ""
    """Sentences about the arguments for the description of the tool."""


def rewritten(schema: Schema, dialect: Dialect, enum_size: int | None) -> Rewritten:
    """Return the schema in the keywords of a dialect; larger enums become words.

    Raises:
        NotStrictError: the keywords cannot express it.
    """
    defs: dict[str, Schema] = {}
    ctx = Context(
        dialect=dialect,
        root=schema,
        project=_part,
        enum_size=enum_size,
        defs=defs,
    )
    root = resolved(ctx, schema)
    root = root if isinstance(root, dict) else {"type": "object"}
    place = SchemaPlace()
    try:
        flat = flattened(ctx, root)
        part, description = _root_part(ctx, flat, place)
    except UnmergeableError:
        part, description = _wrapped(ctx, schema, place), ""
    defs = _referred(ctx, part.schema)
    wire = {**part.schema, "$defs": defs} if defs else part.schema
    losses = [*ctx.losses, *(loss for name in defs for loss in ctx.losses_of.get(name, ()))]
    return Rewritten(schema=wire, codec=part.codec, losses=tuple(losses), description=description)


def _referred(ctx: Context, wire: Schema) -> dict[str, Schema]:
    """Return the parts of `$defs` that the provider's schema refers to, in their order."""
    reached: set[str] = set()
    todo = [wire]
    while todo:
        names = {definition_of(node["$ref"]) for node in nodes(todo.pop()) if "$ref" in node}
        todo += [ctx.defs[name] for name in names - reached]
        reached |= names
    return {name: part for name, part in ctx.defs.items() if name in reached}


def _root_part(ctx: Context, flat: Schema, place: SchemaPlace) -> tuple[Part, str]:
    kinds = flat.get("type", "object")
    is_object = kinds == "object" or (isinstance(kinds, list) and "object" in kinds)
    if not is_object or {"enum", "const"} & flat.keys():
        return _wrapped(ctx, flat, place), ""
    words = ""
    for keyword in ("anyOf", "oneOf"):
        if keyword not in flat:
            continue
        if not all(_says_required(branch) for branch in flat[keyword]):
            return _wrapped(ctx, {**flat, "type": "object"}, place), ""
        groups = [" and ".join(branch.get("required", ())) for branch in flat[keyword]]
        words = joined(words, f"Give {' or '.join(filter(None, groups))}.")
        ctx.lose(place, keyword, "described", words)
    object_schema = {
        key: value for key, value in flat.items() if key not in ("anyOf", "oneOf", "description", "default")
    }
    part = object_part(ctx, object_schema, place, is_root=True)
    own = frozenset(
        "properties required additionalProperties patternProperties propertyNames examples".split()
    )
    return part, joined(words, ctx.description(object_schema, place, own).get("description", ""))


def _says_required(branch: Json) -> bool:
    """Return whether a branch of the root only defines required keys."""
    return isinstance(branch, dict) and without_annotations(branch).keys() == {"required"}


def _wrapped(ctx: Context, schema: object, place: SchemaPlace) -> Part:
    inner = ctx.part(schema, place)
    wire: Schema = {"type": "object", "properties": {ARGUMENTS: inner.schema}, "required": [ARGUMENTS]}
    if "additionalProperties" in ctx.dialect.keywords:
        wire["additionalProperties"] = False
    return Part(schema=wire, codec=Wrapped(ARGUMENTS, inner.codec))


def _part(ctx: Context, schema: Json, place: SchemaPlace) -> Part:
    """Return any part of a schema; see `Context.part`."""
    if schema is False:
        ctx.lose(place, "", "dropped", "no value fits")
    if not isinstance(schema, dict):
        return _untyped(ctx, {}, place)
    try:
        flat = flattened(ctx, schema)
    except UnmergeableError:
        return ctx.json_text(schema, place, "allOf" if "allOf" in schema else "$ref")
    if flat is not schema and "$ref" not in flat:
        return merged_part(ctx, schema, flat, place)
    schema = flat
    if "$ref" in schema:
        return reference_part(ctx, schema, place)
    if "anyOf" in schema or "oneOf" in schema:
        return union_part(ctx, schema, place)
    kinds = _kinds(schema)
    if "const" in schema or isinstance(schema.get("enum"), list):
        return enum_part(ctx, schema, kinds, place)
    others = [kind for kind in kinds if kind != "null"]
    if not kinds:
        return _untyped(ctx, schema, place)
    if len(others) > 1:
        return _of_kinds(ctx, schema, kinds, place)
    part = _of_kind(ctx, schema, others[0] if others else "null", place)
    takes_null = "null" in kinds or schema.get("nullable") is True
    return Part(schema=part.schema, codec=part.codec, takes_null=takes_null)


def _kinds(schema: Schema) -> Sequence[str]:
    """Return the types that a schema declares or implies by its keywords; none if there are none."""
    kinds = schema.get("type")
    if isinstance(kinds, str):
        return (kinds,) if kinds in _KINDS else ()
    if isinstance(kinds, list):
        members = [kind for kind in kinds if kind in _KINDS and not (kind == "integer" and "number" in kinds)]
        return members if len(members) < len(_KINDS) - 1 else ()
    if "const" in schema or "enum" in schema:
        return ()
    return tuple(kind for kind, keywords in _HINTS.items() if schema.keys() & set(keywords))[:1]


def _of_kinds(ctx: Context, schema: Schema, kinds: Sequence[str], place: SchemaPlace) -> Part:
    """Return a schema of several types as a union of single types."""
    shared = {
        key: value for key, value in schema.items() if key in ("description", "title", "default", "examples")
    }
    rest = {key: value for key, value in schema.items() if key not in shared}
    union = {**shared, "anyOf": [{**_own(rest, kind), "type": kind} for kind in kinds]}
    return with_loss_keyword(ctx, "anyOf", "type", place, partial(union_part, ctx, union, place))


_FURTHER: Final[Mapping[Holder, str]] = {
    "string": "contentEncoding",
    "number": "",
    "array": "items prefixItems contains",
    "map": "properties required additionalProperties patternProperties propertyNames dependentRequired",
}
"""Keywords that apply to values of only one type, in addition to the type's constraints."""
_OWN: Final[Mapping[str, frozenset[str]]] = {
    "object" if holder == "map" else holder: frozenset(
        (*(row.keyword for row in held_by(holder) if row.takes != "choice"), *further.split())
    )
    for holder, further in _FURTHER.items()
}


def _own(schema: Schema, kind: str) -> Schema:
    """Return the keywords that apply to values of a type."""
    kind = "number" if kind == "integer" else kind
    foreign = frozenset().union(*(names for other, names in _OWN.items() if other != kind))
    return {key: value for key, value in schema.items() if key not in foreign}


def _of_kind(ctx: Context, schema: Schema, kind: str, place: SchemaPlace) -> Part:
    match kind:
        case "object":
            return object_part(ctx, schema, place)
        case "array":
            return array_part(ctx, schema, place)
        case _:
            return scalar_part(ctx, schema, kind, place)


def _untyped(ctx: Context, schema: Schema, place: SchemaPlace) -> Part:
    if ctx.dialect.has_untyped:
        return Part(schema=ctx.description(schema, place, frozenset()), codec=SAME, takes_null=True)
    return ctx.json_text(schema, place, "type")
