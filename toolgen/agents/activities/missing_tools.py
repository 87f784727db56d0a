"""Designed tools that this process lacks: their calls are left to a worker with another version."""

from __future__ import annotations

from typing import Final

from toolgen.engines import ActivityInfo, NotRegisteredError

from ..host import AgentHost
from ..loop.documents import Parent, RunFacts, StepCall

_MOST_MISSED: Final = 20
"""Number of workers that may lack a tool, within about five minutes, before the run continues without it."""


def leave_to_others(info: ActivityInfo, of: StepCall | Parent) -> None:
    """Raise if this process lacks the tool of a call and another worker may have it.

    Raises:
        NotRegisteredError: another worker may have the tool.
    """
    if of.get("is_designed") and info.missed < _MOST_MISSED:
        raise NotRegisteredError(f"the tool {of['tool']} is not registered in this runtime")


def require_returned(host: AgentHost, info: ActivityInfo, facts: RunFacts) -> None:
    """Return if this process knows the result type of a run, or if no worker needs to know it.

    Raises:
        NotRegisteredError: this process lacks the tool that the run answers, and another worker may have it.
    """
    parent = facts["parent"]
    if parent is not None and parent["tool"] and host.returned_by(facts) is None:
        leave_to_others(info, parent)
