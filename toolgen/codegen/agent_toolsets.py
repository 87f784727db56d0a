"""The toolsets of an agent, and its own confirmations."""

from __future__ import annotations

from toolgen.contract.tool_facts import Confirmation
from toolgen.expr.tree import Agent, Toolset, UsedTool

from . import names


def toolsets_of(agent: Agent) -> list[Toolset]:
    """Return the toolsets of an agent, each once, in the order of their first use."""
    return list({names.qualified(used.toolset): used.toolset for used in agent.uses}.values())


def own_confirmation(used: UsedTool) -> Confirmation[str] | None:
    """Return the confirmation of an agent's calls, where it differs from the tool's own."""
    return used.confirmation if used.confirmation != used.tool.confirmation else None
