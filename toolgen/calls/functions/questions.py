"""Questions whose answer has a Python type: a JSON Schema that clients support, and the codec of answers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, TypeVar

from toolgen.contract.json_pointer import referred
from toolgen.contract.json_value import Json

from ..answer_schema import checked_schema
from ..errors import MalformedResultError
from .type_codec import TypeCodec

T = TypeVar("T")

_MOST_TYPES: Final = 256
"""Maximum number of types whose codecs are cached."""


def question_codec(type_: type[T]) -> TypeCodec[T]:
    """Return the codec of answers of a type.

    Raises:
        MalformedResultError: the type has no JSON Schema.
    """
    key: Any = type_
    codec: TypeCodec[T] = _codec(key)
    return codec


@lru_cache(maxsize=_MOST_TYPES)
def _codec(type_: object) -> TypeCodec:
    try:
        return TypeCodec(type_, getattr(type_, "__name__", "answer"))
    except ValueError as error:
        raise MalformedResultError(f"{type_!r} cannot be the type of an answer: {error}") from error


def question_schema(type_: type[Any]) -> dict[str, Json]:
    """Return the JSON Schema that asks for a value of the type.

    Raises:
        MalformedResultError: the type has no JSON Schema, or one that clients do not support.
    """
    codec = question_codec(type_)
    schema = codec.schema
    definitions: Mapping[str, Any] = schema.pop("$defs", {})
    flat = _resolved(schema, definitions)
    if "properties" in flat:
        flat["properties"] = {name: _resolved(part, definitions) for name, part in flat["properties"].items()}
    elif "enum" not in flat:
        flat.pop("title", None)  # the class name, for example `str`, is useless to a person
    try:
        checked_schema({"type": "any", **flat})  # a type that accepts anything is not a question
    except MalformedResultError as error:
        raise MalformedResultError(f"{codec.name} cannot be the type of an answer: {error}") from error
    return flat


def _resolved(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema with its reference replaced by the referenced definition."""
    target = referred({"$defs": definitions}, schema.get("$ref"))
    keywords = {key: value for key, value in schema.items() if key not in ("$ref", "examples")}
    return {**(target or {}), **keywords}
