"""Enumerations that are components of an OpenAPI document: each is written once, under its own name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from toolgen.contract.json_value import Json
from toolgen.shapes import naming
from toolgen.shapes.foreign.nodes import ENUM, Node, meanings_of
from toolgen.shapes.foreign.normal_form import safe_text

from .clauses_built import NotExpressibleError, check_type
from .clauses_layout import ClauseCall, Part, Text, call, literal
from .clauses_parts import enum_values
from .names import type_name
from .openapi_cuts import Cut
from .openapi_document import component_name, text


class EnumBook:
    """The named enumerations of a design."""

    def __init__(self) -> None:
        self._schemas: dict[str, Mapping[str, Json]] = {}
        self._called: dict[str, str] = {}
        self._calls: dict[str, ClauseCall | None] = {}
        """Clauses by address; None for enumerations that a design does not allow."""
        self._used: dict[str, None] = {}

    def scan(self, cuts: Iterable[Cut]) -> None:
        """Collect the enumerations that schemas refer to."""
        for cut in cuts:
            for address, name in cut.inlined.items():
                schema = cut.definitions[name]
                if isinstance(schema, dict) and ENUM in schema and address not in self._schemas:
                    self._schemas[address] = schema

    def wanted(self) -> Iterator[tuple[str, str]]:
        """Yield the identity and the wanted name of each enumeration."""
        for address in self._schemas:
            yield _identity(address), type_name(naming.class_name(component_name(address)))

    def name(self, names: Mapping[str, str]) -> None:
        """Store the assigned names, given by identity."""
        self._called = {address: names[_identity(address)] for address in self._schemas}

    def names(self) -> list[str]:
        return list(self._called.values())

    def clear(self) -> None:
        """Forget which enumerations are used."""
        self._used.clear()

    def part(self, node: Node) -> Part | None:
        """Return the name of a node's enumeration.

        None if the node is narrower, or the enumeration has no name.
        """
        address = node.get(ENUM)
        if address is None or address not in self._called:
            return None
        if node["enum"] != _values(self._schemas[address]):
            return None
        if address not in self._calls:
            self._calls[address] = self._clause(address, node)
        if self._calls[address] is None:
            return None
        self._used.setdefault(address)
        return self._called[address]

    def statements(self) -> list[tuple[str, ClauseCall]]:
        """Return the used enumerations with their names."""
        clauses = ((self._called[address], self._calls[address]) for address in self._used)
        return [(name, clause) for name, clause in clauses if clause is not None]

    def _clause(self, address: str, node: Node) -> ClauseCall | None:
        described = safe_text(text(self._schemas[address].get("description")))
        about = Text(described) if described else literal(None)
        values = enum_values(node["enum"], meanings_of(node))
        clause = call("Enum", literal(self._called[address]), about, *values)
        try:
            check_type(clause)
        except NotExpressibleError:
            return None
        return clause


def _identity(address: str) -> str:
    return f"type {address}"


def _values(schema: Mapping[str, Any]) -> list[object]:
    """Return the values of an enum or a union of constants, without null."""
    values = schema["enum"] if "enum" in schema else [_constant(branch) for branch in schema["oneOf"]]
    return [value for value in values if value is not None]


def _constant(branch: object) -> object:
    return branch.get("const") if isinstance(branch, dict) else None
