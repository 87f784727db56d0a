"""The JSON texts of catalogues: what many tools have is written once, and its text is shared."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from hashlib import sha256
from json.encoder import encode_basestring_ascii
from typing import Any, Final, TypeAlias, TypeVar

from pydantic_core import PydanticSerializationError, to_json

from toolgen.contract import json_value
from toolgen.contract.json_value import Json
from toolgen.contract.names import TYPES

from .entry import canonical

_T = TypeVar("_T")
_Cache: TypeAlias = defaultdict[str, dict[int, tuple[Any, _T]]]
"""Texts by style, and by the identity of the value."""
_TYPED: Final = frozenset(
    "payload result artifacts errors confirmation long_running ack progress schema".split()
)
"""Keys of an entry below which a `schema` stands, and its own."""
_DIGITS: Final = 32
"""Hexadecimal digits by which schemas are told apart."""
_EMPTY: Final = "\0"
_HOLE: Final = canonical(_EMPTY)
"""What stands in a text in the place of a schema."""
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


class SchemaTexts:
    """Texts by the identity of what they say; nobody may change that meanwhile."""

    def __init__(self) -> None:
        self._written: _Cache[str] = defaultdict(dict)
        self._parts: _Cache[tuple[str, ...]] = defaultdict(dict)
        """The same of schemas with `$defs`, in parts."""

    def compact(self, schema: Json) -> str:
        """Return `compact` of a schema."""
        return _once(self._written, schema, "", compact)

    def digest(self, schema: Json) -> str:
        """Return what equal schemas have in common; "" of one that may refer to a shared type."""
        return _once(self._written, schema, "digest", self._digest)

    def _digest(self, schema: Any) -> str:
        definitions = schema["$defs"] if _has_definitions(schema) else {}
        own = compact({**schema, "$defs": list(definitions)}) if definitions else compact(schema)
        digests = [self.digest(definition) for definition in definitions.values()]
        if f'"{TYPES}' in own or not all(digests):
            return ""
        return sha256("\n".join([own, *digests]).encode()).hexdigest()[:_DIGITS]

    def indented(self, schema: Json, step: str, margin: str) -> str:
        """Return `indented` of a schema."""
        style = f"{step},{margin}"
        return _once(self._written, schema, style, lambda value: indented(value, step, margin))

    def canonical_parts(self, entry: Json) -> Iterator[str]:
        """Yield the parts of `entry.canonical` of an entry, or of something in it."""
        schemas = list[Json]()
        texts = canonical(self._with_holes(entry, schemas)).split(_HOLE)
        if len(texts) != len(schemas) + 1:  # an author's text is that of a hole
            return (yield canonical(entry))
        yield texts[0]
        for schema, text in zip(schemas, texts[1:], strict=True):
            yield from self._schema(schema)
            yield text

    def _with_holes(self, value: Json, schemas: list[Json]) -> Json:
        """Return an entry with a hole for each schema; the schemas are added in the order of the holes."""
        if isinstance(value, list):
            return [self._with_holes(item, schemas) for item in value]
        if not isinstance(value, dict):
            return value
        entry = dict(value)
        for key in sorted(_TYPED & value.keys()):
            if key == "schema":
                schemas.append(value[key])
                entry[key] = _EMPTY
            else:
                entry[key] = self._with_holes(value[key], schemas)
        return entry

    def _schema(self, schema: Json) -> tuple[str, ...]:
        if not _has_definitions(schema):
            return (self._canonical(schema),)
        return _once(self._parts, schema, "canonical", self._with_definitions)

    def _with_definitions(self, schema: Any) -> tuple[str, ...]:
        texts = canonical({**schema, "$defs": _EMPTY}).split(_HOLE)
        if len(texts) != 2:
            return (canonical(schema),)
        before, after = texts
        parts: list[str] = []
        for name, definition in sorted(schema["$defs"].items()):
            parts += (",", f"{encode_basestring_ascii(name)}:", self._canonical(definition))
        return (f"{before}{{", *parts[1:], f"}}{after}")

    def _canonical(self, schema: Json) -> str:
        return _once(self._written, schema, "canonical", canonical)


def _once(cache: _Cache[_T], value: Json, style: str, write: Callable[[Json], _T]) -> _T:
    """Return what is written of a value in a style."""
    values, key = cache[style], id(value)
    if (cached := values.get(key)) is None:
        cached = values[key] = value, write(value)
    return cached[1]


def _has_definitions(schema: Json) -> bool:
    return isinstance(schema, dict) and isinstance(schema.get("$defs"), dict)
