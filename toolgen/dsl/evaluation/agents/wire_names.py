"""The names by which an agent calls its tools: each tool once, each name once."""

from __future__ import annotations

from collections.abc import Sequence

from toolgen.expr import codes
from toolgen.expr.tree import UsedTool, UsedToolset
from toolgen.shapes.naming import LONGEST_NAME

from ...agents import Agent, Transfer, Use
from ..checks.names import check_length
from ..clause_lookup import clauses_of_kind
from ..report import RelatedSource, Report, listed

_RESERVED = "transfer_to_"


def check_wire_names(agent: Agent, uses: Sequence[tuple[Use, UsedToolset]], report: Report) -> None:
    """Report tools that stand twice, and wire names that two tools have or nobody may have."""
    has_transfer = bool(clauses_of_kind(agent.children, Transfer))
    users: dict[str, Use] = {}
    by_name: dict[str, tuple[str, Use]] = {}
    for use, taken in uses:
        repeated = _repeated(agent, use, taken, users, report)
        for used in (used for used in taken.tools if used.tool.id not in repeated):
            _check_length(taken, used, use, report)
            first = by_name.setdefault(used.name, (used.tool.id, use))
            if first[0] != used.tool.id:
                _clash(agent, use, used, *first, report)
            elif has_transfer and used.name.startswith(_RESERVED):
                _clash(agent, use, used, "a hand-over", use, report)


def _repeated(
    agent: Agent, use: Use, taken: UsedToolset, users: dict[str, Use], report: Report
) -> frozenset[str]:
    """Return the ids of the tools that stand in an earlier `Use` too; they are reported.

    Native tools come with every `Use` of their toolset, so they only count where it takes nothing else.
    """
    natives = {tool.id: tool.kind for tool in taken.toolset.native}
    tools = {used.tool.id: used.tool.name for used in taken.tools}
    again = [id_ for id_ in (tools or natives) if id_ in users]
    if again:
        first = users[again[0]]
        names = listed({**natives, **tools}[id_] for id_ in again)
        report.add(
            codes.REPEATED_USE,
            use.source,
            related=[]
            if first is use
            else [RelatedSource(message="it stands first here", source=first.source)],
            agent=agent.name,
            tools=f"the tool{'s' if len(again) > 1 else ''} {names}",
            toolset=taken.toolset.name,
        )
    for id_ in (*tools, *natives):
        users.setdefault(id_, use)
    return frozenset(again)


def _check_length(taken: UsedToolset, used: UsedTool, use: Use, report: Report) -> None:
    """Check a wire name; what is too long without the prefix of the `Use` is reported at the tool."""
    if len(taken.toolset.prefix + used.tool.name) <= LONGEST_NAME:
        check_length(report, "a tool with its prefixes", used.name, use.source, "a prefix")


def _clash(agent: Agent, use: Use, used: UsedTool, first: str, place: Use, report: Report) -> None:
    related = (
        [] if place is use else [RelatedSource(message="the first one stands here", source=place.source)]
    )
    report.add(
        codes.WIRE_NAME_CLASH,
        use.source,
        related=related,
        agent=agent.name,
        name=used.name,
        first=first,
        second=used.tool.id,
    )
