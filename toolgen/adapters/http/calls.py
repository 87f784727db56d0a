"""Tool calls over HTTP: made, repeated by idempotency key, and read."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Coroutine
from contextlib import suppress
from itertools import count
from typing import Any, TypeVar

from pydantic_core import to_json
from starlette.requests import Request

from toolgen.calls.call import CallName, CallNameError
from toolgen.calls.reports import Trace
from toolgen.engines import UnknownRunError
from toolgen.runtime import CallMeta, ReadonlyContext, Runtime, Snapshot, ToolResult, ToolSpec
from toolgen.waiting.loop import call_of

from .bodies import idempotency_key, require_known, text_of
from .call_views import call_record, refusal_of, spec_of
from .callers import Caller
from .problems import HTTPProblem
from .records import Call
from .wait_views import OpenWaits, require_own

T = TypeVar("T")

INTERFACE = "http"
"""Interface name in call names and run ids."""


class ServedCalls:
    """The calls of one runtime."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def offered(self, meta: CallMeta) -> Snapshot | None:
        """Return the tools that a request can use; None if they are always the registered tools."""
        if not self._runtime.tools.may_change:
            return None
        return await self._runtime.tools.snapshot(ReadonlyContext(meta=meta))

    async def make(self, request: Request, caller: Caller, body: dict[str, Any]) -> Call:
        """Make a call, and return it with its result.

        Raises:
            HTTPProblem: The tool does not exist, its arguments do not fit, or its key belongs to another
                call.
        """
        require_known(body, "arguments", "session", "trace")
        tool, received = request.path_params["tool"], body.get("arguments", {})
        arguments = to_json(received, inf_nan_mode="constants")  # constants that every codec rejects
        session = await caller.session(text_of(body, "session"))
        if key := idempotency_key(request):
            return await self._make_once(caller, tool, arguments, session, key)
        meta = caller.meta(session, f"{INTERFACE}_{uuid.uuid4().hex}")
        within = await self.offered(meta)
        trace = Trace() if body.get("trace") is True else None
        call = self._runtime.call(tool, arguments, meta, trace=trace, within=within)
        result = self._accepted(await while_connected(request, call), arguments, within)
        return await self.record(caller, meta.tool_call_id, result, arguments, within, trace)

    async def _make_once(self, caller: Caller, tool: str, arguments: bytes, session: str, key: str) -> Call:
        if self._runtime.engine is None:
            raise HTTPProblem(
                "not-implemented",
                "this server does not store calls, so it cannot check whether this call was made before",
                hint="omit the Idempotency-Key, or give the runtime an engine",
            )
        name = CallName(
            interface=INTERFACE, call_id=key, checkpoint=caller.key, is_detached=True, is_idempotency_key=True
        )
        bare = caller.meta(session)
        meta = caller.meta(session, f"{INTERFACE}_{name.run_id(bare)}")
        within = await self.offered(meta)
        result = await self._runtime.call_once(name, tool, arguments, meta, within=within)
        if isinstance(result.error, CallNameError):
            raise HTTPProblem("idempotency-key-reused", result.error.message)
        self._accepted(result, arguments, within)
        return await self.record(caller, await self._run_of(name, meta), result, arguments, within)

    async def _run_of(self, name: CallName, meta: CallMeta) -> str:
        """Return the run id of a named call.

        A call that never began can have been repeated with edited arguments.
        """
        assert self._runtime.engine is not None
        run_id = name.run_id(meta)
        for edits in count(1):
            try:
                status = await self._runtime.engine.status(name.run_id(meta, edits))
            except UnknownRunError:
                break
            run_id = status.run_id
        return run_id

    async def read(self, caller: Caller, call_id: str) -> Call:
        """Return a stored call with its current result.

        Raises:
            UnknownRunError: The call is not stored, or belongs to another caller.
        """
        if self._runtime.engine is None:
            raise HTTPProblem("not-found", "this server does not store calls")
        status = await self._runtime.engine.status(call_id)
        session = await require_own(caller, status)
        result = await self._runtime.runs.call_result(call_id)
        call = call_of(status.input)  # type: ignore[arg-type]  # `call_result` has read it
        within = await self.offered(caller.meta(session))
        return await self.record(caller, call_id, result, call["arguments"].encode(), within)

    async def record(
        self,
        caller: Caller,
        call_id: str,
        result: ToolResult,
        arguments: bytes,
        within: Snapshot | None,
        trace: Trace | None = None,
    ) -> Call:
        """Return the record of a call with these arguments, and with its pending suspensions."""
        waits = []
        if result.suspension is not None and self._runtime.engine is not None:
            open_waits = OpenWaits(self._runtime, self._runtime.engine, caller)
            for suspended in result.suspensions:
                with suppress(HTTPProblem):  # answered in the meantime
                    waits.append((await open_waits.find(suspended.id, suspended.run_id)).record)
            call_id = result.suspension.call.run_id or call_id
        spec = self._spec(result, within)
        return call_record(self._runtime, call_id, result, spec, arguments, waits=waits, trace=trace)

    def _accepted(self, result: ToolResult, arguments: bytes, within: Snapshot | None) -> ToolResult:
        """Return the result of an accepted call.

        Raises:
            HTTPProblem: The tool does not exist, or its arguments were rejected before execution.
        """
        spec = self._spec(result, within)
        if spec is None:
            raise HTTPProblem("unknown-tool", str(result.error))
        limits = self._runtime.assembly.services.limits
        if (refusal := refusal_of(result, spec, arguments, limits)) is not None:
            raise refusal
        return result

    def _spec(self, result: ToolResult, within: Snapshot | None) -> ToolSpec | None:
        registered = None if within is None else within.directory.by_name.get(result.tool)
        return spec_of(self._runtime, result.tool) if registered is None else registered.spec


async def while_connected(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Return the result of a request's work; cancel the work if the client disconnects.

    Raises:
        HTTPProblem: The client disconnected, so it does not receive this problem.
    """
    task = asyncio.ensure_future(work)
    disconnected = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait((task, disconnected), return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            task.cancel()
            await asyncio.wait((task,))
        if task.cancelled():
            raise HTTPProblem("unavailable", "the client disconnected")
        return task.result()
    finally:
        task.cancel()
        disconnected.cancel()


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
