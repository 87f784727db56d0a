"""Keywords of JSON Schema by the kind of their values, and schemas that are embedded in another one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from toolgen.contract.json_pointer import escaped
from toolgen.contract.json_value import Json

Schema = dict[str, Json]

VALUES: Final = frozenset(["const", "default", "enum", "examples"])
"""Keywords whose values are JSON values, not schemas."""
MAPS: Final = frozenset(["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"])
"""Keywords whose value is an object with names as keys."""
REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
"""Keywords that refer to another schema."""
BRANCHES: Final = ("allOf", "anyOf", "oneOf")
CONDITIONS: Final = ("if", "then", "else", "not")
"""Keywords whose schemas apply to the same value (Core 10.2), like `BRANCHES` and `dependentSchemas`."""


def embedded(schema: Schema, place: str) -> Schema:
    """Return the schema with each reference into itself moved to the place, for example `#/$defs/Filter`.

    A reference is a JSON Pointer in a URI fragment (JSON Schema 2020-12 Core 8.2.3.1, RFC 6901).
    """
    return {key: _moved(key, value, place) for key, value in schema.items()}


def any_of(schemas: Mapping[str, Schema]) -> Schema:
    """Return a schema that accepts what any of these schemas accepts, each under its name in `$defs`."""
    if len(schemas) == 1:
        return next(iter(schemas.values()))
    references: list[Json] = [{"$ref": f"#/$defs/{name}"} for name in schemas]
    parts: Json = {name: embedded(schema, f"#/$defs/{name}") for name, schema in schemas.items()}
    return {"anyOf": references, "$defs": parts}


def format_pointers(schema: Json, place: str = "") -> Iterator[str]:
    """Yield the JSON Pointer (RFC 6901) of each `format` in the schema, which is at the place.

    Codecs check none of them: in a third-party schema, `format` is an annotation (JSON Schema 2020-12
    Validation 7.2.1).
    """
    match schema:
        case dict():
            for key, value in schema.items():
                inner = f"{place}/{escaped(key)}"
                if key == "format" and isinstance(value, str):
                    yield inner
                elif key in MAPS and isinstance(value, dict):
                    for name, part in value.items():
                        yield from format_pointers(part, f"{inner}/{escaped(name)}")
                elif key not in VALUES:
                    yield from format_pointers(value, inner)
        case list():
            for index, item in enumerate(schema):
                yield from format_pointers(item, f"{place}/{index}")
        case _:
            pass


def _moved(key: str, value: Json, place: str) -> Json:
    match key, value:
        case "$ref", str() if value == "#" or value.startswith("#/"):
            return place + value.removeprefix("#")
        case _, dict() if key in MAPS:
            return {name: _inside(part, place) for name, part in value.items()}
        case _ if key in VALUES:
            return value
        case _:
            return _inside(value, place)


def _inside(value: Json, place: str) -> Json:
    match value:
        case dict():
            return embedded(value, place)
        case list():
            return [_inside(item, place) for item in value]
        case _:
            return value
