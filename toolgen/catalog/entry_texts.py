"""The entries of a catalogue as texts: what stands in its lines, and what its digests count."""

from __future__ import annotations

import re
from itertools import count
from typing import Any

from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record

from .entry import canonical, digested, sha256
from .shared_types import SharedTypes, UsedType, changed_parts, class_of, typed_parts
from .texts import SchemaTexts, compact, parsed


@frozen_record
class CatalogEntry:
    """One entry of the catalogue, whole."""

    id: str
    text: tuple[str, ...]
    """Its JSON, in parts: between them stand the schemas of the types."""
    types: tuple[UsedType, ...]
    canonical: str
    """What the digest counts."""

    def value(self) -> dict[str, Any]:
        """Return the entry as JSON."""
        value: dict[str, Any] = parsed(SharedTypes(()).line(self.text, self.types))
        return value


def catalog_entry(
    value: dict[str, Json],
    texts: SchemaTexts | None = None,
    *,
    adds_digest: bool = False,
) -> CatalogEntry:
    """Return an entry of the catalogue, with the digest of the tool where it is to be added.

    `texts` are those of other entries with the same schemas.
    """
    texts = texts or SchemaTexts()
    parts = typed_parts(value)
    types = tuple(texts.type(class_of(part), part["schema"]) for part in parts)
    mark = "\0"
    while True:
        holed, hole = _with_holes(value, mark)
        text = hole.split(compact(holed))
        if len(text) == 2 * len(types) + 1:
            break
        mark += "\0"  # a text of the author is that of a hole
    schemas = [texts.canonical(part["schema"]) for part in parts]

    def filled(entry: dict[str, Json]) -> str:
        """Return the canonical text of an entry with holes."""
        pieces = hole.split(canonical(entry))
        pieces[1::2] = [schemas[int(number)] for number in pieces[1::2]]
        return "".join(pieces)

    if adds_digest:
        digest = holed["digest"] = sha256((filled(digested(holed)),))
        text[-1] = f'{text[-1][:-1]},"digest":"{digest}"}}'
    return CatalogEntry(id=str(value["id"]), text=tuple(text[::2]), types=types, canonical=filled(holed))


def _with_holes(entry: dict[str, Json], mark: str) -> tuple[dict[str, Json], re.Pattern[str]]:
    """Return an entry with numbers in the place of its schemas, and how its JSON is split at these."""
    numbers = count()
    holed = changed_parts(entry, lambda part: {**part, "schema": f"{mark}{next(numbers)}"})
    return holed, re.compile(f'"{re.escape(canonical(mark)[1:-1])}([0-9]+)"')
