"""Runs over HTTP: start, list, show and cancel them, and resolve calls with an unknown outcome."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final, get_args

from starlette.requests import Request

from toolgen.agents import Agents, Upload
from toolgen.agents.output import artifacts_so_far
from toolgen.agents.planner.portable import portable_text
from toolgen.engines import Engine, RunState, RunStatus, UnknownRunError
from toolgen.runtime import RegistrationError, Runtime, ToolgenError
from toolgen.stores import StoreCorruptError, StoreError
from toolgen.waiting.errors import SuspensionError
from toolgen.waiting.once_call import Resolution, UnfitResultError
from toolgen.waiting.resolving import unknown_ends

from .bodies import (
    choice_of,
    files_of,
    idempotency_key,
    limit_of,
    require_known,
    require_known_query,
    text_of,
)
from .callers import Caller
from .calls import INTERFACE, ServedCalls
from .pages import fetched
from .problems import HTTPProblem
from .records import AgentPage, Call, Run, RunPage, Suspension
from .run_views import run_record
from .wait_views import OpenWaits, require_own, session_of
from .waits import engine_of

_UNKNOWN: Final = "unknown"
_MOST_KNOWN: Final = 100_000
_STATES: Final = (*get_args(RunState), _UNKNOWN)
_OUTCOMES: Final = ("result", "failed", "not_run")


class ServedRuns:
    """The runs of one runtime."""

    def __init__(self, runtime: Runtime, calls: ServedCalls) -> None:
        self._runtime = runtime
        self._calls = calls
        self._all_known = set[str]()
        """Ids of ended runs that will never have a call with an unknown outcome."""

    def agents(self) -> Agents:
        """Return the agents of the runtime.

        Raises:
            HTTPProblem: The runtime has no agents.
        """
        joined = self._runtime.assembly.joined
        if not isinstance(joined, Agents):
            raise HTTPProblem("not-found", "this runtime has no agents")
        return joined

    def list_agents(self) -> AgentPage:
        """Return the agents of the runtime."""
        joined = self._runtime.assembly.joined
        if not isinstance(joined, Agents):
            return {"agents": []}
        return {
            "agents": [
                {"id": id_, "tools": [spec.name for spec in joined.specs(id_)]} for id_ in joined.list()
            ]
        }

    async def list(self, request: Request, caller: Caller) -> RunPage:
        """Return the runs that the caller may see, newest first.

        The status `unknown` selects the runs with an unknown outcome. They are filtered from a page of all
        runs, so a page can have fewer of them.
        """
        require_known_query(request, "after", "limit", "session", "status")
        query = request.query_params
        status_filter, session = choice_of(request, "status", _STATES), query.get("session") or None
        state = None if status_filter == _UNKNOWN else status_filter
        if session:
            await caller.require(session)

        async def fetch(after: str, most: int) -> tuple[RunStatus, ...]:
            return await self._runtime.runs.list(state=state, session=session, after=after, limit=most)

        async def is_own(status: RunStatus) -> bool:
            return await caller.owns(session_of(status))

        page, after = await fetched(
            fetch, is_own, query.get("after", ""), limit_of(request), lambda status: status.run_id
        )
        engine = engine_of(self._runtime)
        runs: list[Run] = []
        for status in page:
            try:
                unknown = await self._unknown(engine, status)
            except StoreCorruptError as error:  # only this run is damaged
                runs.append(run_record(self._runtime, replace(status, error=error.message)))
                continue
            if unknown or status_filter != _UNKNOWN:
                runs.append(run_record(self._runtime, status, unknown=unknown))
        return {"runs": runs, "next": after} if after else {"runs": runs}

    async def _unknown(self, engine: Engine, status: RunStatus) -> Sequence[str]:
        """Return a run's calls with an unknown outcome; reread its journal only if it can still get one."""
        if status.run_id in self._all_known:
            return ()
        unknown = await _unknown(engine, status.run_id)
        if not unknown and status.is_over and not status.children:
            if len(self._all_known) >= _MOST_KNOWN:
                self._all_known.clear()
            self._all_known.add(status.run_id)
        return unknown

    async def start(self, request: Request, caller: Caller, body: dict[str, Any]) -> Run:
        """Start a run of an agent in a session; if no session is named, create one."""
        require_known(body, "agent", "message", "session", "files")
        agent, message = text_of(body, "agent", default=None), text_of(body, "message", default=None)
        named = text_of(body, "session")
        key = idempotency_key(request)
        if named:
            await caller.require(named)
        elif key:  # the same session for each repetition of the request
            named = f"{caller.prefix}{_digest(caller, '', key)}" if caller.prefix is not None else ""
        return await self.begin(caller, agent, message, named or caller.new_session(), key, files_of(body))

    async def begin(
        self, caller: Caller, agent: str, message: str, session: str, key: str, files: Sequence[Upload] = ()
    ) -> Run:
        """Start a turn of a session, once per key, and return its run.

        Raises:
            HTTPProblem: The agent does not exist, or the key was used with another message, agent or other
                files.
        """
        agents = self.agents()
        try:
            client = agents.client(agent)
        except RegistrationError as error:
            raise HTTPProblem("not-found", error.message, hint=error.hint) from None
        try:
            handle = await client.start(
                message,
                session_id=session,
                run_id=f"run_{_digest(caller, session, key)}" if key else "",
                labels=caller.labels,
                requested_by=caller.id,
                files=files,
            )
        except UnknownRunError:  # the run of this key belongs to another agent
            raise HTTPProblem(
                "idempotency-key-reused", "the key was used before, with another agent"
            ) from None
        status = await self._runtime.runs.status(handle.run_id)
        run_input: Any = status.input
        if key and run_input["message"] != portable_text(message):
            raise HTTPProblem("idempotency-key-reused", "the key was used before, with another message")
        if key and not await self._has(run_input.get("content", ()), files, session):
            raise HTTPProblem("idempotency-key-reused", "the key was used before, with other files")
        return run_record(self._runtime, status)

    async def _has(self, links: Sequence[Mapping[str, str]], files: Sequence[Upload], session: str) -> bool:
        """Return whether the files of a message are equal to these files."""
        loaded = [await self._runtime.artifacts.load(link["uri"], session_id=session) for link in links]
        stored_files = [Upload(name=f.info.name, data=f.data, media_type=f.info.media_type) for f in loaded]
        return stored_files == list(files)

    async def status(self, caller: Caller, run_id: str) -> RunStatus:
        """Return the status of a run for its clients.

        Raises:
            UnknownRunError: No run has the id, or it belongs to another caller.
        """
        status = await self._runtime.runs.status(run_id)
        await require_own(caller, status)
        return status

    async def show(self, caller: Caller, run_id: str) -> Run:
        """Return a run with its suspensions, artifacts and unknown outcomes."""
        status, engine = await self.status(caller, run_id), engine_of(self._runtime)
        open_waits = OpenWaits(self._runtime, engine, caller)
        below = [] if status.is_over else await open_waits.below(status)
        unknown = await _unknown(engine, run_id)
        artifacts = await artifacts_so_far(engine, status)
        return run_record(
            self._runtime,
            status,
            waits=[wait.record for wait in below],
            pending=await self._pending(open_waits, status),
            unknown=unknown,
            artifacts=artifacts,
        )

    async def _pending(self, open_waits: OpenWaits, status: RunStatus) -> Sequence[Suspension]:
        """Return the work that continues after a run has ended."""
        output: Any = status.output
        work = output.get("pending", ()) if isinstance(output, dict) else ()
        waits: list[Any] = []
        for wait in work if isinstance(work, Sequence) else ():
            with suppress(UnknownRunError, SuspensionError):
                waits += [wait.record for wait in await open_waits.of_session(None, wait["run_id"])]
        return waits

    async def cancel(self, caller: Caller, run_id: str, body: dict[str, Any]) -> Run:
        """Cancel a run with its child runs and calls, and return it."""
        require_known(body, "reason")
        await self.status(caller, run_id)
        await self._runtime.runs.cancel(run_id, text_of(body, "reason"))
        return await self.show(caller, run_id)

    async def resolve(self, caller: Caller, run_id: str, body: dict[str, Any]) -> Call:
        """Resolve a call with an unknown outcome, and return the call."""
        require_known(body, "tool_call_id", "outcome", "result", "message")
        await self.status(caller, run_id)
        outcome: Any = text_of(body, "outcome", default=None)
        if outcome not in _OUTCOMES:
            raise HTTPProblem("invalid-request", f"'outcome' must be one of {', '.join(_OUTCOMES)}")
        resolution = Resolution(outcome=outcome, result=body.get("result"), message=text_of(body, "message"))
        call_id = text_of(body, "tool_call_id")
        try:
            result = await self._runtime.runs.resolve(run_id, call_id, resolution, by=caller.id)
        except (UnknownRunError, StoreError):
            raise
        except UnfitResultError as error:
            raise HTTPProblem("invalid-answer", error.message, hint=error.hint) from None
        except ToolgenError as error:
            raise HTTPProblem("conflict", error.message, hint=error.hint) from None
        return await self._calls.record(caller, result.tool_call_id or run_id, result, b"{}", None)


async def _unknown(engine: Engine, run_id: str) -> list[str]:
    """Return the ids of a run's calls with an unknown outcome."""
    return [str(end["tool_call_id"]) for end in await unknown_ends(engine, run_id)]


def _digest(caller: Caller, session: str, key: str) -> str:
    """Return a part of an id, derived from the idempotency key of a request."""
    return hashlib.sha256(json.dumps([INTERFACE, caller.key, session, key]).encode()).hexdigest()[:32]
