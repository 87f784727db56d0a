"""The places of sensitive values in a document, and the redaction of documents.

A place is a JSON Pointer (RFC 6901), in which `*` stands for every item of an array and every key of a map.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from toolgen.contract.json_pointer import pointer_of, tokens_of
from toolgen.contract.json_value import Json
from toolgen.contract.secrets import HIDDEN

from .fields import ArrayType, DataType, MapType, NullableType, Objects, ObjectType, RefType, UnionType

MARKER: Final[Mapping[str, Json]] = {"sensitive": True}
"""What stands in JSON in the place of a sensitive value."""
EVERY: Final = "*"
"""The step of a place to every item or key."""
_Path: TypeAlias = tuple[str, ...]


def sensitive_places(root: ObjectType, objects: Objects) -> tuple[str, ...]:
    """Return where values of an object are sensitive, in the order of its fields, each place once.

    Where a type comes again inside itself and has sensitive fields, the whole inner value is sensitive.
    """
    places = dict.fromkeys(_of_object(root, objects, ()))
    return tuple(pointer_of(path) for path in places)


def _of_object(object_: ObjectType, objects: Objects, outer: tuple[str, ...]) -> Iterator[_Path]:
    for field in object_.fields:
        if field.sensitive:
            yield (field.name,)
            continue
        for path in _of_type(field.type, objects, (*outer, object_.name)):
            yield (field.name, *path)


def _of_type(type_: DataType, objects: Objects, outer: tuple[str, ...]) -> Iterator[_Path]:
    match type_:
        case ArrayType(items=inner) | MapType(values=inner):
            for path in _of_type(inner, objects, outer):
                yield (EVERY, *path)
        case NullableType():
            yield from _of_type(type_.inner, objects, outer)
        case UnionType():
            for _, branch in type_.branches:
                yield from _of_type(branch, objects, outer)
        case RefType(name=name) if name in outer:
            if _has_sensitive(objects[name], objects, set()):
                yield ()
        case RefType():
            yield from _of_object(objects[type_.name], objects, outer)
        case _:
            return


def _has_sensitive(object_: ObjectType, objects: Objects, seen: set[str]) -> bool:
    if object_.name in seen:
        return False
    seen.add(object_.name)
    return any(
        field.sensitive or any(_has_sensitive(objects[name], objects, seen) for name in _names(field.type))
        for field in object_.fields
    )


def _names(type_: DataType) -> Iterator[str]:
    match type_:
        case ArrayType(items=inner) | MapType(values=inner) | NullableType(inner=inner):
            yield from _names(inner)
        case UnionType():
            yield from (branch.name for _, branch in type_.branches)
        case RefType():
            yield type_.name
        case _:
            return


def redacted(value: Any, places: Iterable[str], instead: Json = None) -> Any:
    """Return a copy of a JSON value with `instead`, by default `MARKER`, for what is at the places.

    Null and what is absent stay so.
    """
    mark: dict[str, Json] = dict(MARKER)
    shown: Json = mark if instead is None else instead
    return _redacted(value, [tuple(tokens_of(place)) for place in places], shown)


def for_people(value: Any, places: Iterable[str]) -> Any:
    """Return the copy for texts to people: each sensitive value is `HIDDEN`."""
    return redacted(value, places, HIDDEN)


def _redacted(value: Any, paths: Sequence[_Path], instead: Json) -> Any:
    if value is None or not paths:
        return value
    if () in paths:
        return instead
    match value:
        case dict():
            return {key: _redacted(inner, _below(paths, key), instead) for key, inner in value.items()}
        case list():
            return [_redacted(inner, _below(paths, EVERY), instead) for inner in value]
        case _:
            return value


def values_at(value: Any, places: Iterable[str]) -> Iterator[Any]:
    """Yield the values at the places, of JSON or of what pydantic makes of a model in Python."""
    yield from _values(value, [tuple(tokens_of(place)) for place in places])


def _values(value: Any, paths: Sequence[_Path]) -> Iterator[Any]:
    if value is None or not paths:
        return
    if () in paths:
        yield value
        return
    match value:
        case dict():
            for key, inner in value.items():
                yield from _values(inner, _below(paths, str(key)))
        case list() | tuple():
            for inner in value:
                yield from _values(inner, _below(paths, EVERY))
        case _:
            return


def _below(paths: Sequence[_Path], key: str) -> list[_Path]:
    return [path[1:] for path in paths if path[0] in (key, EVERY)]
