"""The JSON texts of schemas in catalogues: what many tools have is written once, and its text is shared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from json.encoder import encode_basestring_ascii
from typing import Any, Final

from toolgen.contract.json_value import Json, compact, indented

from .entry import canonical, sha256

_TYPED: Final = frozenset(
    "payload result artifacts errors confirmation long_running ack progress schema".split()
)
"""Keys of an entry below which a `schema` stands, and its own."""
_EMPTY: Final = "\0"
_HOLE: Final = canonical(_EMPTY)
"""What stands in a text in the place of a schema."""


class SchemaTexts:
    """Texts by the identity of what they say; nobody may change that meanwhile."""

    def __init__(self) -> None:
        self._written: dict[tuple[int, str], tuple[Any, str]] = {}

    def compact(self, schema: Json) -> str:
        """Return `json_value.compact` of a schema."""
        return self._once(schema, "", compact)

    def compact_parts(self, schema: dict[str, Json], definitions: dict[str, Json]) -> Iterator[str]:
        """Yield texts that are equal for equal schemas, whose `$defs` are the definitions."""
        yield compact({**schema, "$defs": list(definitions)})
        yield from map(self.compact, definitions.values())

    def digest(self, parts: Iterable[str]) -> str:
        """Return the digest of a text in parts."""
        return sha256(*parts)

    def indented(self, schema: Json, step: str, margin: str) -> str:
        """Return `json_value.indented` of a schema."""
        return self._once(schema, f"{step},{margin}", lambda value: indented(value, step, margin))

    def canonical_parts(self, entry: Json) -> Iterator[str]:
        """Yield the parts of `entry.canonical` of an entry, or of something in it."""
        schemas = list[Iterable[str]]()
        texts = canonical(self._with_holes(entry, schemas)).split(_HOLE)
        if len(texts) != len(schemas) + 1:  # an author's text is that of a hole
            return (yield canonical(entry))
        yield texts[0]
        for schema, text in zip(schemas, texts[1:], strict=True):
            yield from schema
            yield text

    def _with_holes(self, value: Json, schemas: list[Iterable[str]]) -> Json:
        """Return an entry with a hole for each schema, whose texts are added in the order of the holes."""
        if isinstance(value, list):
            return [self._with_holes(item, schemas) for item in value]
        if not isinstance(value, dict):
            return value
        entry = dict(value)
        for key in sorted(_TYPED & value.keys()):
            if key == "schema":
                schemas.append(self._schema(value[key]))
                entry[key] = _EMPTY
            else:
                entry[key] = self._with_holes(value[key], schemas)
        return entry

    def _schema(self, schema: Json) -> Iterable[str]:
        if not isinstance(schema, dict) or not isinstance(schema.get("$defs"), dict):
            return (self._canonical(schema),)
        return self._object(
            (key, self._definitions(schema[key]) if key == "$defs" else (canonical(schema[key]),))
            for key in sorted(schema)
        )

    def _definitions(self, definitions: Any) -> Iterator[str]:
        return self._object((name, (self._canonical(definitions[name]),)) for name in sorted(definitions))

    def _canonical(self, schema: Json) -> str:
        return self._once(schema, "canonical", canonical)

    def _object(self, members: Iterable[tuple[str, Iterable[str]]]) -> Iterator[str]:
        before = "{"
        for key, parts in members:
            yield f"{before}{encode_basestring_ascii(key)}:"
            yield from parts
            before = ","
        yield "}" if before == "," else "{}"

    def _once(self, value: Json, style: str, write: Callable[[Json], str]) -> str:
        key = id(value), style
        if (written := self._written.get(key)) is None:
            written = self._written[key] = value, write(value)
        return written[1]
