"""The types that can be in each place: paths, queries, headers, cookies, and kinds of bodies."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from toolgen.contract.transport import Media, Place
from toolgen.shapes.fields import (
    ArrayType,
    DataType,
    EnumType,
    MapType,
    NullableType,
    NumberType,
    Objects,
    RefType,
    ScalarType,
    StringType,
    UnionType,
    without_null,
)

from ..types.modules import UNKNOWN

Form: TypeAlias = Literal["unknown", "value", "array", "object", "nested"]
"""Form of a value in a text: a single value, a list or an object of such values, or nested structures."""

_PLACES: Final[dict[Place, tuple[Form, ...]]] = {
    "path": ("value", "array"),
    "query": ("value", "array", "object"),
    "header": ("value", "array"),
    "cookie": ("value", "array"),
}
_BYTES: Final = ScalarType(kind="bytes")
_ANY: Final = ScalarType(kind="any")


def form_of(type_: DataType, objects: Objects) -> Form:
    """Return the form of a type; "unknown" for a reported or a third-party type."""
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
            return "nested" if type_ == _ANY else "value"


def _is_value(type_: DataType, objects: Objects) -> bool:
    """Return whether a type has single values, or might have."""
    match type_:
        case NullableType():
            return _is_value(type_.inner, objects)
        case RefType():
            return _is_opaque(type_, objects)
        case _:
            return not isinstance(type_, ArrayType | MapType | UnionType) and type_ != _ANY


def _is_opaque(type_: RefType, objects: Objects) -> bool:
    return type_ == UNKNOWN or objects[type_.name].foreign is not None


def _is_flat(type_: RefType, objects: Objects) -> bool:
    """Return whether all properties of an object are single values."""
    object_ = objects[type_.name]
    return not object_.open and all(_is_value(field.type, objects) for field in object_.fields)


def can_stand(type_: DataType, place: Place, objects: Objects) -> bool:
    """Return whether values of a type have a text form in this place of a request."""
    form = form_of(type_, objects)
    return form == "unknown" or form in _PLACES[place]


def can_be_body(type_: DataType, media: Media, objects: Objects) -> bool:
    """Return whether values of a type can be a whole body of a request."""
    type_ = without_null(type_)
    if media == "json" or type_ == UNKNOWN:
        return True
    if media == "bytes":
        return can_be_file(type_, objects)
    if media == "text":
        return form_of(type_, objects) in ("unknown", "value")
    return _is_object(type_) or form_of(type_, objects) == "unknown"


def _is_object(type_: DataType) -> bool:
    return isinstance(type_, RefType | MapType | UnionType) or type_ == _ANY


def can_be_file(type_: DataType, objects: Objects) -> bool:
    """Return whether values of a type can be files: bytes, or texts with the URI of an artifact."""
    type_ = without_null(type_)
    is_file = isinstance(type_, StringType) or type_ in (_BYTES, ScalarType(kind="url"))
    return is_file or form_of(type_, objects) == "unknown"


def is_read_from(type_: DataType, source: Media | Literal["header"], objects: Objects) -> bool:
    """Return whether a value of a type can be read from the whole body or a header of a response."""
    type_ = without_null(type_)
    if source == "json" or form_of(type_, objects) == "unknown":
        return True
    if source == "bytes":
        return type_ == _BYTES
    if source == "form":
        return _is_object(type_)
    if isinstance(type_, ArrayType):
        return source == "header" and _is_text(without_null(type_.items))
    is_number = isinstance(type_, NumberType) or type_ == ScalarType(kind="boolean")
    return _is_text(type_) or (source == "header" and is_number)


def _is_text(type_: DataType) -> bool:
    """Return whether values of a type are texts in JSON."""
    if isinstance(type_, EnumType):
        return isinstance(type_.values[0], str)
    return isinstance(type_, StringType) or (
        isinstance(type_, ScalarType) and type_.kind not in ("any", "boolean", "bytes")
    )
