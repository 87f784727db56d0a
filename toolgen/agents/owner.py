"""The owner of a run: knowing the ID of a run does not allow a caller to read or cancel it."""

from __future__ import annotations

from typing import Any

from toolgen.contract.record import frozen_record
from toolgen.engines import Engine, RunStatus, UnknownRunError, unknown_run

from .loop.documents import RunFacts


@frozen_record
class Owner:
    """The agent of the caller's client, and the session for which the client acts."""

    agent: str
    session_id: str
    """"" for runs without a session."""

    def require(self, status: RunStatus) -> None:
        """Raise if a run belongs to another agent or session.

        A run belongs to the agent that answers and to the agent whose client started it.

        Raises:
            UnknownRunError: the run belongs to another agent or session.
        """
        if not is_of_agent(status):
            raise unknown_run(status.run_id)
        self.require_log(status)

    def require_log(self, status: RunStatus) -> None:
        """Raise if a log belongs neither to a run of the owner nor to pending work of such a run.

        Raises:
            UnknownRunError: the log belongs to another owner.
        """
        document: Any = status.input
        if not has_facts(status):
            raise unknown_run(status.run_id)
        facts = document["facts"]
        agents = (facts["agent"], facts.get("client"))
        if self.agent not in agents or self.session_id != facts["session_id"]:
            raise unknown_run(status.run_id)


def is_of_agent(status: RunStatus) -> bool:
    """Return whether a run is an agent run, and not only a suspended call."""
    document: Any = status.input
    return isinstance(document, dict) and "facts" in document and "frozen" not in document


def has_facts(status: RunStatus) -> bool:
    """Return whether a run is an agent run, or pending work that outlived a conversation's run."""
    document: Any = status.input
    return isinstance(document, dict) and "facts" in document


async def facts_of_run(engine: Engine, run_id: str) -> RunFacts | None:
    """Return the facts of a run; None if it is not an agent run or no longer exists."""
    try:
        status = await engine.status(run_id)
    except UnknownRunError:
        return None
    document: Any = status.input
    return document["facts"] if has_facts(status) else None


async def is_same_or_descendant(engine: Engine, run_id: str, child: str) -> bool:
    """Return whether `child` is the run itself or a descendant of it.

    Raises:
        UnknownRunError: there is no such run.
    """
    below = [run_id]
    while below:
        if child in below:
            return True
        below = [child for id_ in below for child in (await engine.status(id_)).children]
    return False
