"""Designed tools that this process lacks: their calls are left to a worker of another version."""

from __future__ import annotations

from typing import Final

from toolgen.engines import ActivityInfo, NotRegisteredError

from ..host import AgentHost
from ..loop.documents import Parent, RunFacts, StepCall

_MOST_MISSED: Final = 20
"""Workers that may lack a tool, within about five minutes, before the run goes on without it."""


def leave_to_others(info: ActivityInfo, of: StepCall | Parent) -> None:
    """Raise where the tool of a call, which this process lacks, may be known to another worker.

    Raises:
        NotRegisteredError: as said.
    """
    if of.get("is_designed") and info.missed < _MOST_MISSED:
        raise NotRegisteredError(f"the tool {of['tool']} is not registered in this runtime")


def require_returned(host: AgentHost, info: ActivityInfo, facts: RunFacts) -> None:
    """Return where this process knows which result a run must give, or where none may be known to.

    Raises:
        NotRegisteredError: it lacks the tool that the run answers, and another worker may have it.
    """
    parent = facts["parent"]
    if parent is not None and parent["tool"] and host.returned_by(facts) is None:
        leave_to_others(info, parent)
