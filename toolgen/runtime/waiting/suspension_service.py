"""What clients do with suspended calls: answer, wait for the result, report progress."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from toolgen.contract.json_value import Json
from toolgen.contract.secrets import hiding

from ..call.frame import RuntimeServices
from ..call.secrets import frozen_secrets
from ..engine import UnknownRunError, WaitOverError, WaitStatus
from ..errors import DeclaredError
from ..events.progress import checked_fraction, progress_json, require_text
from ..results import Suspended, ToolResult
from ..toolsets.snapshot import Snapshot
from .answers import answer_key, cancel_reason, failure_answer, validate_answer, without_nulls
from .asking import (
    OpenedToken,
    answer_question,
    open_token,
    outer_call,
    require_waits,
    top_run,
    unknown_suspension,
)
from .call_names import CALL
from .call_runs import CallRuns
from .errors import (
    ConflictingAnswerError,
    LateAnswerError,
    MissingToolError,
    NotAllowedAnswerError,
    SuspensionError,
    TamperedSuspensionError,
    UnknownSuspensionError,
    UnsealedSuspensionError,
)
from .frozen import FrozenCall, SealedCall
from .loop import CallDocument, call_of
from .options import refusal
from .outcomes import result_of_event
from .resuming import WaitingTools
from .wait_registry import WaitRegistry


@dataclass(frozen=True, slots=True)
class _Expected:
    """What gets the typed results that an answer leads to."""

    own: asyncio.Future[ToolResult]
    above: tuple[str, CallDocument] | None
    """The direct call that the answer leads to the result of, by its run; None where there is none."""
    outer: asyncio.Future[ToolResult] | None


class SuspensionService:
    """Serves the clients of suspended calls of one runtime."""

    def __init__(self, services: RuntimeServices, tools: WaitingTools, calls: CallRuns) -> None:
        self._services = services
        self._tools = tools
        self._calls = calls

    async def deliver(
        self,
        token: str,
        answer: Json | DeclaredError,
        *,
        session_id: str | None,
        by: str,
        wait_s: float | None,
        within: Snapshot | None,
    ) -> ToolResult:
        """Answer a suspended call and return its result; as `Runtime.deliver`.

        Where this process has no tools at all, what needs the tool is found out where the call is executed.
        """
        answer = failure_answer(answer) if isinstance(answer, DeclaredError) else answer
        waits = self._waits()
        await waits.start(top_run(waits.sealer.open(token).run_id))
        waiting = await open_token(self._waits(), token, session_id)
        record = waiting.record
        if record is None:
            send: Coroutine[Any, Any, None] = self._answer_planner(waiting, answer, by)
        else:
            answer = without_nulls(record.call, answer)
            answer_key(answer)  # raises for what is no JSON
            if waiting.status.answer is None:
                await self._check(waiting.status, record, answer, by, within)
            send = self._answer(waits, record, answer, by)
        try:
            async with self._expected(waiting) as expected:
                await send
                return await self._wait_for_result(waiting, expected, wait_s)
        except SuspensionError:  # the call goes on with no answer, or with another one
            if record is not None:
                self._tools.take_back(record.call)
            raise

    async def _check(
        self, status: WaitStatus, record: SealedCall, answer: Json, by: str, within: Snapshot | None
    ) -> None:
        """Raise where the answer to a call that still waits cannot be taken.

        Raises:
            SuspensionError: as said.
        """
        waits, frozen = self._waits(), record.call
        if not status.is_open or frozen.expires_at <= waits.options.clock():
            raise await self._late(record.run_id, "the time to answer is over")
        within = None if "/" in record.run_id else within  # what a run asks is of its own agent
        tool = await self._tools.find(frozen.tool, frozen.meta, record.run_id, within)
        if tool is None and not self._tools.is_empty and cancel_reason(answer) is None:
            raise MissingToolError(
                f"{frozen.tool} is not registered here now; the call still waits",
                hint="register its toolset, answer in the process that has it, or cancel the call",
            )
        spec = None if tool is None else tool.spec
        validate_answer(spec, frozen, answer, self._services.limits)
        await self._check_rule(waits.suspended(record), answer, by)
        if within is not None and tool is not None and waits.engine.is_worker:
            self._tools.give(frozen, tool)

    async def _answer(self, waits: WaitRegistry, record: SealedCall, answer: Json, by: str) -> None:
        """Send the answer to the run.

        Raises:
            LateAnswerError: the wait is over.
            ConflictingAnswerError: another answer was given before.
        """
        sealed = waits.sealer.seal(record.claims, answer, by)
        try:
            receipt = await waits.engine.answer(record.run_id, record.op, sealed, key=answer_key(answer))
        except WaitOverError as error:
            raise await self._late(record.run_id, error.message) from None
        if receipt == "conflict":
            raise ConflictingAnswerError

    async def _answer_planner(self, waiting: OpenedToken, answer: Json, by: str) -> None:
        """Send the answer to a planner's question to its run; to take it back is to cancel that run.

        Raises:
            SuspensionError: the answer is not taken; the class says why.
        """
        waits, run_id = self._waits(), waiting.run_id
        if (reason := cancel_reason(answer)) is not None:
            await waits.engine.cancel(run_id, reason=reason)
        else:
            await answer_question(waits, self._services.limits, run_id, waiting.question, answer, by)

    async def result(self, token: str, session_id: str | None, wait_s: float | None) -> ToolResult:
        """Return the result of a suspended call that somebody else answers; as `Runtime.result`."""
        waiting = await open_token(self._waits(), token, session_id)
        async with self._expected(waiting) as expected:
            return await self._wait_for_result(waiting, expected, wait_s)

    @asynccontextmanager
    async def _expected(self, waiting: OpenedToken) -> AsyncIterator[_Expected]:
        """Yield what gets the typed results of what waits, and of the direct call above it.

        Raises:
            UnknownSuspensionError: the run is forgotten meanwhile.
        """
        waits = self._waits()
        above = await self._above(waiting)
        own = waits.expect_result(waiting.id)
        outer = None if above is None else waits.expect_result(above[0])
        try:
            yield _Expected(own, above, outer)
        except UnknownRunError:
            if waiting.frozen is not None:
                self._tools.take_back(waiting.frozen)
            raise unknown_suspension() from None
        finally:
            waits.forget(waiting.id, own)
            if above is not None and outer is not None:
                waits.forget(above[0], outer)

    async def _above(self, waiting: OpenedToken) -> tuple[str, CallDocument] | None:
        """Return the direct call to whose result an answer leads, by its run; None where there is none."""
        run_id, frozen = waiting.run_id, waiting.frozen
        if frozen is None or waiting.is_below:
            return await outer_call(self._waits(), run_id)
        return (run_id, call_of({"frozen": frozen.as_json()})) if run_id.startswith(CALL) else None

    async def progress(self, token: str, fraction: float | None, message: str, value: Any) -> None:
        """Report the progress of pending work; as `Runtime.progress`."""
        fraction = checked_fraction(fraction)
        require_text(message)
        waiting = await open_token(self._waits(), token, None)
        frozen = waiting.frozen
        if frozen is None or frozen.kind != "pending":
            who = "a planner" if frozen is None else frozen.tool
            raise UnknownSuspensionError(
                f"this token is not of pending work: {who} waits for an answer", hint="deliver the answer"
            )
        if not waiting.status.is_open:
            raise LateAnswerError("the work is over", hint="its result is that of the call")
        tool = await self._tools.find(frozen.tool, frozen.meta, waiting.run_id)
        if tool is None:
            raise MissingToolError(
                f"{frozen.tool} is not available here, so its progress was not reported; the work goes on",
                hint="report progress in the process that has the tool and its listeners",
            )
        shown = None if value is None else progress_json(tool.spec, value)
        report = self._services.reports.progress_callback(tool.spec, frozen.meta)
        with hiding(frozen_secrets(frozen, tool.spec)):
            report(fraction=fraction, message=message, value=shown)

    async def _check_rule(self, asked: Suspended, answer: Json, by: str) -> None:
        if cancel_reason(answer) is not None:
            return
        if why := await refusal(self._waits().options.rule, asked, answer, by):
            raise NotAllowedAnswerError(
                f"this answer was rejected by the host's rule: {why}", hint="let somebody else answer"
            )

    async def _wait_for_result(
        self, waiting: OpenedToken, expected: _Expected, wait_s: float | None
    ) -> ToolResult:
        """Return the result of an answered call, once the log of its run has it.

        It is typed where this process has executed the call, and the log has the same. Of what the run of an
        agent asked it is that of the direct call above, or what that still waits for.
        """
        above, outer = expected.above, expected.outer
        try:
            async with asyncio.timeout(wait_s):
                told = await self._services.scheduler.wait_for_run(
                    waiting.run_id, self._result_from_log(waiting)
                )
                if above is not None and outer is not None and (told is None or waiting.is_below):
                    return await self._calls.result(*above, outer)
        except TimeoutError:
            return self._pending(waiting, above)
        if told is None:
            return self._pending(waiting, above)
        is_kept = expected.own.done() and expected.own.result().status == told.status
        return expected.own.result() if is_kept else told

    def _pending(self, waiting: OpenedToken, above: tuple[str, CallDocument] | None) -> ToolResult:
        """Return the result of a call whose answer is stored, and which has no result yet."""
        frozen, is_below = waiting.frozen, waiting.is_below
        if above is not None and (is_below or frozen is None):
            tool, tool_call_id = above[1]["tool"], above[1]["meta"]["tool_call_id"]
        else:
            assert frozen is not None, "only what is below a call is no call itself"
            tool, tool_call_id = frozen.tool, frozen.meta.tool_call_id
        return ToolResult(
            tool=tool,
            status="pending",
            tool_call_id=tool_call_id,
            display="the answer is stored; the result is not known yet",
        )

    async def _result_from_log(self, waiting: OpenedToken) -> ToolResult | None:
        """Wait until the log of the run says what became of an answer, and return the result of the call.

        It is None where no result of a call follows at once: the answer went to a planner, or an agent
        answers the call.

        Raises:
            LateAnswerError: the run ended before.
        """
        record, frozen, run_id = waiting.record, waiting.frozen, waiting.run_id
        async for _, event in self._waits().engine.events(run_id):
            kind = event.get("type")
            if record is None or frozen is None:
                asked = str(event.get("suspension_id", "")) if kind == "answer_accepted" else ""
                is_again = kind == "await_clarification" and event.get("reason")
                if asked == waiting.id or (is_again and _follows(str(event["suspension_id"]), waiting.id)):
                    return None
            elif kind == "tool_end" and event.get("answered_id") == frozen.id:
                return await self._result_of_event(record, dict(event))
            elif kind == "agent_run_started" and _is_of(event, frozen):
                return None
        if frozen is None and waiting.is_below:
            return None  # it was taken back
        raise await self._late(waiting.run_id, "the run ended before its call did")

    async def _late(self, run_id: str, why: str) -> LateAnswerError:
        """Return the error of a late answer; it says where the run was canceled."""
        status = await self._waits().engine.status(run_id)
        if status.state == "canceled":
            reason = f": {status.error}" if status.error else ""
            return LateAnswerError(f"the run of this call was canceled{reason}", hint="start another one")
        return LateAnswerError(why, hint="let the model call the tool again, if it is still wanted")

    async def _result_of_event(self, record: SealedCall, event: dict[str, Any]) -> ToolResult:
        """Return the result in a `tool_end` event, without the typed value."""
        suspension = await self._suspension_of(record.run_id, event["suspension_id"])
        told = result_of_event(event, record.call.tool, record.call.meta)
        return told if suspension is None else replace(told, suspensions=(suspension,))

    async def _suspension_of(self, run_id: str, id_: str) -> Suspended | None:
        """Return the suspended call of a run that has the id; None where none waits that is verified."""
        waits = self._waits()
        for wait in (await waits.engine.status(run_id)).awaiting if id_ else ():
            with suppress(TamperedSuspensionError, UnsealedSuspensionError):
                record = await waits.record(run_id, wait.op, wait.about)
                if record is not None and record.call.id == id_:
                    return waits.suspended(record)
        return None

    def _waits(self) -> WaitRegistry:
        return require_waits(self._services)


def _follows(id_: str, before: str) -> bool:
    """Return whether a question of a planner is the one before it, asked again."""
    return id_.startswith(f"{before.partition(':')[0]}:") and id_ != before


def _is_of(event: Mapping[str, Any], frozen: FrozenCall) -> bool:
    """Return whether the run of an agent was started for a suspended call, after its answer."""
    return bool(event["tool"] == frozen.tool and event["tool_call_id"] == frozen.meta.tool_call_id)
