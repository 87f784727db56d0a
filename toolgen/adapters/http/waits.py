"""Suspended calls and questions over HTTP: list, show, answer and cancel."""

from __future__ import annotations

from typing import Any, Final, cast

from starlette.requests import Request

from toolgen.agents import Agents
from toolgen.agents.output import awaiting_of
from toolgen.calls.call import CALL
from toolgen.contract.json_value import Json
from toolgen.engines import Engine
from toolgen.runtime import Runtime, ToolResult
from toolgen.waiting.errors import (
    NoEngineError,
    TamperedSuspensionError,
    UnsealedSuspensionError,
)

from .bodies import limit_of, require_known, require_known_query, required, seconds_of, text_of
from .callers import Caller
from .calls import ServedCalls
from .options import SurfaceOptions
from .pages import cut
from .problems import HTTPProblem
from .records import Answered, GrantPage, GrantRecord, Suspension, SuspensionPage
from .wait_views import FoundWait, OpenWaits, session_of

_LONGEST_S: Final = 300.0
"""Maximum number of seconds that an answer waits for its result."""


def engine_of(runtime: Runtime) -> Engine:
    """Return the engine that executes the runs of a runtime or, if it has none, of its agents.

    Raises:
        NoEngineError: The runtime has no runs.
    """
    waits = runtime.assembly.waits
    if waits is None:
        raise NoEngineError("this runtime has no engine, so it has no runs")
    return waits.engine


def answered_wait(open_wait: FoundWait, caller: Caller) -> Answered:
    return {
        "suspension_id": open_wait.record["id"],
        "run_id": open_wait.wait.run_id,
        "answered_by": caller.id,
    }


class ServedWaits:
    """The suspensions of one runtime."""

    def __init__(self, runtime: Runtime, calls: ServedCalls, options: SurfaceOptions) -> None:
        self._runtime = runtime
        self._calls = calls
        self._options = options

    async def list(self, request: Request, caller: Caller) -> SuspensionPage:
        """Return the suspensions that the caller can answer or see, oldest first."""
        require_known_query(request, "after", "limit", "run", "session")
        query = request.query_params
        session, run_id = query.get("session"), query.get("run", "")
        if session:
            await caller.require(session)
        waits = await self._open(caller).of_session(session or None, run_id)
        if run_id and session:
            waits = [wait for wait in waits if session_of(wait.status) == session]
        page, after = cut(waits, query.get("after", ""), limit_of(request), lambda wait: wait.record["id"])
        records = [wait.record for wait in page]
        return {"suspensions": records, "next": after} if after else {"suspensions": records}

    async def show(self, request: Request, caller: Caller) -> Suspension:
        """Return one open suspension."""
        return (await self._find(request, caller)).record

    async def answer(self, request: Request, caller: Caller, body: dict[str, Any]) -> Answered:
        """Answer a suspension, and return the outcome."""
        require_known(body, "answer", "wait_s")
        answer, wait_s = required(body, "answer"), self._wait_s(body)
        open_wait = await self._find(request, caller)
        self._require_sealed(open_wait)
        suspended = await self._runtime.suspensions.at(open_wait.wait) if self._takes_tokens() else None
        if suspended is None:
            await self._answer_planner(open_wait, caller, answer)
            return answered_wait(open_wait, caller)
        within = await self._calls.offered(caller.meta(session_of(open_wait.status)))
        result = await self._runtime.suspensions.within(within).answer(
            suspended.token, answer, by=caller.id, wait_s=wait_s
        )
        return await self._answered(open_wait, caller, result)

    async def intermediate(self, request: Request, caller: Caller, body: dict[str, Json]) -> Answered:
        """Send an intermediate result of pending work, which continues."""
        require_known(body, "key", "value")
        key, value = text_of(body, "key", default=None), required(body, "value")
        open_wait = await self._find(request, caller)
        self._require_sealed(open_wait)
        suspended = await self._runtime.suspensions.at(open_wait.wait) if self._takes_tokens() else None
        if suspended is None:
            raise HTTPProblem("not-found", "no pending work has this id")
        await self._runtime.suspensions.intermediate(suspended.token, value, key=key, by=caller.id)
        return answered_wait(open_wait, caller)

    async def cancel(self, request: Request, caller: Caller, body: dict[str, Any]) -> Answered:
        """Cancel a suspension, and return the outcome; an unsealed one is cancelled with its run."""
        require_known(body, "reason", "wait_s")
        reason, wait_s = text_of(body, "reason"), self._wait_s(body)
        open_wait = await self._find(request, caller)
        is_sealed = open_wait.record["seal"] == "sealed"
        suspended = (
            await self._runtime.suspensions.at(open_wait.wait) if is_sealed and self._takes_tokens() else None
        )
        if suspended is None:
            await self._runtime.runs.cancel(open_wait.wait.run_id, reason)
            return answered_wait(open_wait, caller)
        result = await self._runtime.suspensions.cancel(suspended.token, reason, by=caller.id, wait_s=wait_s)
        return await self._answered(open_wait, caller, result)

    async def grants(self, caller: Caller, session_id: str) -> GrantPage:
        """Return the grants of a session of the caller, newest first."""
        await caller.require(session_id)
        shown = [grant.shown() for grant in await self._runtime.suspensions.grants(session_id)]
        records = [{name: value for name, value in each.items() if value not in ("", None)} for each in shown]
        return {"grants": cast(list[GrantRecord], records)}

    async def revoke(self, request: Request, caller: Caller, body: dict[str, Json]) -> GrantPage:
        """Revoke a grant of a session of the caller, and return the remaining grants."""
        require_known(body)
        session_id, grant_id = request.path_params["session"], request.path_params["grant"]
        await caller.require(session_id)
        await self._runtime.suspensions.revoke(grant_id, session_id=session_id, by=caller.id)
        return await self.grants(caller, session_id)

    async def _answered(self, open_wait: FoundWait, caller: Caller, result: ToolResult) -> Answered:
        run_id, call = open_wait.wait.run_id, open_wait.checked.call if open_wait.checked else None
        is_of_call = call is not None and call.tool == result.tool
        arguments = call.payload_json if call is not None and is_of_call else b"{}"
        within = await self._calls.offered(caller.meta(session_of(open_wait.status)))
        top = run_id.partition("/")[0]
        call_id = top if top.startswith(CALL) else result.tool_call_id
        record = await self._calls.record(caller, call_id, result, arguments, within)
        return {**answered_wait(open_wait, caller), "call": record}

    async def _answer_planner(self, open_wait: FoundWait, caller: Caller, answer: Json) -> None:
        """Answer the question of a planner, or resume a paused run with a message.

        Raises:
            HTTPProblem: The agents of the run are not registered here.
            SuspensionError: The answer was rejected.
        """
        agents, record = self._runtime.assembly.joined, open_wait.record
        if not isinstance(agents, Agents):
            raise HTTPProblem("unavailable", "the agents of this run are not registered here")
        handle = agents.client(record.get("agent", "")).handle(
            open_wait.wait.run_id, session_id=record.get("session_id", "")
        )
        if record["kind"] == "pause":
            await handle.resume(answer if isinstance(answer, str) else "")
            return
        awaiting = awaiting_of(open_wait.wait.run_id, open_wait.wait.about)
        await handle.answer(awaiting, answer, by=caller.id)

    def _require_sealed(self, open_wait: FoundWait) -> None:
        match open_wait.record["seal"]:
            case "tampered":
                raise TamperedSuspensionError(open_wait.wait.run_id)
            case "unsealed":
                raise UnsealedSuspensionError(open_wait.wait.run_id)
            case _:
                pass

    def _takes_tokens(self) -> bool:
        return self._runtime.engine is not None

    def _wait_s(self, body: dict[str, Json]) -> float:
        return seconds_of(body, "wait_s", self._options.answer_s, _LONGEST_S)

    def _open(self, caller: Caller) -> OpenWaits:
        return OpenWaits(self._runtime, engine_of(self._runtime), caller)

    async def _find(self, request: Request, caller: Caller) -> FoundWait:
        run_id = request.query_params.get("run", "")
        return await self._open(caller).find(request.path_params["suspension"], run_id)
