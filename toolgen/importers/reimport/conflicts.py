"""Conflicts that an author has to resolve after an import, and the accepted addresses."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping
from dataclasses import field
from typing import TypeAlias

from toolgen.contract.record import frozen_record

from .clause_merge import DesignChange, Path
from .places import place_of
from .source_text import SourceText
from .statement_edits import StatementEdits
from .targets import FLOWS, address_of, clauses_in, is_accepted


@frozen_record
class OpenConflict:
    """A change of a target that the author has not resolved."""

    was: str
    """Target at the time of the author's decision; empty for a new one."""
    now: str
    """Target in the source; empty if the source no longer has it."""
    guards: tuple[str, ...] = ()
    """Guards that stay until it is resolved: clauses of a tool, `sensitive` or `Inject` of an argument.

    For an address, `accepted` means that the previous address was accepted.
    """
    path: Path = ()
    """Path of the part of the design that the source no longer has; empty for other conflicts."""


OpenConflicts: TypeAlias = Mapping[str, OpenConflict]
"""Open conflicts by place."""


@frozen_record
class LastImport:
    """Targets and open conflicts of the last import."""

    targets: Mapping[str, str]
    open: OpenConflicts = field(default_factory=dict[str, OpenConflict])
    """Conflicts that are not resolved."""
    chosen: Collection[str] = ()
    """Addresses of servers that the author has just passed as options."""


def gone_conflicts(changes: Iterable[DesignChange]) -> dict[str, OpenConflict]:
    """Return the conflicts about parts that the source no longer has."""
    return {
        place_of(each.path): OpenConflict(was=place_of(each.path), now="", path=each.path)
        for each in changes
        if each.kind == "gone"
    }


def refuse_addresses(source: SourceText, accepted: Collection[str]) -> str:
    """Return an imported module in which only these addresses are accepted."""
    edits = StatementEdits(source)
    for node in clauses_in([source.tree], "Server", *FLOWS):
        if is_accepted(node) and address_of(node) not in accepted:
            edits.set_keyword(node, "accepted", "False")
    return edits.text()


def accepted_addresses(tree: ast.Module) -> list[str]:
    """Return the addresses of servers and flows that are accepted in a module."""
    nodes = clauses_in([tree], "Server", *FLOWS)
    return list(dict.fromkeys(address_of(node) for node in nodes if is_accepted(node)))
