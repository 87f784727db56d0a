"""What a run is restricted to, checked at its start: one tool by its name, tools with tags or without."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping

from toolgen.contract.errors import ToolgenError

from .registered_agents import RegisteredAgent
from .run_facts import RunOptions


class UnknownRestrictionError(ToolgenError):
    """A run is restricted by the name of a tool, or by a tag, that nothing has."""


def check_restrictions(
    agent: str, options: RunOptions, agents: Mapping[str, RegisteredAgent], tags: Iterable[str]
) -> None:
    """Raise where a restriction of a run names what no tool has: it would do nothing, or leave no tool.

    The tool and the allowed tags are those of the agent, of those whose tools it calls, and of those to
    which it may hand the conversation. `tags` are those of all tools of the runtime: a run may be denied tags
    that its own agent does not have. Where one of these agents is executed elsewhere, or has dynamic
    toolsets, a tool may come later, and nothing is checked.

    Raises:
        UnknownRestrictionError: as said.
    """
    reached = _reached(agent, agents)
    if reached is None or any(agent_.toolsets.is_dynamic for agent_ in reached):
        return
    specs = [spec for agent_ in reached for spec in agent_.specs]
    if only := options.get("restrict_to_tool", ""):
        _require([only], {spec.name for spec in specs}, f"no tool of agent {agent!r} has the wire name")
    own = {tag for spec in specs for tag in spec.tags}
    _require(options.get("allowed_tags", ()), own, f"no tool of agent {agent!r} has the allowed tag")
    _require(options.get("denied_tags", ()), own.union(tags), "no tool of the runtime has the denied tag")


def _reached(agent: str, agents: Mapping[str, RegisteredAgent]) -> list[RegisteredAgent] | None:
    """Return the agents that a run of this one may reach; None where one of them is not here."""
    waiting, reached = [agent], dict[str, RegisteredAgent]()
    while waiting:
        id_ = waiting.pop()
        if id_ in reached:
            continue
        other = agents.get(id_)
        if other is None:
            return None
        reached[id_] = other
        waiting += [*other.called, *other.spec.transfers]
    return list(reached.values())


def _require(named: Iterable[str], names: set[str], why: str) -> None:
    """Raise for the names that are not known.

    Raises:
        UnknownRestrictionError: as said; the hint has close names.
    """
    unknown = [name for name in named if name not in names]
    if unknown:
        raise UnknownRestrictionError(
            f"{why} {', '.join(map(repr, unknown))}", hint="; ".join(_hints(unknown, sorted(names)))
        )


def _hints(unknown: Iterable[str], names: list[str]) -> Iterator[str]:
    for name in unknown:
        if near := difflib.get_close_matches(name, names, 3):
            yield f"close to {name!r} are {', '.join(near)}"
    if not names:
        yield "there are none"
