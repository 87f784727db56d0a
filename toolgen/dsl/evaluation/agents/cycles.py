"""Agents that call one another in a cycle without a way out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from toolgen.expr import codes
from toolgen.expr.tree import UsedToolset

from ...agents import Use
from ..report import Report

_Uses = Mapping[str, Sequence[tuple[Use, UsedToolset]]]


def check_cycles(uses: _Uses, report: Report) -> None:
    """Report each cycle of agents of which none has a tool outside it."""
    reached = {agent: _reached(agent, uses) for agent in uses}
    seen: set[str] = set()
    for agent in uses:
        circle = [other for other in uses if other in reached[agent] and agent in reached.get(other, ())]
        if agent in seen or agent not in reached[agent]:
            continue
        seen.update(circle)
        if not any(_leads_out(other, circle, uses) for other in circle):
            names = ", ".join(map(repr, circle))
            report.add(codes.AGENT_CYCLE, uses[agent][0][0].source, agents=names)


def _reached(agent: str, uses: _Uses) -> set[str]:
    found: set[str] = set()
    waiting = [agent]
    while waiting:
        for _, used in uses.get(waiting.pop(), ()):
            exporter = used.toolset.exporter
            if exporter and exporter not in found:
                found.add(exporter)
                waiting.append(exporter)
    return found


def _leads_out(agent: str, circle: Sequence[str], uses: _Uses) -> bool:
    return any(used.toolset.exporter not in circle or used.toolset.native for _, used in uses[agent])
