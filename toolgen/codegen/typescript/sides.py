"""The two sides of a type: what callers send, with optional defaults, and what they receive."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, TypeAlias

from toolgen.contract.record import frozen_record
from toolgen.dsl.expr.tree import Tool
from toolgen.shapes.fields import (
    MISSING,
    DataType,
    EnumType,
    Field,
    Objects,
    ObjectType,
    RefType,
    UnionType,
    parts,
)

Side: TypeAlias = Literal["sent", "received"]
Named: TypeAlias = "ObjectType | EnumType | UnionType"
"""Types with a name: objects, enums and unions."""


@frozen_record
class CrossingTypes:
    """Types that cross the surface, by name, in order of first use."""

    sent: Mapping[str, Named]
    received: Mapping[str, Named]

    @property
    def all(self) -> dict[str, Named]:
        return {**self.sent, **self.received}


def reached(tools: Iterable[Tool], objects: Objects) -> CrossingTypes:
    """Return the types that callers send and receive; `objects` has the objects that the tools name."""
    tools = tuple(tools)
    return CrossingTypes(
        sent=_closure((name for tool in tools for name in _sent(tool)), objects),
        received=_closure((name for tool in tools for name in _received(tool)), objects),
    )


def _sent(tool: Tool) -> Iterator[str]:
    yield tool.payload.name
    if tool.confirmation and tool.confirmation.payload:
        yield tool.confirmation.payload
    if tool.long_running:
        yield tool.result.name  # sent in the answer that finishes the work


def _received(tool: Tool) -> Iterator[str]:
    yield tool.result.name
    yield from (artifact.type for artifact in tool.artifacts)
    yield from (error.type for error in tool.errors if error.type)
    if tool.long_running:
        late = (tool.long_running.ack, tool.long_running.progress)
        yield from (name for name in late if name is not None)


def _closure(roots: Iterable[str], objects: Objects) -> dict[str, Named]:
    names: dict[str, Named] = {}
    waiting: list[Named] = [objects[name] for name in dict.fromkeys(roots)]
    waiting.reverse()
    while waiting:
        named = waiting.pop()
        if named.name is None or named.name in names:
            continue
        names[named.name] = named
        waiting += reversed([part for type_ in _inner(named) for part in _named_in(type_, objects)])
    return names


def _inner(named: Named) -> tuple[DataType, ...]:
    """Return the types inside a named type."""
    match named:
        case ObjectType():
            return tuple(field.type for field in named.fields)
        case UnionType():
            return tuple(branch for _, branch in named.branches)
        case _:
            return ()


def _named_in(type_: DataType, objects: Objects) -> Iterator[Named]:
    for part in parts(type_):
        match part:
            case RefType():
                yield objects[part.name]
            case EnumType(name=str()) | UnionType(name=str()):
                yield part
            case _:
                pass


def _differs(field: Field) -> bool:
    return field.sensitive or field.default is not MISSING


def two_sided(named: Mapping[str, Named], objects: Objects) -> frozenset[str]:
    """Return the names whose two sides differ.

    They differ if an attribute, also of a nested type, has a default, or is sensitive and so never received.
    """
    users: defaultdict[str, list[str]] = defaultdict(list)
    waiting = []
    for name, each in named.items():
        if isinstance(each, ObjectType) and any(map(_differs, each.fields)):
            waiting.append(name)
        for type_ in _inner(each):
            for part in _named_in(type_, objects):
                users[part.name or ""].append(name)
    names: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in names:
            names.add(name)
            waiting += users[name]
    return frozenset(names)
