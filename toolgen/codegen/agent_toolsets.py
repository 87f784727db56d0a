"""What an agent takes of its toolsets."""

from __future__ import annotations

from toolgen.expr.tree import Agent, Confirmation, Toolset, UsedTool

from . import names


def toolsets_of(agent: Agent) -> list[Toolset]:
    """Return the toolsets of an agent, each once, in the order of their first use."""
    return list({names.qualified(used.toolset): used.toolset for used in agent.uses}.values())


def own_confirmation(used: UsedTool) -> Confirmation | None:
    """Return what a person is asked before an agent's call, where it is not what the tool says."""
    return used.confirmation if used.confirmation != used.tool.behaviour.confirmation else None
