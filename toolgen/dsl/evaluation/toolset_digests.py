"""What an author wrote of each toolset, as digests, and a design with a part of its toolsets.

What one toolset becomes depends on its own clauses, and on those of the design that stand in no tool:
services, their methods, and the named types of all tools. Where it may depend on more, there are no digests.
"""

from __future__ import annotations

import pickle
from collections.abc import Collection, Iterator
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum as PythonEnum
from functools import cached_property
from hashlib import sha256
from io import BytesIO
from pathlib import PurePath
from typing import Any, Final

from toolgen.expr.source import Source

from ..agents import Agent
from ..composites import Enum, JSONSchema, Type
from ..services import Design, Service
from ..structure import MCPToolset, Tool, Toolset
from ..tool_clauses import Deprecated
from .clause_lookup import Named, clauses_of_kind, named_types

ELSEWHERE: Final = ""
"""Key of the digest of what all toolsets depend on."""
_VALUES: Final = frozenset([date, datetime, timedelta, timezone, Decimal])
"""Classes of others whose values are known by what they are pickled as."""


class WrittenToolsets:
    """The toolsets that a design lists, as their author wrote them."""

    def __init__(self, design: Design) -> None:
        self._design = design

    @cached_property
    def _named(self) -> list[Named]:
        return named_types(self._design)

    def digests(self) -> dict[str, str]:
        """Return a digest of each toolset, by its qualified name, and of what all depend on.

        It is empty where a toolset may depend on more: on an agent, a file, or code of the author. Places in
        the source do not count.
        """
        try:
            if not all(isinstance(clause, Type | Enum) for clause in self._named):
                return {}  # a design lists no other types
            digests = {ELSEWHERE: _digest([_without_tools(self._design), self._named])}
            return digests | {name: _digest(toolset) for name, toolset in _toolsets(self._design)}
        except (pickle.PicklingError, TypeError, AttributeError, RecursionError):
            return {}  # also of a design with a mistake, which is reported when it is built

    def only(self, names: Collection[str]) -> Design:
        """Return the design with some of its toolsets, and with the named types of all."""
        listed = {id(toolset) for name, toolset in _toolsets(self._design) if name in names}
        services = [
            _copy(
                service,
                [each for each in service.children if not isinstance(each, Toolset) or id(each) in listed],
            )
            for service in clauses_of_kind(self._design.children, Service)
        ]
        design: Design = _copy(self._design, [*self._named, *services])
        return design


def _toolsets(design: Design) -> Iterator[tuple[str, Toolset]]:
    for service in clauses_of_kind(design.children, Service):
        for toolset in clauses_of_kind(service.children, Toolset):
            yield f"{service.name}.{toolset.name}", toolset


def _without_tools(clause: Any) -> object:
    """Return what a design says, with the name of each tool in its place, and what others may see of it."""
    match clause:
        case Tool():
            return clause.name, clauses_of_kind(clause.children, Deprecated)
        case Design() | Service() | Toolset():
            return {**vars(clause), "children": [_without_tools(child) for child in clause.children]}
        case _:
            return clause


def _copy(clause: Any, children: list[Any]) -> Any:
    copy = object.__new__(type(clause))
    copy.__dict__.update(vars(clause), children=tuple(children))
    return copy


def _digest(written: object) -> str:
    content = BytesIO()
    _Pickler(content, pickle.HIGHEST_PROTOCOL).dump(written)
    return sha256(content.getbuffer()).hexdigest()


class _Pickler(pickle.Pickler):
    """Pickles clauses without their places; refuses what is not known by its values."""

    def reducer_override(self, value: Any) -> Any:
        kind = value if isinstance(value, type) else type(value)
        if kind is Source:
            return str, ()
        if kind in _VALUES or kind is str:
            return NotImplemented
        if kind.__module__ == "typing":  # the `__orig_class__` of a clause
            return str, (repr(value),)
        if not kind.__module__.startswith("toolgen.") or _reads_elsewhere(value):
            raise pickle.PicklingError
        return (str, (repr(value),)) if isinstance(value, PythonEnum) else NotImplemented


def _reads_elsewhere(value: object) -> bool:
    """Return whether a clause says less than what is made of it: a file, or an agent that has toolsets."""
    return isinstance(value, Agent | MCPToolset) or (
        isinstance(value, JSONSchema) and isinstance(value.schema, str | PurePath)
    )
