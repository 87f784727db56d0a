"""Schemas that clauses cannot express: each one once, in the design or in a file next to it."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from toolgen.contract.json_value import Json, compact, size_of
from toolgen.contract.record import frozen_record
from toolgen.shapes import naming
from toolgen.shapes.foreign.nodes import reference
from toolgen.shapes.foreign.reader import Reading, read, read_text
from toolgen.shapes.foreign.reader.validator import rejected_values

from . import codes
from .clauses_built import NotExpressibleError
from .clauses_layout import ClauseCall, Named, Part, call, literal
from .clauses_schemas import schema_clause
from .names import DesignNames, content, type_name
from .openapi_components import Components, Direction
from .openapi_cuts import shown
from .openapi_document import UnreadableError, component_name, listed
from .openapi_outlines import widened
from .openapi_schemas import Tag, Translator, pinned
from .pointers import joined

_MOST_KEPT: Final = 20_000
"""Maximum number of values in a kept schema, including its `$defs`."""
_MOST_CARRIED: Final = 5_000
"""Maximum number of values in a schema's `$defs`; real documents have up to 4,100, or about 15,000."""
_TIMES_CARRIED: Final = 2
"""Maximum number of values in all `$defs`, per value of the document; real documents have up to 1.2."""
_MOST_NUMBERED: Final = 10
"""Maximum number that is appended to the name of a schema."""
MISFIT: Final = "has an example that its schema refuses; it is left out"
MISFIT_HINT: Final = "correct the example or the schema"
_TAGGED: Final = "has an example without the tag of its union; it gets the tag of the only branch that fits"
_ANY: Final = call("JSONSchema", literal({}))


@frozen_record
class _Part:
    """Schema of a component for one direction."""

    schema: Any
    used: list[str]
    """Addresses that it refers to."""
    size: int
    """Number of values in it."""


@dataclass(slots=True)
class _Carried:
    """Schemas by their names in `$defs`."""

    schemas: dict[str, object] = field(default_factory=dict)
    lacking: dict[str, str] = field(default_factory=dict)
    """Addresses of schemas that are only outlines, by name."""
    size: int = 0
    """Number of values in the complete schemas."""


class UntypedSchemas:
    """The kept schemas of a design."""

    def __init__(
        self,
        components: Components,
        toolset: str,
        names: DesignNames,
        find: Callable[..., None],
    ) -> None:
        self._components = components
        self._api = components.api
        self._toolset = toolset
        self._names = names
        self._find = find
        self._called: dict[str, str] = {}
        self._defined: dict[str, str] = {}
        self._parts: dict[tuple[str, Direction], _Part] = {}
        self._read: dict[tuple[str, Direction], tuple[object, tuple[Json, list[str]]]] = {}
        """Original and translated schema, and the addresses it refers to, by place and direction."""
        self._examples: dict[tuple[str, Direction], list[ClauseCall]] = {}
        self._spent = 0
        """Number of values in the `$defs` of all schemas so far."""
        self._small: dict[str, Part | None] = {}
        """Inline replacements of schemas; None for named schemas."""
        self.shortened: dict[str, None] = {}
        """Addresses of components that are outlines in schemas with too many references."""
        self.opened: set[str] = set()
        """Names of schemas that a design does not allow, and that are replaced by any JSON."""
        self.is_needed = True
        """Whether a new schema is read immediately, so that it takes its class names before others."""
        self._unread: dict[str, tuple[Json, str]] = {}
        """Schemas that were not read yet, with their places, by name."""
        self.clauses: dict[str, ClauseCall] = {}
        """Clauses of the schemas by name; a placeholder until a schema is read."""
        self.files: dict[str, object] = {}
        """Schemas in files, by path."""

    def clear(self) -> None:
        self._called.clear()
        self._spent = 0
        self.shortened.clear()
        self._unread.clear()
        self.clauses.clear()
        self.files.clear()

    def part(self, schema: object, place: str, direction: Direction, name: str) -> Part:
        """Return the replacement for a schema that no clause expresses: an inline schema, or a name."""
        if isinstance(schema, dict) and isinstance(schema.get("$ref"), str) and len(schema) == 1:
            target = self._api.target(schema["$ref"], joined(place, "$ref"))
            if target is not None and not self._components.adds_null(target):
                place = self._components.canonical(target)
                schema, name = self._api.find(place), naming.class_name(component_name(place))
        result, used = self._readable(schema, place, direction)
        text = f"{direction} {compact(result)}" if used else compact(result)
        also = f"object {direction} {place}"
        if text in self._called:
            self._names.record(self._called[text], also)
            self.read([self._called[text]] if self.is_needed else [])
            return self._called[text]
        if text not in self._small:
            self._small[text] = None if used else _small(result)
        if (clause := self._small[text]) is not None:
            return clause
        self._called[text] = self._names.assign(content(text), type_name(name), also=also)
        self._store(self._carrying(result, used, direction), place, self._called[text])
        return self._called[text]

    def add(self, schema: object, place: str, direction: Direction, name: str) -> None:
        """Store the schema of a component under this name."""
        self._store(self._carrying(*self._readable(schema, place, direction), direction), place, name)

    def _store(self, complete_schema: Json, place: str, name: str) -> None:
        self._unread[name] = complete_schema, place
        self.clauses[name] = _ANY
        if self.is_needed:
            self.read([name])

    def read(self, names: Iterable[str]) -> None:
        """Read the named schemas, except those that have been read already."""
        for name in names:
            if (unread := self._unread.pop(name, None)) is not None:
                self._write(*unread, name)

    def _write(self, complete_schema: Json, place: str, name: str) -> None:
        """Write a schema into a file; replace it by any JSON if it cannot be read."""
        size = size_of(complete_schema)
        is_read = size <= _MOST_KEPT and name not in self.opened
        root, reading = self._reading(json.dumps(complete_schema), name) if is_read else (name, None)
        named = Named("name", literal(root))
        if reading is not None and reading.foreign is not None:
            self._names.claim(each for each in reading.foreign.classes if each != name)
            path = f"{self._toolset}_schemas/{name}.json"
            self.files[path] = reading.schema
            self.clauses[name] = call("JSONSchema", literal(path), named)
            return
        fault = f"has {size:,} values" if size > _MOST_KEPT else "has class names that are already used"
        if reading is not None:
            problem = next(each for each in reading.problems if not each.is_warning)
            fault = f"{problem.message} ({problem.pointer or 'its root'})"
        message = f"the schema of {name} {fault}; any JSON is accepted"
        self._find(codes.LEFT_OUT, place, message, "correct it, or add it to the design")
        self.clauses[name] = call("JSONSchema", literal({}), named)

    def _reading(self, complete_schema: str, name: str) -> tuple[str, Reading]:
        """Return the name and the reading of a schema; the name is numbered if its classes are taken."""
        first: Reading | None = None
        for root in (name, *(f"{name}{number}" for number in range(2, _MOST_NUMBERED))):
            reading = read_text(complete_schema, name=root)
            first = first or reading
            classes = reading.foreign.classes if reading.foreign is not None else ()
            if self._names.are_free({root, *classes} - {name}):
                return root, reading
        return name, first or read_text(complete_schema, name=name)

    def fitting(self, schema: object, place: str, direction: Direction, values: list[object]) -> list[Any]:
        """Return the values that a schema accepts."""
        result, used = self._readable(schema, place, direction)
        complete_schema = self._complete_schema(result, self._carried(used, direction, _MOST_CARRIED))
        if not isinstance(complete_schema, dict):
            return []
        good = []
        for value in values:
            if not rejected_values(complete_schema, [("", value)]):
                good.append(value)
            elif len(tagged := self._tagged(schema, place, complete_schema, value)) == 1:
                good += tagged
                self._find(codes.ODD_SCHEMA, place, _TAGGED, "add the tag to the example")
        return good

    def _tagged(
        self, schema: object, place: str, complete_schema: dict[str, Json], value: object
    ) -> list[Json]:
        """Return an example of a union without its tag, completed with each tag that makes it valid."""
        if isinstance(schema, dict) and len(parts := listed(schema.get("allOf"))) == 1:
            schema = parts[0]
        while isinstance(schema, dict) and isinstance(schema.get("$ref"), str):
            target = self._api.target(schema["$ref"], joined(place, "$ref"))
            if target is None:
                return []
            place = self._components.canonical(target)
            schema = self._api.find(place)
        union = schema if isinstance(schema, dict) else {}
        word = "oneOf" if "oneOf" in union else "anyOf"
        name, values = self._components.tags(union, listed(union.get(word)), f"{place}/{word}")
        if not isinstance(value, dict) or not name or name in value:
            return []
        tagged = [{name: tag, **value} for tag in dict.fromkeys(tag for each in values for tag in each)]
        return [each for each in tagged if not rejected_values(complete_schema, [("", each)])]

    def examples(self, address: str, direction: Direction) -> list[ClauseCall]:
        """Return the examples of an object as clauses; report examples that do not fit."""
        if (address, direction) not in self._examples:
            schema = self._api.find(address)
            facts = schema if isinstance(schema, dict) else {}
            values = facts.get("examples", [facts["example"]] if "example" in facts else [])
            values = values if isinstance(values, list) else []
            good = [
                each for each in self.fitting(schema, address, direction, values) if isinstance(each, dict)
            ]
            if len(good) < len(values):
                self._find(codes.ODD_SCHEMA, address, MISFIT, MISFIT_HINT)
            self._examples[address, direction] = [call("Example", literal(each)) for each in good]
        return self._examples[address, direction]

    def drop_examples(self, address: str, direction: Direction) -> bool:
        """Drop the examples of an object that a design rejects; return whether there were any."""
        if not self._examples.get((address, direction)):
            return False
        self._examples[address, direction] = []
        self._find(codes.ODD_SCHEMA, address, MISFIT, MISFIT_HINT)
        return True

    def _readable(self, schema: object, place: str, direction: Direction) -> tuple[Json, list[str]]:
        """Return a translated schema and the addresses it refers to; any JSON if it cannot be translated."""
        known = self._read.get((place, direction))
        if known is not None and known[0] is schema:
            return known[1]
        try:
            result = self._translated(schema, place, direction)
        except UnreadableError as error:
            self._find(codes.LEFT_OUT, error.pointer, f"{error.message}; any JSON is accepted", error.hint)
            result = {}, []
        self._read[place, direction] = schema, result
        return result

    def _carrying(self, schema: Any, used: list[str], direction: Direction) -> Any:
        """Return a schema with the schemas that it refers to in its `$defs`.

        If these are too large, it contains only schemas without references, and outlines of the rest.
        Otherwise the design would repeat components that refer to each other in every schema that uses them.
        """
        left = max(_MOST_CARRIED, _TIMES_CARRIED * self._api.size) - self._spent
        carried = self._carried(used, direction, max(0, min(_MOST_CARRIED, left)))
        self._spent += carried.size
        self.shortened.update(dict.fromkeys(carried.lacking.values()))
        return self._complete_schema(schema, carried)

    def _complete_schema(self, schema: object, carried: _Carried) -> object:
        if not carried.schemas or not isinstance(schema, dict):
            return schema
        complete_schema = {**schema, "$defs": carried.schemas}
        return widened(complete_schema, carried.lacking) if carried.lacking else complete_schema

    def _carried(self, used: list[str], direction: Direction, most: int) -> _Carried:
        """Return the schemas at addresses and all that they refer to, if they have at most `most` values.

        Otherwise each schema with references is replaced by an outline.
        """
        carried = _Carried()
        waiting = deque(used)
        while waiting:
            address = waiting.popleft()
            name = self._defined[address]
            if name in carried.schemas:
                continue
            if (address, direction) not in self._parts:
                self._parts[address, direction] = self._part(address, direction)
            part = self._parts[address, direction]
            if most and carried.size + part.size > most:
                return self._carried(used, direction, 0)
            if part.used and not most:
                carried.schemas[name] = self._components.outline(address)
                carried.lacking[name] = address
            else:
                carried.schemas[name] = part.schema
                carried.size += part.size
                waiting += part.used
        return carried

    def _part(self, address: str, direction: Direction) -> _Part:
        schema, used = self._readable(self._api.find(address), address, direction)
        return _Part(schema=schema, used=used, size=size_of(schema))

    def _translated(self, schema: object, place: str, direction: Direction) -> tuple[Json, list[str]]:
        """Return a schema with references into `$defs`, and the addresses of their targets."""
        used: dict[str, None] = {}

        def refer(_: Translator, address: str, tag: Tag | None) -> dict[str, object]:
            address = self._components.canonical(address)
            if address not in self._defined:
                name = naming.class_name(component_name(address))
                self._defined[address] = self._names.assign(f"definition {address}", name)
            used[address] = None
            part = reference(self._defined[address])
            return pinned(part, tag) if tag else part

        translator = Translator(self._components, direction, refer, inlines=False)
        return shown(translator.translated(schema, place), place), list(used)


def _small(complete_schema: Json) -> Part | None:
    """Return the inline clause for a schema; None if it is too large, or cannot be read."""
    if not isinstance(complete_schema, dict):
        return call("JSONSchema", literal(complete_schema))
    try:
        clause = schema_clause(complete_schema)
    except NotExpressibleError:
        return None
    return clause if read(complete_schema, name="Small").foreign is not None else None
