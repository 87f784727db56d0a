"""Reads from the runs of a session which agent handed the conversation to which. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from ..loop.documents import TRANSFER
from ..sessions.sessions import Turn


def previous_agent(turns: Iterable[Turn]) -> str | None:
    """Return the agent that handed the conversation to the newest one; None for the first agent.

    The turns are in the order in which their runs began. A run that took the conversation over has the id
    of the run before it, with the key of the hand-over. Where a run goes on whose agent had handed the
    conversation over, that agent has it back.
    """
    agents: dict[str, str] = {}
    below: list[str] = []
    has_it = ""
    for turn in turns:
        agents[turn.run_id] = turn.agent
        before, _, op = turn.run_id.rpartition("/")
        is_taken = op.startswith(TRANSFER) and before in agents
        goes_on = agents[before] if is_taken else turn.agent
        while below and has_it != goes_on:
            has_it = below.pop()
        has_it = goes_on
        if is_taken:
            below.append(has_it)
            has_it = turn.agent
    return below[-1] if below else None
