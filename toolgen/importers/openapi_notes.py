"""The ledger of the schemas of an OpenAPI document: each keyword that no clause expresses.

A component is compared with its type, or at its uses if it has no type. A keyword has one finding, which
names each component once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

from toolgen.contract.findings import Finding
from toolgen.contract.json_pointer import tokens_of
from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record
from toolgen.shapes.foreign.reader.keywords import CONSTRAINTS, children

from . import codes
from .clauses_built import BuiltDesign
from .codes import finding_at
from .contradictions import contradictions
from .ledger import STRUCTURE, Notes, Place, notes_of, place_of
from .openapi_components import Components, Direction, hides_property
from .openapi_document import UnreadableError, component_name, listed, mapping
from .openapi_schemas import BESIDE_REFERENCES
from .openapi_texts import first_of, place_count, tally
from .pointers import joined

_EXTENSIONS: Final = "x-"
_MAPPING: Final = "discriminator.defaultMapping"
_HINT: Final = "add it to a description if models should read it"
_MAPPING_HINT: Final = "map values that the property can have to branches of the union"
_READ: Final = STRUCTURE | {"discriminator", "readOnly", "writeOnly"}
"""OpenAPI keywords that determine which values are valid in which direction."""
_FLAGS: Final = ("$ref", "readOnly", "writeOnly")
"""Keywords that are read next to a reference in OpenAPI 3.0 without a finding."""
_OF_WHOLE: Final = ("title", "description", "example", "examples")
"""Annotations that an object does not inherit through `allOf`."""
_MEANT: Final = ("nullable", "default", "deprecated")
"""Keywords that are used next to a reference although OpenAPI 3.0 ignores them, except texts for readers."""


@frozen_record
class NotedSchema:
    """A schema of the document, and the classes written for it."""

    schema: object
    pointer: str
    direction: Direction
    name: str
    """Name of the component or the operation in the document."""
    written: tuple[str, ...]
    """Classes of the design for this schema."""
    without: str = ""
    """Tag property of the unions of which it is a branch; "" for none."""


class SchemaLedger:
    """Compares the schemas of a document with a design."""

    def __init__(self, components: Components, built: BuiltDesign, types: Collection[str]) -> None:
        self._components = components
        self._api = components.api
        self._types = frozenset(types)
        self._root = {"$defs": built.schemas()}
        self._last: tuple[tuple[str, ...], Notes] | None = None
        """The classes that were read last, with their notes."""
        self._looked: set[str] = set()
        self._meant: dict[str, None] = {}
        self._foreign: dict[str, None] = {}
        self._ignored: dict[str, None] = {}

    def findings(self, sources: Iterable[NotedSchema], reported: Iterable[Finding]) -> Iterator[Finding]:
        """Yield grouped findings about lost keywords, and findings about contradictions not reported yet."""
        odd = {each.place.pointer or "" for each in reported if each.code == codes.ODD_SCHEMA.name}
        missing = {each.place.pointer or "" for each in reported if each.code == codes.LEFT_OUT.name}
        lost: dict[str, dict[str, list[str]]] = {}
        seen: set[str] = set()
        for source in sources:
            written = tuple(name for name in source.written if name in self._root["$defs"])
            for place, keyword, value, pointer in self._notes_in(source) if written else ():
                if pointer in seen or self._notes_of(written).hold(place, keyword, value):
                    continue
                named = missing | odd if keyword in ("example", "examples") else missing
                if pointer not in odd and named.isdisjoint(_above(pointer)):
                    seen.add(pointer)
                    kind = _EXTENSIONS if keyword.startswith("x-") else keyword
                    lost.setdefault(kind, {}).setdefault(_owner(pointer, source), []).append(pointer)
            for schema, pointer, is_mapped in self._reached(source):
                yield from self._odd(schema, pointer)
                yield from self._unread_mappings(schema, pointer) if is_mapped else ()
        for keyword, owners in lost.items():
            yield _lost(keyword, owners)
        yield from self._beside_references()

    def _note_beside(self, keyword: str, pointer: str) -> None:
        if keyword in _MEANT:
            self._meant.setdefault(pointer)
        elif keyword not in (*BESIDE_REFERENCES, "example"):
            self._ignored.setdefault(pointer)

    def _beside_references(self) -> Iterator[Finding]:
        """Yield findings about keywords next to references that are used or ignored."""
        if self._meant:
            message = f"{_counted(self._meant)} next to $ref is used, although OpenAPI 3.0 ignores it"
            hint = "move it next to allOf: [{$ref: …}]"
            yield finding_at(codes.REPAIRED_SCHEMA, next(iter(self._meant)), message, hint=hint)
        if self._foreign:
            message = f"{_counted(self._foreign)} is read as in OpenAPI 3.0; later versions do not have it"
            hint = 'write type: [..., "null"]'
            yield finding_at(codes.REPAIRED_SCHEMA, next(iter(self._foreign)), message, hint=hint)
        if self._ignored:
            message = f"{_counted(self._ignored)} next to $ref is ignored, as in OpenAPI 3.0"
            hint = "move it next to allOf: [{$ref: …}] if it should be used"
            yield finding_at(codes.NOTE_LEFT_OUT, next(iter(self._ignored)), message, hint=hint)

    def _reached(self, source: NotedSchema) -> Iterator[tuple[object, str, bool]]:
        """Yield a schema and each one that it refers to, once for all sources.

        Each has its address, and whether it contains a discriminator.
        """
        waiting: list[tuple[object, str]] = [(source.schema, source.pointer)]
        while waiting:
            root, address = waiting.pop()
            if address in self._looked:
                continue
            self._looked.add(address)
            is_mapped = False
            inner: list[object] = [root]
            while inner:
                schema = inner.pop()
                if isinstance(schema, dict):
                    inner += [part for _, part in children(schema)]
                    is_mapped = is_mapped or "discriminator" in schema
                    if isinstance(reference := schema.get("$ref"), str):
                        with suppress(UnreadableError):  # reported at its place
                            target = self._api.address(reference, address)
                            waiting.append((self._api.find(target), target))
            yield root, address, is_mapped

    def _odd(self, root: object, pointer: str) -> Iterator[Finding]:
        """Yield the contradictions in a schema."""

        def follow(reference: str, place: str) -> tuple[Any, str] | None:
            try:
                address = self._api.address(reference, place)
                return self._api.find(address), address
            except UnreadableError:
                return None

        found = contradictions(root, pointer, follow, takes_nullable=True, is_3_0=self._api.is_3_0)
        for place, fault, hint in found:
            yield finding_at(codes.ODD_SCHEMA, place, fault, hint=hint)

    def _unread_mappings(self, root: object, at: str) -> Iterator[Finding]:
        """Yield a finding for each discriminator that cannot be read completely."""
        waiting: list[tuple[object, str]] = [(root, at)]
        while waiting:
            schema, pointer = waiting.pop()
            if not isinstance(schema, dict):
                continue
            waiting += [(inner, joined(pointer, *tokens)) for tokens, inner in children(schema)]
            if "discriminator" not in schema:
                continue
            faults: list[str] = []
            with suppress(UnreadableError):  # reported at its place
                found = self._components.unread_mappings(schema, pointer)
                faults += (f"{key!r}: {why}" for key, why in found)
            if faults:
                place = joined(pointer, "discriminator")
                message = f"the discriminator cannot be read for {first_of(faults, '; ')}"
                yield finding_at(codes.LEFT_OUT, place, message, hint=_MAPPING_HINT)

    def _notes_of(self, classes: tuple[str, ...]) -> Notes:
        """Return the notes of classes in the design, read once for consecutive equal classes."""
        if self._last is None or self._last[0] != classes:
            parts = [self._root["$defs"][name] for name in classes]
            self._last = classes, notes_of(self._root, {"allOf": parts}, self._types)
        return self._last[1]

    def _notes_in(self, source: NotedSchema) -> Iterator[tuple[Place, str, Json, str]]:
        """Yield place, keyword, value and address of each note in a schema, without notes of other types."""
        waiting: list[tuple[object, Place, str, bool]] = [(source.schema, (), source.pointer, True)]
        seen: set[int] = set()
        joins: set[str] = set()
        while waiting:
            schema, place, pointer, is_own = waiting.pop()
            if not isinstance(schema, dict) or id(schema) in seen:
                continue
            seen.add(id(schema))
            inner: list[tuple[Any, Place, str, bool]] = []
            reference = schema.get("$ref")
            if isinstance(reference, str):
                inner += self._target(reference, place, pointer, is_joined=pointer in joins)
            has_reference = self._api.is_3_0 and isinstance(reference, str)
            for keyword, value in schema.items():
                is_known = keyword in _READ or (not is_own and keyword in _OF_WHOLE)
                if has_reference and keyword not in _FLAGS:
                    self._note_beside(keyword, joined(pointer, keyword))
                elif keyword == "nullable" and value is True and not self._api.is_3_0:
                    self._foreign.setdefault(joined(pointer, keyword))
                if not is_known and (not has_reference or keyword in BESIDE_REFERENCES):
                    yield place, keyword, value, joined(pointer, keyword)
            if "discriminator" in schema and not {"oneOf", "anyOf"} & schema.keys():
                yield place, "discriminator", schema["discriminator"], joined(pointer, "discriminator")
            if "defaultMapping" in mapping(schema.get("discriminator")):
                at = joined(pointer, "discriminator", "defaultMapping")
                yield place, _MAPPING, schema["discriminator"], at
            parts = listed(schema.get("allOf"))
            if len(parts) > 1 or CONSTRAINTS.intersection(schema) - {"allOf"}:
                joins.update(joined(pointer, "allOf", n) for n in range(len(parts)))
            for tokens, value in [] if has_reference else children(schema):
                is_hidden = tokens[0] == "properties" and (
                    hides_property(value, source.direction) or (not place and tokens[-1] == source.without)
                )
                if tokens[0] not in ("$defs", "definitions") and not is_hidden:
                    inner.append((value, place_of(place, tokens), joined(pointer, *tokens), True))
            waiting += reversed(inner)

    def _target(
        self, reference: str, place: Place, pointer: str, *, is_joined: bool
    ) -> Iterator[tuple[object, Place, str, bool]]:
        """Yield the target of a reference if it has no type of its own, or is joined by `allOf`."""
        target = self._api.target(reference, joined(pointer, "$ref"))
        if target is None:
            return
        address = self._components.canonical(target)
        if self._components.kind(address) == "inline":
            yield self._api.find(address), (), address, True
        elif is_joined:
            yield self._api.find(address), place, address, False


def _above(pointer: str) -> Iterator[str]:
    """Yield a place and its parents."""
    while pointer:
        yield pointer
        pointer = pointer.rpartition("/")[0]


def _owner(pointer: str, source: NotedSchema) -> str:
    """Return the component that contains a place, otherwise the name of the source."""
    parts = pointer.split("/")
    is_component = parts[1:3] == ["components", "schemas"] and len(parts) > 3
    return component_name("/".join(parts[:4])) if is_component else source.name


def _lost(keyword: str, owners: Mapping[str, list[str]]) -> Finding:
    """Return the finding about a keyword that the design leaves out."""
    places = [pointer for pointers in owners.values() for pointer in pointers]
    what = repr(keyword)
    if keyword == _EXTENSIONS:
        what = f"the extensions {_counted(places)}"
    message = f"the design leaves out {what} of schemas ({place_count(places)}, in {first_of([*owners])})"
    code = codes.LEFT_OUT if keyword == _MAPPING else codes.NOTE_LEFT_OUT
    return finding_at(code, places[0], message, hint=_HINT)


def _counted(pointers: Iterable[str]) -> str:
    """Return the keywords at some places, each with the number of its places."""
    return tally(tokens_of(pointer)[-1] for pointer in pointers)
