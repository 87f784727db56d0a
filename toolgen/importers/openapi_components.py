"""Schemas that others refer to: their conversion to types or unions, and their differences by direction."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from toolgen.shapes.foreign.reader.keywords import ANNOTATIONS, children

from .clauses_values import REQUEST_FORMATS
from .openapi_document import API, UnreadableError, component_name, listed, mapping, text
from .openapi_tags import TagValue, is_tag_key, tag_value
from .openapi_unions import Alternatives, is_null
from .pointers import joined
from .records import a_kind

Direction: TypeAlias = Literal["", "in", "out"]
"""Whether a schema belongs to requests or to answers; "" if it makes no difference."""
Kind: TypeAlias = Literal["class", "union", "inline"]

_FLAGS: Final[Mapping[Direction, str]] = {"in": "readOnly", "out": "writeOnly"}
_NO_CONSTRAINTS: Final = frozenset(
    [*ANNOTATIONS, "example", "externalDocs", "nullable", "xml", "readOnly", "writeOnly"]
)
_DEEPEST: Final = 40


@dataclass(slots=True)
class Facts:
    """Facts about an object, collected from a schema with its `allOf` and references."""

    properties: dict[str, tuple[object, str]] = field(default_factory=dict)
    """Schema and place by property name."""
    required: set[str] = field(default_factory=set)
    types: set[str] = field(default_factory=set)
    has_values: bool = False
    branches: int = 0
    """Number of union branches, without null."""
    is_nullable: bool = False


def hides_property(schema: object, direction: Direction) -> bool:
    """Return whether a property is omitted from requests, or from answers."""
    return bool(direction) and isinstance(schema, dict) and schema.get(_FLAGS[direction]) is True


class Components:
    """Facts about the schemas of a document, each computed once."""

    def __init__(self, api: API) -> None:
        self.api = api
        self.alternatives = Alternatives(api)
        self._facts: dict[str, Facts] = {}
        self._differs: dict[tuple[str, Direction], bool] = {}
        self._leading: dict[tuple[str, Direction], tuple[str | None, ...]] = {}
        self._canonical: dict[str, str] = {}

    def canonical(self, address: str) -> str:
        """Return the address of the schema that this one only refers to, otherwise the same address."""
        if address not in self._canonical:
            seen = [address]
            while (target := self._only_target(seen[-1])) is not None and target not in seen:
                seen.append(target)
            self._canonical[address] = seen[-1]
        return self._canonical[address]

    def adds_null(self, address: str) -> bool:
        """Return whether a schema only refers to another one, and it or one on the way adds null."""
        seen: list[str] = []
        while address not in seen and (target := self._only_target(address)) is not None:
            if mapping(self.api.find(address)).get("nullable") is True:
                return True
            seen.append(address)
            address = target
        return False

    def _only_target(self, address: str) -> str | None:
        schema = self.api.find(address)
        if not isinstance(schema, dict):
            return None
        words = [word for word in schema if word not in _NO_CONSTRAINTS]
        if words == ["$ref"] and isinstance(schema["$ref"], str):
            return self.api.target(schema["$ref"], joined(address, "$ref"))
        return None

    def facts(self, address: str) -> Facts:
        """Return the facts about an object from the schema at an address."""
        return self.facts_of(self.api.find(address), address)

    def facts_of(self, schema: object, place: str) -> Facts:
        """Return the facts about an object from a schema at a place."""
        if place not in self._facts:
            self._facts[place] = Facts()
            self._collect(schema, place, self._facts[place], {place}, 0)
        return self._facts[place]

    def _collect(self, schema: object, place: str, facts: Facts, seen: set[str], depth: int) -> None:
        """Add the facts of a schema; `seen` contains the addresses that were added already."""
        if not isinstance(schema, dict) or depth > _DEEPEST:
            return
        if isinstance(reference := schema.get("$ref"), str):
            address = self.api.target(reference, joined(place, "$ref"))
            if address is not None and address not in seen:
                seen.add(address)
                self._collect(self.api.find(address), address, facts, seen, depth + 1)
            if self.api.is_3_0:
                facts.is_nullable |= schema.get("nullable") is True
                return
        for name, part in mapping(schema.get("properties")).items():
            facts.properties[name] = part, joined(place, "properties", name)
        facts.required.update(name for name in listed(schema.get("required")) if isinstance(name, str))
        type_ = schema.get("type")
        types = {each for each in (type_ if isinstance(type_, list) else [type_]) if isinstance(each, str)}
        facts.is_nullable |= "null" in types or schema.get("nullable") is True
        facts.types |= types - {"null"}
        facts.has_values |= "enum" in schema or "const" in schema
        for word in ("oneOf", "anyOf"):
            branches = listed(schema.get(word))
            facts.is_nullable |= any(is_null(branch) for branch in branches)
            if not all(map(_is_constant, branches)):  # otherwise an enum with titles
                facts.branches += sum(1 for branch in branches if not is_null(branch))
        for n, part in enumerate(listed(schema.get("allOf"))):
            self._collect(part, joined(place, "allOf", n), facts, seen, depth + 1)

    def kind(self, address: str) -> Kind:
        """Return how a schema is written: as a type, as its own union or schema, or inline at each use."""
        facts = self.facts(address)
        if facts.properties and facts.types <= {"object"} and not facts.has_values:
            return "class"
        return "union" if facts.branches > 1 and not facts.properties else "inline"

    def outline(self, address: str) -> dict[str, object]:
        """Return a schema with only the kind of a component's values, without further constraints."""
        facts = self.facts(address)
        kinds = ["object"] if self.kind(address) == "class" else [] if facts.branches else sorted(facts.types)
        kinds += ["null"] if kinds and facts.is_nullable else []
        return {"type": kinds[0] if len(kinds) == 1 else kinds} if kinds else {}

    def hidden(self, schema: dict[str, object], place: str, direction: Direction) -> frozenset[str]:
        """Return the properties of an object that are omitted in this direction."""
        if not ({"properties", "allOf"} & schema.keys()):
            return frozenset()
        properties = self.facts_of(schema, place).properties
        return frozenset(name for name, (part, _) in properties.items() if hides_property(part, direction))

    def direction(self, address: str, direction: Direction) -> Direction:
        """Return the direction; "" if the schema, with all that it refers to, is the same in both."""
        if not direction:
            return ""
        if (address, direction) not in self._differs:
            seen, is_found = {address}, False
            waiting = deque([address])
            while waiting and not is_found:
                at = waiting.popleft()
                if self._differs.get((at, direction)) is False:
                    continue
                if self._differs.get((at, direction)):
                    is_found = True
                for target in self._steps(at, direction):
                    is_found |= target is None
                    if target is not None and target not in seen:
                        seen.add(target)
                        waiting.append(target)
            self._differs.update(
                dict.fromkeys(
                    [(address, direction)] if is_found else [(at, direction) for at in seen], is_found
                )
            )
        return direction if self._differs[address, direction] else ""

    def _steps(self, address: str, direction: Direction) -> tuple[str | None, ...]:
        """Return what `_marked_or_targets` yields for a schema, which many others lead to."""
        key = address, direction
        if key not in self._leading:
            self._leading[key] = tuple(dict.fromkeys(self._marked_or_targets(address, direction)))
        return self._leading[key]

    def _marked_or_targets(self, address: str, direction: Direction) -> Iterator[str | None]:
        """Yield None for each place that depends on the direction, and the addresses that a schema refers to.

        Such a place is a property that is omitted in it, a `oneOf` that answers may treat as `anyOf`, or a
        string whose format is a type in requests.
        """
        waiting: list[tuple[object, str]] = [(self.api.find(address), address)]
        while waiting:
            part, place = waiting.pop()
            if not isinstance(part, dict):
                continue
            is_typed = direction == "in" and text(part.get("format")) in REQUEST_FORMATS
            if hides_property(part, direction) or is_typed or self.overlap(part, place):
                yield None
            if isinstance(reference := part.get("$ref"), str):
                target = self.api.target(reference, joined(place, "$ref"))
                if target is not None:
                    yield self.canonical(target)
            waiting += [(inner, joined(place, *tokens)) for tokens, inner in children(part)]

    def overlap(self, schema: dict[str, object], place: str) -> bool:
        """Return whether a value may fit two branches of the `oneOf` of a schema."""
        return self.alternatives.overlap(schema, place, self.tags)

    def tags(
        self, schema: dict[str, object], branches: list[object], place: str
    ) -> tuple[str, list[tuple[TagValue, ...]]]:
        """Return the tag of a union, and its values in each branch: () if there are none to add.

        The values are from its discriminator (OAS 3.1.1, 4.8.25), or from the branches themselves.
        """
        none: list[tuple[TagValue, ...]] = [()] * len(branches)
        owned = [
            None if is_null(branch) else self._pins(branch, joined(place, n))
            for n, branch in enumerate(branches)
        ]
        pins = [each for each in owned if each is not None]
        if len(pins) < 2:
            return "", none
        discriminator = mapping(schema.get("discriminator"))
        name = discriminator.get("propertyName")
        if isinstance(name, str):
            mapped = self._mapped(mapping(discriminator.get("mapping")), place)
            return name, [
                () if own is None else self._values(branch, name, mapped, joined(place, n))
                for n, (branch, own) in enumerate(zip(branches, owned, strict=True))
            ]
        for name in pins[0]:
            values = [each.get(name) for each in pins]
            if None not in values and len(set(values)) == len(values):
                return name, [() if own is None else (own[name],) for own in owned]
        return "", none

    def tag_values(self, address: str) -> list[TagValue]:
        """Return the values of a union's tag, which name the classes of its branches."""
        schema = mapping(self.api.find(address))
        for word in ("oneOf", "anyOf"):
            _, values = self.tags(schema, listed(schema.get(word)), joined(address, word))
            if found := [value for each in values for value in each]:
                return found
        return []

    def has_texts(self, address: str) -> bool:
        """Return whether all tag values of a union are strings; true if it has none."""
        return all(isinstance(value, str) for value in self.tag_values(address))

    def _pins(self, branch: object, place: str) -> dict[str, str]:
        """Return the required properties of a branch that have a single string value."""
        facts = self.facts_of(branch, place)
        pins = {}
        for name in sorted(facts.required & facts.properties.keys()):
            part, at = facts.properties[name]
            try:
                tag_schema, _ = self.api.followed(part, at)
            except UnreadableError:
                continue
            values = [tag_schema["const"]] if "const" in tag_schema else listed(tag_schema.get("enum"))
            if len(values) == 1 and isinstance(values[0], str):
                pins[name] = values[0]
        return pins

    def unread_mappings(self, schema: dict[str, object], place: str) -> Iterator[tuple[str, str]]:
        """Yield the keys and branches that a discriminator does not distinguish, each with the reason."""
        discriminator = mapping(schema.get("discriminator"))
        name, entries = text(discriminator.get("propertyName")), mapping(discriminator.get("mapping"))
        word = "oneOf" if "oneOf" in schema else "anyOf"
        branches: dict[str, tuple[object, str]] = {}
        for n, branch in enumerate(listed(schema.get(word))):
            at = joined(place, word, n)
            if isinstance(reference := mapping(branch).get("$ref"), str):
                with suppress(UnreadableError):
                    branches[self.canonical(self.api.address(reference, at))] = branch, at
        named: set[str] = set()
        for key, target in entries.items():
            try:
                address = self._mapped_address(target, place)
                named.add(address)
            except UnreadableError as error:
                yield key, error.message
                continue
            if address not in branches:
                if word in schema:
                    yield key, f"{target!r} is not a branch of the union"
            elif name and (fault := self._fault_of_key(key, *branches[address], name)):
                yield key, fault
        for address, (branch, at) in branches.items() if name else ():
            if address not in named and not self._values(branch, name, {}, at):
                yield component_name(address), "no mapping names it, and its property is not a string"

    def _fault_of_key(self, key: str, branch: object, place: str, name: str) -> str:
        types, choices = self._choices(branch, name, place)
        if choices and not any(is_tag_key(key, value) for value in choices):
            return f"{name!r} cannot have this value in the branch"
        return (
            "" if choices or tag_value(key, types) is not None else f"{name!r} is not a string in the branch"
        )

    def _mapped(self, mapped: dict[str, object], place: str) -> dict[str, list[str]]:
        """Return the keys of a discriminator's mapping by the address of their schema."""
        result: dict[str, list[str]] = {}
        for key, target in mapped.items():
            with suppress(UnreadableError):
                result.setdefault(self._mapped_address(target, place), []).append(key)
        return result

    def _mapped_address(self, target: object, place: str) -> str:
        """Return the address of a mapping entry: a component with this name, or a reference.

        Raises:
            UnreadableError: The reference is dangling.
        """
        if not isinstance(target, str):
            raise UnreadableError(place, f"the mapped schema is {a_kind(target)}, not a string")
        components = mapping(mapping(self.api.document.get("components")).get("schemas"))
        is_name = target in components or not re.search("[#/.]", target)
        named = joined("/components/schemas", target)
        return self.canonical(named if is_name else self.api.address(target, place))

    def _values(
        self, branch: object, name: str, mapped: dict[str, list[str]], place: str
    ) -> tuple[TagValue, ...]:
        """Return the tag's values in a branch: its own values, mapped ones, or the name of its component."""
        types, own = self._choices(branch, name, place)
        if not isinstance(branch, dict) or not isinstance(branch.get("$ref"), str):
            return ()
        address = self.api.target(branch["$ref"], joined(place, "$ref"))
        if address is None:
            return own
        keys = mapped.get(self.canonical(address), [])
        if own:
            return tuple(value for key in keys for value in own if is_tag_key(key, value)) or own
        values = [tag_value(key, types) for key in keys or [component_name(address)]]
        return tuple(value for value in values if value is not None)

    def _choices(self, branch: object, name: str, place: str) -> tuple[set[str], tuple[TagValue, ...]]:
        """Return the types of a tag in a branch, and its listed values."""
        part, at = self.facts_of(branch, place).properties.get(name, ({}, place))
        tag_schema: dict[str, object] = {}
        with suppress(UnreadableError):  # also if the schema is true, which allows any value
            tag_schema, _ = self.api.followed(part, at)
        values = [tag_schema["const"]] if "const" in tag_schema else listed(tag_schema.get("enum"))
        kind = tag_schema.get("type")
        types = {str(each) for each in (kind if isinstance(kind, list) else [kind]) if each is not None}
        return types, tuple(value for value in values if isinstance(value, str | int | float))


def _is_constant(schema: object) -> bool:
    return isinstance(schema, dict) and "const" in schema
