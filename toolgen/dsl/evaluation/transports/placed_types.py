"""Which types can be sent where: in a path, a query, a header, a cookie, and in each kind of body."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from toolgen.contract.transport import Media, Place
from toolgen.shapes.fields import (
    ArrayType,
    DataType,
    MapType,
    NullableType,
    Objects,
    RefType,
    ScalarType,
    StringType,
    UnionType,
)

from ..types.modules import UNKNOWN

Form: TypeAlias = Literal["unknown", "value", "array", "object", "nested"]
"""What a value is, seen from its text: one, a list or an object of such, or one with structure inside."""

_PLACES: Final[dict[Place, tuple[Form, ...]]] = {
    "path": ("value", "array"),
    "query": ("value", "array", "object"),
    "header": ("value", "array"),
    "cookie": ("value", "array"),
}


def form_of(type_: DataType, objects: Objects) -> Form:
    """Return the form of a type; "unknown" for what was reported, or that somebody else wrote."""
    match type_:
        case NullableType():
            return form_of(type_.inner, objects)
        case ArrayType():
            return "array" if _is_value(type_.items, objects) else "nested"
        case MapType():
            return "object" if _is_value(type_.values, objects) else "nested"
        case UnionType():
            return "object" if all(_is_flat(ref, objects) for _, ref in type_.branches) else "nested"
        case RefType() if not _is_opaque(type_, objects):
            return "object" if _is_flat(type_, objects) else "nested"
        case RefType():
            return "unknown"
        case _:
            return "value" if _is_value(type_, objects) else "nested"


def _is_value(type_: DataType, objects: Objects) -> bool:
    """Return whether a type is of single values, or may be."""
    match type_:
        case NullableType():
            return _is_value(type_.inner, objects)
        case RefType():
            return _is_opaque(type_, objects)
        case _:
            return not isinstance(type_, ArrayType | MapType | UnionType) and type_ != ScalarType(kind="any")


def _is_opaque(type_: RefType, objects: Objects) -> bool:
    return type_ == UNKNOWN or objects[type_.name].foreign is not None


def _is_flat(type_: RefType, objects: Objects) -> bool:
    """Return whether all properties of an object are single values."""
    object_ = objects[type_.name]
    return not object_.open and all(_is_value(field.type, objects) for field in object_.fields)


def can_stand(type_: DataType, place: Place, objects: Objects) -> bool:
    """Return whether values of a type have a text in this place."""
    form = form_of(type_, objects)
    return form == "unknown" or form in _PLACES[place]


def can_be_body(type_: DataType, media: Media, objects: Objects) -> bool:
    """Return whether values of a type are a whole body."""
    type_ = type_.inner if isinstance(type_, NullableType) else type_
    form = form_of(type_, objects)
    if form == "unknown" or media == "json":
        return True
    if media == "bytes":
        return type_ == ScalarType(kind="bytes")
    return form == ("value" if media == "text" else "object")


def can_be_part(type_: DataType, media: Media, objects: Objects) -> bool:
    """Return whether values of a type are a field of a form, or of another body with several."""
    return media != "form" or form_of(type_, objects) in ("unknown", "value", "array")


def can_be_file(type_: DataType, objects: Objects) -> bool:
    """Return whether values of a type are files: bytes, or texts that name an artifact."""
    type_ = type_.inner if isinstance(type_, NullableType) else type_
    is_file = isinstance(type_, StringType) or type_ in (ScalarType(kind="bytes"), ScalarType(kind="url"))
    return is_file or form_of(type_, objects) == "unknown"
