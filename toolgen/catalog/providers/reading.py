"""Prepares a schema for the dialects of providers: parts that are not JSON Schema are omitted.

Schemas come from third-party servers and files. All code that uses the result of `readable` can rely on the
kinds of the values of keywords, and on a nesting depth of at most `MOST_LEVELS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from typing import Any, Final

from toolgen.contract.json_value import Json
from toolgen.shapes.constraints import LIMITS

from .losses import Loss
from .parts import Schema, SchemaPlace

MOST_LEVELS: Final = 100
"""Maximum nesting depth of schemas, and of arrays and objects in a default, an enum or an example."""
_NAMED: Final = frozenset("properties patternProperties $defs definitions dependentSchemas".split())
_LISTED: Final = frozenset("anyOf oneOf allOf prefixItems".split())
_SINGLE: Final = frozenset(
    "additionalItems additionalProperties unevaluatedProperties propertyNames contains not if then else "
    "unevaluatedItems".split()
)
_EXCLUSIVE: Final = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}


def _is_text(value: Json) -> bool:
    return isinstance(value, str)


def _is_names(value: Json) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_list(value: Json) -> bool:
    return isinstance(value, list) and bool(value)


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and -inf < value < inf


def _is_size(value: Any) -> bool:
    return _is_number(value) and value >= 0 and value == int(value)


def _is_any(value: Json) -> bool:
    return True


_KINDS: Final[Mapping[str, Callable[[Json], bool]]] = {
    **{
        row.keyword: _is_size if row.takes == "length" else _is_number
        for row in LIMITS
        if not row.is_annotation
    },
    **dict.fromkeys(("$ref", "format", "pattern", "description", "title"), _is_text),
    "required": _is_names,
    "enum": _is_list,
    "type": lambda value: _is_text(value) or (_is_names(value) and bool(value)),
    **dict.fromkeys(_NAMED, lambda value: isinstance(value, dict)),
    **dict.fromkeys(_LISTED, _is_list),
    **dict.fromkeys(_SINGLE, lambda value: isinstance(value, dict | bool)),
    "items": lambda value: isinstance(value, dict | bool | list),
}


def readable(schema: Schema) -> tuple[Schema, list[Loss]]:
    """Return the schema without keywords whose value has a wrong kind, and the omitted parts."""
    losses: list[Loss] = []
    read = _read(schema, SchemaPlace(), losses, 1)
    return read if isinstance(read, dict) else {}, losses


def _read(schema: object, place: SchemaPlace, losses: list[Loss], level: int) -> object:
    if isinstance(schema, bool):
        return schema
    if not isinstance(schema, dict) or level > MOST_LEVELS:
        why = "no schema" if level <= MOST_LEVELS else f"more than {MOST_LEVELS} nested schemas"
        losses.append(Loss(path=place.path, keyword="", action="dropped", detail=why))
        return True
    read: Schema = {}
    for keyword, value in _exclusive(schema).items():
        if not _KINDS.get(keyword, _is_any)(value) or _depth(value, keyword) > MOST_LEVELS:
            if value is not None:
                detail = "the value is not valid for this keyword"
                losses.append(Loss(path=place.path, keyword=keyword, action="dropped", detail=detail))
        elif keyword in _NAMED:
            read[keyword] = {
                name: _read(part, place.at(keyword, name), losses, level + 1) for name, part in value.items()
            }
        elif keyword in _LISTED or (keyword == "items" and isinstance(value, list)):
            read[keyword] = [
                _read(part, place.at(keyword, index), losses, level + 1) for index, part in enumerate(value)
            ]
        elif keyword in _SINGLE or keyword == "items":
            read[keyword] = _read(value, place.at(keyword), losses, level + 1)
        else:
            read[keyword] = value
    return read


def _exclusive(schema: Schema) -> Schema:
    """Return the schema with the boolean bounds of draft-04 in the form of later drafts."""
    result = dict(schema)
    for exclusive, limit in _EXCLUSIVE.items():
        if isinstance(result.get(exclusive), bool):
            is_exclusive = result.pop(exclusive)
            if is_exclusive and _is_number(result.get(limit)):
                result[exclusive] = result.pop(limit)
    return result


def _depth(root: Json, keyword: str) -> int:
    """Return the nesting depth of a value that is not a schema, at most `MOST_LEVELS`."""
    if keyword in _NAMED or keyword in _LISTED or keyword in _SINGLE or keyword == "items":
        return 0
    depth, inner = 0, [root]
    while inner and depth <= MOST_LEVELS:
        inner = [
            part
            for value in inner
            if isinstance(value, dict | list)
            for part in (value.values() if isinstance(value, dict) else value)
        ]
        depth += bool(inner)
    return depth
