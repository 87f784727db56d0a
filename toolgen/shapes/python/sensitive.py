"""Which values of Python types are sensitive: what `Sensitive` marks in their annotations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias, get_args

from toolgen.contract.json_pointer import pointer_of

from ..sensitive import EVERY

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema

_MARK: Final = "x-toolgen-sensitive"
"""Stands in a JSON Schema between its making and `sensitive_places_of`; nobody else sees it."""
_BRANCHES: Final = ("anyOf", "oneOf", "allOf")
_Path: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sensitive:
    """Marks values that stand in no event, log, span or text for people: `Annotated[str, Sensitive()]`."""

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {**handler(schema), _MARK: True}


def is_marked(annotation: Any) -> bool:
    """Return whether a mark stands in the annotation itself, not in the classes that it names."""
    return isinstance(annotation, Sensitive) or any(map(is_marked, get_args(annotation)))


def sensitive_places_of(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """Return where documents of a schema with marks have sensitive values, as `Codec.sensitive` says it.

    Where a type comes again inside itself, and anything is sensitive, the whole inner value is.
    """
    places = dict.fromkeys(_places(schema, schema.get("$defs", {}), ()))
    return tuple(map(pointer_of, places))


def without_marks(schema: Any) -> Any:
    """Return the JSON Schema as others see it."""
    match schema:
        case dict():
            kept = {key: value for key, value in schema.items() if key != _MARK or value is not True}
            return {key: without_marks(value) for key, value in kept.items()}
        case list():
            return [without_marks(item) for item in schema]
        case _:
            return schema


def _places(schema: Any, defs: Mapping[str, Any], outer: tuple[str, ...]) -> Iterator[_Path]:
    if not isinstance(schema, dict):
        return
    if schema.get(_MARK) is True:
        yield ()
        return
    name = str(schema.get("$ref", "")).removeprefix("#/$defs/")
    if name in outer:
        if without_marks(defs) != defs:
            yield ()
    elif name:
        yield from _places(defs[name], defs, (*outer, name))
    for key, value in schema.get("properties", {}).items():
        yield from ((key, *path) for path in _places(value, defs, outer))
    inner = [*schema.get("patternProperties", {}).values(), schema.get("additionalProperties")]
    for one in (*inner, schema.get("items"), *schema.get("prefixItems", ())):
        yield from ((EVERY, *path) for path in _places(one, defs, outer))
    for keyword in _BRANCHES:
        for branch in schema.get(keyword, ()):
            yield from _places(branch, defs, outer)
