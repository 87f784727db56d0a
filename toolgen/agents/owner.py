"""The owner of a run: knowing the id of a run does not allow a caller to read or cancel it."""

from __future__ import annotations

from typing import Any

from toolgen.contract.record import frozen_record
from toolgen.engines import Engine, RunStatus, UnknownRunError, unknown_run

from .loop.documents import RunFacts


@frozen_record
class Owner:
    """The agent whose client a caller has, and the session that it acts for."""

    agent: str
    session_id: str
    """"" for runs without one."""

    def require(self, status: RunStatus) -> None:
        """Raise where a run belongs to another agent or session.

        It is that of the agent that answers, and of the one whose client started it.

        Raises:
            UnknownRunError: as said.
        """
        if not is_of_agent(status):
            raise unknown_run(status.run_id)
        self.require_log(status)

    def require_log(self, status: RunStatus) -> None:
        """Raise where a log is neither of a run of the owner nor of pending work of such a run.

        Raises:
            UnknownRunError: as said.
        """
        document: Any = status.input
        if not has_facts(status):
            raise unknown_run(status.run_id)
        facts = document["facts"]
        agents = (facts["agent"], facts.get("client"))
        if self.agent not in agents or self.session_id != facts["session_id"]:
            raise unknown_run(status.run_id)


def is_of_agent(status: RunStatus) -> bool:
    """Return whether a run is one of an agent, and not one of a suspended call alone."""
    document: Any = status.input
    return isinstance(document, dict) and "facts" in document and "frozen" not in document


def has_facts(status: RunStatus) -> bool:
    """Return whether a run is one of an agent, or of pending work that outlived a conversation's run."""
    document: Any = status.input
    return isinstance(document, dict) and "facts" in document


async def facts_of_run(engine: Engine, run_id: str) -> RunFacts | None:
    """Return the facts of a run; None where it is no run of an agent, or is gone."""
    try:
        status = await engine.status(run_id)
    except UnknownRunError:
        return None
    document: Any = status.input
    return document["facts"] if has_facts(status) else None


async def is_same_or_descendant(engine: Engine, run_id: str, child: str) -> bool:
    """Return whether a run is the other one or a descendant of it.

    Raises:
        UnknownRunError: there is no such run.
    """
    below = [run_id]
    while below:
        if child in below:
            return True
        below = [child for id_ in below for child in (await engine.status(id_)).children]
    return False
