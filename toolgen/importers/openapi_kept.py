"""Schemas that no clause expresses: each one once, in the design or in a file beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from toolgen.contract.json_value import compact, values_in
from toolgen.schema_reader import read
from toolgen.schema_reader.names import Names
from toolgen.schema_reader.validator import rejected_values
from toolgen.shapes import naming

from . import codes
from .clauses_built import NotExpressibleError
from .clauses_layout import Call, Named, Part, call, literal
from .clauses_schemas import schema_clause
from .openapi_components import Components, Direction
from .openapi_cuts import shown
from .openapi_document import UnreadableError, component_name, listed
from .openapi_schemas import Tag, Translator, pinned

_MOST_KEPT: Final = 20_000
"""Values of a schema that stays a schema, with all that it refers to."""
MISFIT: Final = "has an example that its schema refuses; it is left out"
MISFIT_HINT: Final = "correct the example or the schema"
_TAGGED: Final = "has an example without the tag of its union; it has that of the one branch that fits"


class KeptSchemas:
    """The schemas of a design; `take` gives each a name, and `claim` reserves names of classes in it."""

    def __init__(
        self,
        components: Components,
        toolset: str,
        take: Callable[[str], str],
        claim: Callable[[list[str]], None],
        find: Callable[..., None],
    ) -> None:
        self._components = components
        self._api = components.api
        self._toolset = toolset
        self._take = take
        self._claim = claim
        self._find = find
        self._names: dict[str, str] = {}
        self._defined: dict[str, str] = {}
        self._definitions = Names("")
        self._parts: dict[tuple[str, Direction], tuple[Any, list[str]]] = {}
        self._examples: dict[tuple[str, Direction], list[Call]] = {}
        self._small: dict[str, Part | None] = {}
        """What stands for schemas in place; None for those that are named."""
        self.clauses: dict[str, Call] = {}
        """The clauses of the schemas by name."""
        self.files: dict[str, object] = {}
        """The schemas in files by path."""

    def clear(self) -> None:
        self._names.clear()
        self.clauses.clear()
        self.files.clear()

    def part(self, schema: object, place: str, direction: Direction, name: str) -> Part:
        """Return what stands for a schema that no clause expresses: it itself, or its name."""
        if isinstance(schema, dict) and isinstance(schema.get("$ref"), str) and len(schema) == 1:
            place = self._components.canonical(self._api.address(schema["$ref"], place))
            schema, name = self._api.find(place), naming.class_name(component_name(place))
        whole = self.whole(schema, place, direction)
        text = compact(whole)
        if text in self._names:
            return self._names[text]
        if text not in self._small:
            self._small[text] = _small(whole)
        if (clause := self._small[text]) is not None:
            return clause
        self._names[text] = self._take(name)
        self._write(whole, place, self._names[text])
        return self._names[text]

    def add(self, schema: object, place: str, direction: Direction, name: str) -> None:
        """Keep the schema of a component under this name."""
        self._write(self.whole(schema, place, direction), place, name)

    def _write(self, whole: Any, place: str, name: str) -> None:
        """Write a schema into a file; any JSON stands for one that cannot be read."""
        named = Named("name", literal(name))
        size = sum(1 for _ in values_in(whole))
        reading = read(whole, name=name) if size <= _MOST_KEPT else None
        if reading is not None and reading.foreign is not None:
            self._claim([each for each in reading.foreign.classes if each != name])
            path = f"{self._toolset}_schemas/{name}.json"
            self.files[path] = reading.schema
            self.clauses[name] = call("JSONSchema", literal(path), named)
            return
        fault = f"has {size:,} values"
        if reading is not None:
            problem = next(each for each in reading.problems if not each.is_warning)
            fault = f"{problem.message} ({problem.pointer or 'its root'})"
        message = f"the schema of {name} {fault}; any JSON is taken"
        self._find(codes.LEFT_OUT, place, message, "correct it, or write it into the design")
        self.clauses[name] = call("JSONSchema", literal({}), named)

    def fitting(self, schema: object, place: str, direction: Direction, values: list[Any]) -> list[Any]:
        """Return those of some values that a schema accepts."""
        whole = self.whole(schema, place, direction)
        if not isinstance(whole, dict):
            return []
        good = []
        for value in values:
            if not rejected_values(whole, [("", value)]):
                good.append(value)
            elif len(tagged := self._tagged(schema, place, whole, value)) == 1:
                good += tagged
                self._find(codes.ODD_SCHEMA, place, _TAGGED, "add the tag")
        return good

    def _tagged(self, schema: object, place: str, whole: dict[str, Any], value: object) -> list[Any]:
        """Return an example of a union that lacks the tag, with each tag with which it fits."""
        if isinstance(schema, dict) and len(held := listed(schema.get("allOf"))) == 1:
            schema = held[0]
        while isinstance(schema, dict) and isinstance(schema.get("$ref"), str):
            place = self._components.canonical(self._api.address(schema["$ref"], place))
            schema = self._api.find(place)
        union = schema if isinstance(schema, dict) else {}
        word = "oneOf" if "oneOf" in union else "anyOf"
        name, values = self._components.tags(union, listed(union.get(word)), f"{place}/{word}")
        if not isinstance(value, dict) or not name or name in value:
            return []
        tagged = [{name: tag, **value} for tag in dict.fromkeys(tag for each in values for tag in each)]
        return [each for each in tagged if not rejected_values(whole, [("", each)])]

    def examples(self, address: str, direction: Direction) -> list[Call]:
        """Return the examples of an object of its own as clauses; those that do not fit are findings."""
        if (address, direction) not in self._examples:
            schema = self._api.find(address)
            held = schema if isinstance(schema, dict) else {}
            values = held.get("examples", [held["example"]] if "example" in held else [])
            values = values if isinstance(values, list) else []
            good = [
                each for each in self.fitting(schema, address, direction, values) if isinstance(each, dict)
            ]
            if len(good) < len(values):
                self._find(codes.ODD_SCHEMA, address, MISFIT, MISFIT_HINT)
            self._examples[address, direction] = [call("Example", literal(each)) for each in good]
        return self._examples[address, direction]

    def drop_examples(self, address: str, direction: Direction) -> bool:
        """Leave out the examples of an object, which a design refuses; return whether there were any."""
        if not self._examples.get((address, direction)):
            return False
        self._examples[address, direction] = []
        self._find(codes.ODD_SCHEMA, address, MISFIT, MISFIT_HINT)
        return True

    def whole(self, schema: object, place: str, direction: Direction) -> Any:
        """Return a schema with all that it refers to in its `$defs`."""
        definitions: dict[str, object] = {}
        try:
            result, waiting = self._translated(schema, place, direction)
            while waiting:
                address = waiting.pop()
                if self._defined[address] not in definitions:
                    key = address, direction
                    if key not in self._parts:
                        self._parts[key] = self._translated(self._api.find(address), address, direction)
                    definitions[self._defined[address]], used = self._parts[key]
                    waiting += used
        except UnreadableError as error:
            self._find(codes.LEFT_OUT, error.pointer, f"{error.message}; any JSON is taken", error.hint)
            return {}
        return {**result, "$defs": definitions} if definitions and isinstance(result, dict) else result

    def _translated(self, schema: object, place: str, direction: Direction) -> tuple[Any, list[str]]:
        """Return a schema with references into `$defs`, and the addresses that they lead to."""
        used: dict[str, None] = {}

        def refer(address: str, tag: Tag | None) -> dict[str, object]:
            address = self._components.canonical(address)
            if address not in self._defined:
                name = naming.class_name(component_name(address))
                self._defined[address] = self._definitions.take(name)
            used[address] = None
            reference: dict[str, object] = {"$ref": f"#/$defs/{self._defined[address]}"}
            return pinned(reference, tag) if tag else reference

        translator = Translator(self._components, direction, refer, inlines=False)
        return shown(translator.translated(schema, place), place), list(used)


def _small(whole: Any) -> Part | None:
    """Return what stands for a schema in place; None for one that is too large, or that cannot be read."""
    if not isinstance(whole, dict):
        return call("JSONSchema", literal(whole))
    try:
        clause = schema_clause(whole)
    except NotExpressibleError:
        return None
    return clause if read(whole, name="Small").foreign is not None else None
