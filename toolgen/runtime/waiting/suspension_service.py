"""The operations of clients on suspended calls: show, answer, cancel, report progress."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from pydantic_core import to_json

from toolgen.contract.bounds import Bounds
from toolgen.contract.json_value import Json
from toolgen.contract.secrets import hiding

from ..call.secrets import frozen_secrets
from ..call.services import RuntimeServices
from ..call_meta import CallMeta
from ..engine import RunWait, UnknownRunError, WaitOverError, WaitStatus
from ..errors import DeclaredError, ToolError
from ..events.progress import checked_fraction, progress_json, require_text
from ..results import Suspended, ToolResult
from ..toolsets.snapshot import Snapshot
from .answers import answer_key, cancel_reason, failure_answer, validate_answer, without_nulls
from .checking import CheckedCall, adopt_calls, checked_calls
from .errors import (
    ConflictingAnswerError,
    ForeignAnswerError,
    LateAnswerError,
    MissingToolError,
    NoEngineError,
    NotAllowedAnswerError,
    SuspensionError,
    TamperedSuspensionError,
    UnknownSuspensionError,
    UnsealedSuspensionError,
)
from .options import refusal
from .sealed_calls import SealedCall
from .tools import WaitingTools
from .wait_registry import WaitRegistry


class SuspensionService:
    """Serves the clients of suspended calls of one runtime."""

    def __init__(self, services: RuntimeServices, tools: WaitingTools) -> None:
        self._services = services
        self._tools = tools

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
        await waits.start(waits.sealer.open(token).run_id)
        status, record = await self._open_token(token, session_id)
        frozen = record.call
        answer = without_nulls(frozen, answer)
        answer_key(answer)  # raises for what is no JSON
        if status.answer is None:
            if not status.is_open or frozen.expires_at <= waits.options.clock():
                raise await self._late(record.run_id, "the time to answer is over")
            tool = await self._tools.find(frozen, record.run_id, within)
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
        typed = waits.expect_result(frozen.id)
        try:
            await self._answer(waits, record, answer, by)
            return await self._wait_for_result(record, typed, wait_s)
        except UnknownRunError:
            self._tools.take_back(frozen)
            raise _unknown_suspension() from None
        except SuspensionError:  # the call goes on with no answer, or with another one
            self._tools.take_back(frozen)
            raise
        finally:
            waits.forget(frozen.id, typed)

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

    async def result(self, token: str, session_id: str | None, wait_s: float | None) -> ToolResult:
        """Return the result of a suspended call that somebody else answers; as `Runtime.result`."""
        waits = self._waits()
        _, record = await self._open_token(token, session_id)
        typed = waits.expect_result(record.call.id)
        try:
            return await self._wait_for_result(record, typed, wait_s)
        except UnknownRunError:
            raise _unknown_suspension() from None
        finally:
            waits.forget(record.call.id, typed)

    async def suspension(self, token: str, session_id: str | None) -> Suspended:
        """Return the suspended call of a token, answered or not."""
        _, record = await self._open_token(token, session_id)
        return self._waits().suspended(record)

    async def waiting(self, session_id: str | None) -> tuple[Suspended, ...]:
        """Return the suspended calls, oldest first."""
        return await self._waits().listed(session_id)

    async def checked(self, open_waits: Iterable[RunWait] | None) -> tuple[CheckedCall, ...]:
        """Return the suspended calls with what their seals say; as `Runtime.checked`."""
        return await checked_calls(self._waits(), open_waits)

    async def adopt(self, run_id: str, by: str) -> tuple[CheckedCall, ...]:
        """Seal the calls of a run that no host has sealed; as `Runtime.adopt`."""
        return await adopt_calls(self._waits(), run_id, by)

    def arguments_mac(self, tool: str, payload_json: bytes, meta: CallMeta) -> str:
        """Return the keyed digest of the arguments of a call; as `Runtime.arguments_mac`."""
        return self._waits().arguments_mac(tool, payload_json, meta)

    async def progress(self, token: str, fraction: float | None, message: str, value: Any) -> None:
        """Report the progress of pending work; as `Runtime.progress`."""
        fraction = checked_fraction(fraction)
        require_text(message)
        status, record = await self._open_token(token, None)
        frozen = record.call
        if frozen.kind != "pending":
            raise UnknownSuspensionError(
                f"this token is not of pending work: {frozen.tool} waits for an answer",
                hint="deliver the answer",
            )
        if not status.is_open:
            raise LateAnswerError("the work is over", hint="its result is that of the call")
        tool = await self._tools.find(frozen, record.run_id)
        if tool is None:
            raise MissingToolError(
                f"{frozen.tool} is not available here, so its progress was not reported; the work goes on",
                hint="report progress in the process that has the tool and its listeners",
            )
        shown = None if value is None else progress_json(tool.spec, value)
        report = self._services.reports.progress_callback(tool.spec, frozen.meta)
        if report is not None:
            with hiding(frozen_secrets(frozen, tool.spec)):
                report(fraction=fraction, message=message, value=shown)

    async def _open_token(self, token: str, session_id: str | None) -> tuple[WaitStatus, SealedCall]:
        """Open a token and return the suspended call that it names, verified.

        Raises:
            UnknownSuspensionError: nothing did.
            ForeignAnswerError: it belongs to another session.
            TamperedSuspensionError: the run has a journal that differs from the frozen call.
            UnsealedSuspensionError: nobody knows who wrote what the journal keeps of it.
        """
        waits = self._waits()
        ticket = waits.sealer.open(token)
        if session_id is not None and session_id != ticket.session_id:
            raise ForeignAnswerError("this call waits in another session", hint="answer it there")
        try:
            status = await waits.engine.wait_status(ticket.run_id, ticket.op)
            if status is None:  # its run was started by a client, and no worker was there yet
                status = WaitStatus(about=(await waits.engine.status(ticket.run_id)).input, is_open=True)
            record = await waits.record(ticket.run_id, ticket.op, status.about)
        except UnknownRunError:
            raise _unknown_suspension() from None
        if record is None or record.claims != ticket:
            raise TamperedSuspensionError(ticket.run_id)
        return status, record

    async def _check_rule(self, asked: Suspended, answer: Json, by: str) -> None:
        if cancel_reason(answer) is not None:
            return
        if why := await refusal(self._waits().options.rule, asked, answer, by):
            raise NotAllowedAnswerError(
                f"this answer was rejected by the host's rule: {why}", hint="let somebody else answer"
            )

    async def _wait_for_result(
        self, record: SealedCall, typed: asyncio.Future[ToolResult], wait_s: float | None
    ) -> ToolResult:
        """Return the result of an answered call, once the log of its run has it.

        It is typed where this process has executed the call, and the log has the same.
        """
        try:
            async with asyncio.timeout(wait_s):
                told = await self._services.scheduler.wait_for_run(
                    record.run_id, self._result_from_log(record)
                )
        except TimeoutError:
            return ToolResult(
                tool=record.call.tool,
                status="pending",
                tool_call_id=record.call.meta.tool_call_id,
                display="the answer is stored; the result is not known yet",
            )
        is_kept = typed.done() and typed.result().status == told.status
        return typed.result() if is_kept else told

    async def _result_from_log(self, record: SealedCall) -> ToolResult:
        """Wait for the result of the call in the log of its run, and return it.

        Raises:
            LateAnswerError: the run ended before.
        """
        waits = self._waits()
        async for _, event in waits.engine.events(record.run_id):
            if event.get("type") == "tool_end" and event.get("answered_id") == record.call.id:
                return await self._result_of_event(record, dict(event))
        raise await self._late(record.run_id, "the run ended before its call did")

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
        return ToolResult(
            tool=record.call.tool,
            status=event["status"],
            json=b"" if event["result"] is None else to_json(event["result"]),
            tool_call_id=record.call.meta.tool_call_id,
            display=event["text"],
            error=_error_of_event(event) if event["error"] else None,
            bounds=None if event["bounds"] is None else Bounds(**event["bounds"]),
            is_final=event["is_final"],
            suspension=suspension,
        )

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
        if self._services.waits is None:
            raise NoEngineError
        return self._services.waits


def _error_of_event(event: Mapping[str, Any]) -> ToolError:
    """Return the error that a `tool_end` tells of: by its code one that the design declares."""
    if not event["code"]:
        return ToolError(event["error"])
    seen = event["result"]
    details = to_json(seen["details"]) if isinstance(seen, dict) and "details" in seen else b""
    return DeclaredError(event["error"], code=event["code"], details_json=details)


def _unknown_suspension() -> UnknownSuspensionError:
    return UnknownSuspensionError(
        "no suspended call has this token any more", hint="its run is over and forgotten"
    )
