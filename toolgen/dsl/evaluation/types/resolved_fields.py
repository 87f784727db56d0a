"""The fields of an object while clauses are resolved into the tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Final

from toolgen.contract.json_value import Json
from toolgen.expr.source import Source
from toolgen.shapes.fields import Field, Foreign


@dataclass(frozen=True, slots=True, kw_only=True)
class Projection:
    """Which attributes of an object are taken over, and under which names."""

    rename: Mapping[str, str] = dataclass_field(default_factory=dict)
    """The names here, by those that were written."""
    only: frozenset[str] | None = None
    without: frozenset[str] = frozenset()

    def name(self, written: str) -> str:
        return self.rename.get(written, written)

    def keeps(self, name: str) -> bool:
        return name not in self.without and (self.only is None or name in self.only)


ALL_FIELDS: Final = Projection()
"""Everything, as written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedFields:
    """The fields of one object, their sources, and the facts of its type."""

    fields: tuple[Field, ...] = ()
    sources: Mapping[str, Source] = dataclass_field(default_factory=dict)
    description: str = ""
    open: bool = False
    examples: tuple[Json, ...] = ()
    foreign: Foreign | None = None
    """What somebody else wrote in the place of fields."""
    is_known: bool = True
    """Whether these are all that its author meant; else something was reported."""
