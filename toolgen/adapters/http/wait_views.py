"""Suspended calls and questions for clients; only operators see unsealed records."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, Final, cast

from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record
from toolgen.engines import Engine, RunStatus, RunWait, UnknownRunError, unknown_run
from toolgen.runtime import Runtime
from toolgen.runtime.public_views import shown_record
from toolgen.waiting.checking import CheckedCall, waits_of

from .callers import Caller
from .problems import HTTPProblem
from .records import Suspension

_OF_CALLS: Final = (
    "kind", "tool", "tool_call_id", "question", "preview", "is_shortened", "arguments", "answer_schema",
    "created_at", "expires_at", "handle", "request", "requested_by", "reason", "number",
)  # fmt: skip
_OF_PLANNERS: Final = ("kind", "question", "answer_schema", "reason", "handle")


@frozen_record
class FoundWait:
    """Open wait of a run, with its status and record."""

    wait: RunWait
    status: RunStatus
    """Status of its run."""
    checked: CheckedCall | None
    """Suspended call; None for a planner's question and for a pause."""
    record: Suspension


class OpenWaits:
    """Open waits of one runtime that one caller may see."""

    def __init__(self, runtime: Runtime, engine: Engine, caller: Caller) -> None:
        self._runtime = runtime
        self._engine = engine
        self._caller = caller
        self._statuses: dict[str, RunStatus | None] = {}

    async def of_session(self, session: str | None, run_id: str = "") -> list[FoundWait]:
        """Return the waits of a run, of a session, or all that the caller may see, oldest first."""
        if run_id:
            status = await self._status(run_id)
            waits = [] if status is None else waits_of(status)
        else:
            waits = list(await self._engine.open_waits(session=session, limit=sys.maxsize))
        visible = [await self._visible(wait) for wait in waits]
        return [wait for wait in visible if wait is not None]

    async def find(self, id_: str, run_id: str = "") -> FoundWait:
        """Return the open wait with an id; of one run if `run_id` is set.

        Raises:
            HTTPProblem: The caller may see no wait with this id.
        """
        waits: object
        if run_id:
            status = await self._status(run_id)
            waits = () if status is None else waits_of(status)
        else:
            waits = await self._engine.open_waits(limit=sys.maxsize)
        for wait in waits:
            if id_of(wait) == id_ and (visible := await self._visible(wait)) is not None:
                return visible
        raise HTTPProblem("not-found", "no suspended call has this id, or you have no access to it")

    async def below(self, status: RunStatus) -> list[FoundWait]:
        """Return the waits of a run and its child runs, its own first."""
        visible = [await self._visible(wait) for wait in waits_of(status)]
        own = [wait for wait in visible if wait is not None]
        for child in status.children:
            if (below := await self._status(child)) is not None and not below.is_over:
                own += await self.below(below)
        return own

    async def _status(self, run_id: str) -> RunStatus | None:
        if run_id not in self._statuses:
            try:
                self._statuses[run_id] = await self._engine.status(run_id)
            except UnknownRunError:
                self._statuses[run_id] = None
        return self._statuses[run_id]

    async def _visible(self, wait: RunWait) -> FoundWait | None:
        """Return a wait with its record; None if the caller may not see it."""
        status = await self._status(wait.run_id)
        if status is None or not await self._caller.owns(session_of(status)):
            return None
        calls = await self._runtime.suspensions.check([wait])
        checked = calls[0] if calls else None
        if checked is not None and checked.state != "sealed" and not self._caller.sees_all:
            return None
        record = _planners(wait, status) if checked is None else self._calls(wait, status, checked)
        if record is None:
            return None
        return FoundWait(wait=wait, status=status, checked=checked, record=record)

    def _calls(self, wait: RunWait, status: RunStatus, checked: CheckedCall) -> Suspension:
        """Return the record of a call; for an unsealed call, its unverified content, for operators."""
        call = checked.call
        facts: dict[str, Any] = {} if call is None else {**call.shown(), "created_at": call.created_at}
        if checked.state != "sealed" and isinstance(checked.record, dict):
            shown = shown_record(self._runtime, checked.record)
            facts["arguments"] = {"payload_json": shown.get("payload_json")}
        facts["kind"] = facts.get("kind", "confirmation")
        return _record(wait, status, {name: facts.get(name) for name in _OF_CALLS}, checked.state)


async def require_own(caller: Caller, status: RunStatus) -> str:
    """Return the session of a run that belongs to the caller.

    Raises:
        UnknownRunError: The run belongs to another caller; the error reads as if it did not exist.
    """
    session = session_of(status)
    if not await caller.owns(session):
        raise unknown_run(status.run_id)
    return session


def session_of(status: RunStatus) -> str:
    """Return the session of a run; "" if it has none."""
    match status.input:
        case {"facts": {"session_id": str(session)}}:
            return session
        case {"call": {"meta": {"session_id": str(session)}}}:
            return session
        case _:
            return status.session


def id_of(wait: RunWait) -> str:
    """Return a wait's id for clients: the call's id, or the run's id with the id of a planner's question."""
    match wait.about:
        case {"frozen": {"id": str(id_)}}:
            return id_
        case {"id": str(id_)}:
            return f"{wait.run_id}:{id_}"
        case _:
            return f"{wait.run_id}:{wait.op}"


def _planners(wait: RunWait, status: RunStatus) -> Suspension | None:
    """Return the record of a planner's question or a pause; None for a wait of a host's own loop."""
    about: Any = wait.about
    if not isinstance(about, Mapping) or "kind" not in about:
        return None
    return _record(wait, status, {name: about.get(name) for name in _OF_PLANNERS}, "sealed")


def _record(wait: RunWait, status: RunStatus, facts: dict[str, Json], state: str) -> Suspension:
    run_input: Any = status.input
    agent = run_input["facts"]["agent"] if isinstance(run_input, dict) and "facts" in run_input else ""
    optional: dict[str, object] = {**facts, "session_id": session_of(status), "agent": agent}
    head: dict[str, Json] = {"id": id_of(wait), "run_id": wait.run_id, "seal": state}
    return cast(Suspension, head | {key: value for key, value in optional.items() if value})
