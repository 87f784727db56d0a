"""Unions and references in the dialect of a provider."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from toolgen.contract.json_pointer import definition_of, referred
from toolgen.contract.json_value import Json, compact
from toolgen.shapes.evaluator import may_fit

from .codecs import SAME, BranchCodec, JsonText, Pairs, Reference, Union
from .exclusive import are_exclusive
from .merging import UnmergeableError, merged
from .parts import Context, NotStrictError, Part, Schema, SchemaPlace, with_description
from .sentences import alternatives

_MOST_UNROLLED = 3
"""Maximum number of times that a recursive schema is expanded if references must be."""
_MOST_OPEN = 12
"""Maximum nesting depth of expanded references."""
_MOST_MERGED = 20
"""Maximum nesting depth of `allOf`."""
_ANNOTATIONS = frozenset(
    "title description default examples example deprecated readOnly writeOnly $comment discriminator "
    "$schema $id $defs definitions".split()
)


def without_annotations(schema: Schema) -> Schema:
    """Return the keywords that constrain values."""
    return {
        key: value for key, value in schema.items() if key not in _ANNOTATIONS and not key.startswith("x-")
    }


def flattened(ctx: Context, schema: Schema, depth: int = 0) -> Schema:
    """Return the schema without `allOf`, and with only annotations beside a reference.

    Raises:
        UnmergeableError: no simple schema is equivalent.
    """
    ctx.merged += 1
    if depth > _MOST_MERGED or ctx.merged > ctx.dialect.budget.nodes:
        raise UnmergeableError("allOf refers to itself or has too many parts")
    parts = schema.get("allOf")
    reference = schema.get("$ref")
    rest = {key: value for key, value in schema.items() if key not in ("allOf", "$ref")}
    if isinstance(reference, str) and (parts or without_annotations(rest)):
        parts = [*(parts or ()), {"$ref": reference}]
        reference = None
    if reference is not None or not parts:
        return schema
    if (
        len(parts) == 1
        and not without_annotations(rest)
        and isinstance(parts[0], dict)
        and "$ref" in parts[0]
    ):
        return flattened(ctx, {**parts[0], **rest}, depth + 1)
    for part in parts:
        part = resolved(ctx, part)
        if isinstance(part, dict):
            rest = merged(rest, flattened(ctx, part, depth + 1))
        elif part is False:
            raise UnmergeableError("a part of allOf is false")
    return rest


def resolved(ctx: Context, schema: Any) -> Any:
    """Return the target of a reference that has only annotations beside it; other schemas unchanged."""
    for _ in range(20):
        if not (isinstance(schema, dict) and isinstance(schema.get("$ref"), str)):
            break
        if without_annotations({key: value for key, value in schema.items() if key != "$ref"}):
            break
        schema = referred(ctx.root, schema["$ref"])
    return schema


def reference_part(ctx: Context, schema: Schema, place: SchemaPlace) -> Part:
    """Return a reference into `$defs`, or its target if the provider does not support references."""
    reference = str(schema["$ref"])
    target = referred(ctx.root, reference)
    if target is None:
        return ctx.json_text({**schema, "$ref": None}, place, "$ref")
    takes_null = may_fit(ctx.root, target, None)
    text = ctx.description(schema, place, frozenset(("$ref",)))
    inner = SchemaPlace(reference.removeprefix("#"))
    if "$ref" not in ctx.dialect.keywords:
        return _inlined(ctx, target, reference, SchemaPlace(inner.path, place.level), text, place)
    if not ctx.dialect.has_recursion and reference in ctx.open:
        raise NotStrictError(f"{reference} refers to itself")
    if reference not in ctx.names:
        ctx.names[reference] = _definition_name(reference, set(ctx.names.values()))
        ctx.open.append(reference)
        ctx.define(ctx.names[reference], target, inner)
        ctx.open.pop()
    name = ctx.names[reference]
    part = Part(schema={"$ref": f"#/$defs/{name}"}, codec=Reference(ctx.codecs, name), takes_null=takes_null)
    return with_description(part, text)


def merged_part(ctx: Context, schema: Schema, flat: Schema, place: SchemaPlace) -> Part:
    """Return a part that was merged from several, as a part of `$defs` if it is recursive.

    `flat` is the schema as `flattened` returns it.

    Raises:
        NotStrictError: it is recursive, and the provider does not accept recursion.
    """
    key = compact(schema)
    count = ctx.open.count(key)
    if not count or "$ref" not in ctx.dialect.keywords:
        if count and (count >= _MOST_UNROLLED or _has_no_room(ctx)):
            return ctx.json_text(schema, place, "$ref")
        ctx.open.append(key)
        part = ctx.part(flat, place)
        ctx.open.pop()
        if key not in ctx.names:
            return part
        ctx.keep(ctx.names[key], part)
    elif not ctx.dialect.has_recursion:
        raise NotStrictError(f"{place.path or '#'} refers to itself")
    if key not in ctx.names:
        ctx.names[key] = _definition_name(place.path, set(ctx.names.values()))
    name = ctx.names[key]
    takes_null = may_fit(ctx.root, flat, None)
    return Part(schema={"$ref": f"#/$defs/{name}"}, codec=Reference(ctx.codecs, name), takes_null=takes_null)


def _has_no_room(ctx: Context) -> bool:
    """Return whether no further reference is expanded."""
    return len(ctx.open) > _MOST_OPEN or ctx.nodes > ctx.dialect.budget.nodes


def _inlined(
    ctx: Context, target: object, reference: str, inner: SchemaPlace, text: Schema, place: SchemaPlace
) -> Part:
    if ctx.open.count(reference) >= _MOST_UNROLLED or _has_no_room(ctx):
        return with_description(ctx.json_text(target, place, "$ref"), text)
    ctx.open.append(reference)
    part = ctx.part(target, inner)
    ctx.open.pop()
    return with_description(part, text)


def _definition_name(reference: str, taken: set[str]) -> str:
    last = reference.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
    name = re.sub(r"[^a-zA-Z0-9_]", "_", last.removeprefix("#"))[:60] or "Arguments"
    while name in taken:
        name += "_"
    return name


def union_part(ctx: Context, schema: Schema, place: SchemaPlace) -> Part:
    """Return a union: as an enum if its branches are values, otherwise as `anyOf`.

    It stays a union only if the value from the model determines the branch.
    """
    keyword = "anyOf" if "anyOf" in schema else "oneOf"
    if {"anyOf", "oneOf"} <= schema.keys():
        return ctx.json_text(schema, place, "oneOf")
    rest = {key: value for key, value in schema.items() if key != keyword}
    if (words := alternatives(schema[keyword])) is not None:
        ctx.lose(place, keyword, "described", words)
        description = " ".join(filter(None, (str(rest.get("description") or "").strip(), words)))
        return ctx.part({**rest, "description": description}, place)
    if values := _labelled_values(schema[keyword]):
        return with_loss_keyword(ctx, "enum", keyword, place, partial(ctx.part, _enum(rest, values), place))
    try:
        branches = _branches(ctx, rest, schema[keyword], keyword, place)
    except UnmergeableError:
        return ctx.json_text(schema, place, keyword)
    return _any_of(ctx, schema, branches, keyword, place)


def with_loss_keyword(
    ctx: Context, keyword: str, own: str, place: SchemaPlace, make: Callable[[], Part]
) -> Part:
    """Return a part created from a keyword that is not the schema's own; losses refer to its own one."""
    count = len(ctx.losses)
    part = make()
    prefix = f"{place.path}/{keyword}/"
    for index, loss in enumerate(ctx.losses[count:], count):
        if loss.path == place.path and loss.keyword == keyword:
            ctx.losses[index] = replace(loss, keyword=own)
        elif loss.path.startswith(prefix):
            _, _, inner = loss.path.removeprefix(prefix).partition("/")
            ctx.losses[index] = replace(loss, path="/".join((place.path, *([inner] if inner else []))))
    return part


def _labelled_values(branches: Sequence[Any]) -> list[Schema]:
    """Return the branches if each is a constant, otherwise none."""
    is_enum = all(isinstance(branch, dict) and "const" in branch for branch in branches)
    return list(branches) if is_enum else []


def _enum(rest: Schema, branches: list[Schema]) -> Schema:
    lines = [
        f"{branch['const']}: {branch.get('description') or branch.get('title')}"
        for branch in branches
        if branch.get("description") or branch.get("title")
    ]
    text = "\n".join(filter(None, (str(rest.get("description") or "").strip(), *lines)))
    return {
        **rest,
        "enum": [branch["const"] for branch in branches],
        **({"description": text} if text else {}),
    }


def _branches(
    ctx: Context, rest: Schema, branches: Sequence[Any], keyword: str, place: SchemaPlace
) -> list[tuple[object, SchemaPlace]]:
    """Return the branches, each with the keywords beside the union, which apply to all branches.

    Raises:
        UnmergeableError: a branch cannot be merged with these keywords.
    """
    outer = without_annotations(rest)
    full = []
    for index, branch in enumerate(branches):
        own = resolved(ctx, branch)
        at = place.at(keyword, index)
        has_all = not outer or (
            outer.keys() == {"type"} and isinstance(own, dict) and own.get("type") == outer["type"]
        )
        if has_all:
            full.append((branch, at))
        elif own is not branch:  # merged when it is projected, as it can be recursive
            flattened(ctx, both := {"allOf": [branch, outer]})
            full.append((both, at))
        elif own is not False:
            full.append((merged(own, outer) if isinstance(own, dict) else outer, at))
    return full


def _any_of(
    ctx: Context, schema: Schema, branches: list[tuple[Any, SchemaPlace]], keyword: str, place: SchemaPlace
) -> Part:
    takes_null = any(may_fit(ctx.root, branch, None) for branch, _ in branches)
    others = [(branch, at) for branch, at in branches if not _is_null(ctx, branch)]
    if not others:
        return ctx.part({"type": "null"}, place)
    count = len(ctx.losses)
    parts = [(branch, ctx.part(branch, at)) for branch, at in others]
    text = ctx.description(
        schema, place, frozenset((keyword, "type", "properties", "required", "additionalProperties"))
    )
    if len(parts) == 1:
        _, part = parts[0]
        own = Part(schema=part.schema, codec=part.codec, takes_null=takes_null)
        return with_description(own, _with_own(text, part.schema)) if text else own
    if _is_ambiguous(ctx, [part for _, part in parts]):
        del ctx.losses[count:]
        return ctx.json_text(schema, place, keyword)
    if keyword == "oneOf" and not are_exclusive([resolved(ctx, branch) for branch, _ in others]):
        ctx.lose(place, keyword, "dropped", "values that match two branches can be sent")
    wires: list[Schema] = []
    for _, part in parts:
        for wire in part.schema["anyOf"] if part.schema.keys() == {"anyOf"} else [part.schema]:
            if wire not in wires:
                wires.append(wire)
    codecs = [BranchCodec(schema=branch, wire=part.schema, codec=part.codec) for branch, part in parts]
    is_same = all(each.codec is SAME for each in codecs)
    codec = SAME if is_same else Union(branches=codecs, own=ctx.root, wire={"$defs": ctx.defs})
    wire = wires[0] if len(wires) == 1 else {"anyOf": wires}
    return with_description(Part(schema=wire, codec=codec, takes_null=takes_null), text)


def _with_own(text: Schema, wire: Schema) -> Schema:
    """Return the description of a union, followed by the description of its only branch."""
    inner = wire.get("description", "")
    if not inner or inner in text["description"]:
        return text
    return {"description": f"{text['description']}{chr(10) if chr(10) in inner else ' '}{inner}"}


def _is_null(ctx: Context, schema: Json) -> bool:
    own = resolved(ctx, schema)
    return isinstance(own, dict) and (own.get("type") == "null" or own.get("const", ...) is None)


def _is_ambiguous(ctx: Context, parts: Sequence[Part]) -> bool:
    """Return whether one value from the model could belong to two branches."""
    if any(not part.schema or part.schema.keys() == {"description"} for part in parts):
        return True
    kinds = [set(_kinds(ctx, part.schema, set())) for part in parts]
    for index, part in enumerate(parts):
        if isinstance(part.codec, JsonText | Pairs):
            others = set().union(*kinds[:index], *kinds[index + 1 :])
            if kinds[index] & others:
                return True
    return False


def _kinds(ctx: Context, wire: Schema, seen: set[str]) -> Iterator[str]:
    """Yield the types that a provider's schema accepts; `seen` are parts of `$defs` already visited."""
    name = definition_of(wire.get("$ref"))
    if name in ctx.defs and name not in seen:
        seen.add(name)
        yield from _kinds(ctx, ctx.defs[name], seen)
    for branch in wire.get("anyOf", ()):
        yield from _kinds(ctx, branch, seen)
    kinds = wire.get("type", ())
    yield from [kinds] if isinstance(kinds, str) else kinds
