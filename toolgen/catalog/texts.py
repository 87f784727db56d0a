"""The JSON texts of catalogues: what many tools have is written once, and its text is shared."""

from __future__ import annotations

import json
import re
from collections.abc import Container
from hashlib import sha256
from json.encoder import encode_basestring_ascii
from typing import Any, Final

from pydantic_core import PydanticSerializationError, from_json, to_json

from toolgen.contract import json_value
from toolgen.contract.json_value import Json
from toolgen.contract.names import TYPES

from .entry import canonical
from .shared_types import UsedType, definitions_of

_DIGITS: Final = 32
"""Hexadecimal digits by which schemas are told apart."""
_EXPONENT: Final = re.compile(r"e-?\d+(?:[,\]}\n]|\Z)")
_SMALL: Final = "0.0000"
"""What small and large floats have in the JSON of pydantic, where Python writes `1e-05` and `1e+16`."""


def indented(value: Json, step: str, margin: str = "") -> str:
    """Return JSON on several lines, characters as they are, in an eighth of the time of `json.dumps`.

    `margin` is that of the line on which the value begins.
    """
    text = _plain_text(value, len(step))
    if text is None:
        text = json.dumps(value, ensure_ascii=False, indent=step)
    return text.replace("\n", f"\n{margin}")


def compact(value: Json) -> str:
    """Return `json_value.compact` of a value, in a third of its time."""
    text = _plain_text(value)
    return json_value.compact(value) if text is None else text


def _plain_text(value: Json, indent: int | None = None) -> str | None:
    """Return JSON as Python writes it; None where pydantic writes it otherwise, or not at all."""
    try:
        text = to_json(value, indent=indent).decode()
    except PydanticSerializationError:  # lone surrogates
        return None
    return None if _SMALL in text or _EXPONENT.search(text) else text


def parsed(text: str) -> Any:
    """Return the value of JSON, in half of the time of `json.loads`."""
    try:
        return from_json(text)
    except ValueError:  # lone surrogates
        return json.loads(text)


class SchemaTexts:
    """Texts of schemas, by the identities of these; nobody may change a schema meanwhile."""

    def __init__(self, shared: Container[int] | None = None) -> None:
        self._shared = shared
        """Identities of schemas that several tools have, whose texts are cached; None for all schemas."""
        self._types: dict[tuple[str, int], tuple[Json, UsedType]] = {}
        self._canonical: dict[int, tuple[Json, str]] = {}
        self._indented: dict[tuple[str, str, str], str] = {}

    def type(self, name: str, schema: Any) -> UsedType:
        """Return what catalogues write of a type."""
        key = name, id(schema)
        if (cached := self._types.get(key)) is not None:
            return cached[1]
        inner = tuple(self._definition(*item) for item in definitions_of(schema).items())
        text = _around_definitions(schema) if inner else (compact(schema),)
        digests = [each.digest for each in inner]
        counted = "\n".join([*text, *digests])
        is_plain = f'"{TYPES}' not in counted and all(digests)
        digest = sha256(counted.encode()).hexdigest()[:_DIGITS] if is_plain else ""
        type_ = UsedType(name, digest, definitions=inner, text=text)
        if self._is_shared(schema):
            self._types[key] = schema, type_
        return type_

    def _definition(self, name: str, schema: Json) -> UsedType:
        type_ = self.type(name, schema)
        if not type_.definitions:
            return type_
        return type_._replace(is_nested=True, definitions=(), text=(compact(schema),))

    def canonical(self, schema: Any) -> str:
        """Return `entry.canonical` of a schema."""
        if (cached := self._canonical.get(id(schema))) is not None:
            return cached[1]
        definitions = definitions_of(schema)
        if any(map(self._is_shared, definitions.values())):
            inner = (
                f"{encode_basestring_ascii(name)}:{self.canonical(definition)}"
                for name, definition in sorted(definitions.items())
            )
            before = canonical({key: value for key, value in schema.items() if key < "$defs"})[1:-1]
            own = f'"$defs":{{{",".join(inner)}}}'
            after = canonical({key: value for key, value in schema.items() if key > "$defs"})[1:-1]
            text = "{" + ",".join(filter(None, (before, own, after))) + "}"
        else:
            text = canonical(schema)
        if self._is_shared(schema):
            self._canonical[id(schema)] = schema, text
        return text

    def indented(self, text: str, step: str, margin: str) -> str:
        """Return `indented` of what a JSON text says."""
        key = text, step, margin
        if key not in self._indented:
            self._indented[key] = indented(parsed(text), step, margin)
        return self._indented[key]

    def _is_shared(self, schema: Json) -> bool:
        return self._shared is None or id(schema) in self._shared


def _around_definitions(schema: dict[str, Any]) -> tuple[str, ...]:
    """Return the JSON of a schema in parts, between which stand those of its definitions."""
    keys = list(schema)
    place = keys.index("$defs")
    before, after = ({key: schema[key] for key in some} for some in (keys[:place], keys[place + 1 :]))
    start = f'{compact(before)[:-1]}{"," if before else ""}"$defs":{{'
    first, *others = (f"{json_value.compact(name)}:" for name in schema["$defs"])
    end = f"}},{compact(after)[1:]}" if after else "}}"
    return (f"{start}{first}", *(f",{name}" for name in others), end)
