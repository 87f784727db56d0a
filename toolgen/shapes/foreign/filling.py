"""Fills in required properties that a document omits with the defaults of its schema.

Servers, for example those built with pydantic, list properties as required although they have a default,
which the server fills in. So models omit them. Only schemas that always apply are read, and a document that
matches the schema is never changed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from pydantic_core import from_json

from toolgen.contract.json_pointer import referred
from toolgen.contract.json_value import Json, compact

from ..evaluator import IDS, Evaluator, Undecided

_MOST_FILLED: Final = 1_000_000
"""Maximum size of the defaults that are filled into one document, in bytes."""
_LONGEST_CHAIN: Final = 16
"""Maximum number of references in a chain."""
_AROUND: Final = 4
"""Bytes for quotes, colon and comma."""


@dataclass(slots=True, eq=False)
class _Place:
    """The defaults for one value and its parts."""

    defaults: dict[str, tuple[Json, int]] = field(default_factory=dict[str, "tuple[Json, int]"])
    """Values by key, each with its size in a document, in bytes."""
    properties: dict[str, _Place] = field(default_factory=dict[str, "_Place"])
    items: _Place | None = None


def filler_of(schema_json: str) -> Callable[[bytes | str], bytes | str] | None:
    """Return a function that fills documents of the schema, passed as text; None if nothing can be filled.

    Only unconditional parts of the schema are read: below `properties`, `items` for all items and a `$ref`
    into the schema, but not beside a `$ref`. A default is not filled in if it does not fit the schema of its
    property, or if the `Evaluator` cannot decide that.

    The function returns the document unchanged if nothing is absent, if it is not JSON, or if the defaults
    are too large for one document.
    """
    if '"default"' not in schema_json or '"required"' not in schema_json:
        return None
    place = _Places(json.loads(schema_json)).root()
    return None if place is None else partial(_filled, place)


class _Places:
    """Creates the places of one schema, each part of it once."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema = schema
        self._evaluator = Evaluator(schema, Undecided.AS_MISFIT)
        self._by_part: dict[int, _Place] = {}
        self._waiting: list[tuple[Mapping[str, object], _Place]] = []

    def root(self) -> _Place | None:
        root = self._of(self._schema)
        while self._waiting:
            self._read(*self._waiting.pop())
        useful = self._useful()
        for place in useful:
            place.properties = {key: part for key, part in place.properties.items() if part in useful}
            place.items = place.items if place.items in useful else None
        return root if root in useful else None

    def _of(self, schema: Any) -> _Place | None:
        """Return the place of a part, which is read later; None if the part's reference is not certain."""
        if (part := self._followed(schema)) is None:
            return None
        if id(part) not in self._by_part:
            self._by_part[id(part)] = place = _Place()
            self._waiting.append((part, place))
        return self._by_part[id(part)]

    def _followed(self, schema: Any) -> Any:
        """Return the schema behind a chain of JSON Pointers into the document; None if it is not certain.

        References in a part with its own `$id` start at that part (Core 8.2.1), so the result for it is None.
        """
        for _ in range(_LONGEST_CHAIN):
            if not isinstance(schema, Mapping) or not (schema is self._schema or IDS.isdisjoint(schema)):
                return None
            if "$ref" not in schema:
                return schema
            schema = referred(self._schema, schema["$ref"])
        return None

    def _read(self, schema: Mapping[str, Any], place: _Place) -> None:
        properties, required = schema.get("properties"), schema.get("required")
        needed = {key for key in required if isinstance(key, str)} if isinstance(required, list) else set()
        for key, property_ in properties.items() if isinstance(properties, Mapping) else ():
            if (part := self._of(property_)) is not None:
                place.properties[key] = part
            if key in needed and isinstance(property_, Mapping) and "default" in property_:
                default = property_["default"]
                if self._evaluator.fits(property_, default):
                    place.defaults[key] = default, len(compact(key)) + len(compact(default)) + _AROUND
        if "prefixItems" not in schema and isinstance(schema.get("items"), Mapping):
            place.items = self._of(schema["items"])

    def _useful(self) -> set[_Place]:
        """Return the places that have or lead to a default."""
        above: dict[_Place, list[_Place]] = {}
        for place in self._by_part.values():
            for part in (*place.properties.values(), place.items):
                if part is not None:
                    above.setdefault(part, []).append(place)
        waiting = [place for place in self._by_part.values() if place.defaults]
        useful = set(waiting)
        while waiting:
            new = [place for place in above.get(waiting.pop(), ()) if place not in useful]
            useful.update(new)
            waiting += new
        return useful


def _filled(place: _Place, data: bytes | str) -> bytes | str:
    try:
        document = from_json(data, allow_inf_nan=False)
        if not _fill(document, place):
            return data
        return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except (ValueError, TypeError):  # not JSON, or it has a number that is not a float: the codec reports it
        return data


def _fill(document: Json, place: _Place) -> bool:
    """Fill a document; return whether that changed it and all defaults were within the limit."""
    left = _MOST_FILLED
    waiting: list[tuple[Json, _Place]] = [(document, place)]
    while waiting:
        value, place = waiting.pop()
        if isinstance(value, list) and place.items is not None:
            waiting += [(item, place.items) for item in value]
        if isinstance(value, dict):
            inner = place.properties
            waiting += [(part, inner[key]) for key, part in value.items() if key in inner]
            for key, (default, size) in place.defaults.items():
                if key not in value:
                    left -= size
                    if left < 0:
                        return False
                    value[key] = default
    return left < _MOST_FILLED
