"""Reports of pending work: progress for subscribers, and intermediate results for the conversation.

An intermediate result is an answer after which its call stays suspended. The run of the work consumes it, and
waits again with the same record under the next key. So its journal has each result once, in order, and none
after the end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from pydantic_core import to_json

from toolgen.calls.context import Batch
from toolgen.calls.documents.results import parsed
from toolgen.calls.errors import MalformedReportError
from toolgen.calls.progress import checked_fraction, progress_json, require_text
from toolgen.calls.results import ToolResult
from toolgen.calls.steps.failures import log
from toolgen.calls.steps.frame import Frame, RuntimeServices
from toolgen.calls.steps.registered_tool import RegisteredTool
from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record
from toolgen.events.records import ToolUpdate
from toolgen.events.redaction import without_secrets

from .answers import answer_key, check_answer_limits, hiding_call
from .errors import (
    BadAnswerError,
    ConflictingAnswerError,
    LateAnswerError,
    MissingToolError,
    NotAllowedAnswerError,
    TamperedSuspensionError,
    UnknownSuspensionError,
    UnsealedSuspensionError,
)
from .frozen import SealedCall, TokenClaims
from .loop import INTERMEDIATE, intermediate_of
from .resuming import WaitingTools
from .sending import late_answer, send_answer
from .wait_registry import OpenedToken, WaitRegistry

_OVER: Final = "the result of the call is final"
_LISTED_S: Final = 30.0
"""Seconds to wait until the run of the work waits again."""
MOST: Final = 100
"""Maximum number of intermediate results of one call; the seal of its record is valid for as many waits."""


async def report_progress(
    services: RuntimeServices,
    tools: WaitingTools,
    opened: OpenedToken,
    fraction: float | None,
    message: str,
    value: object,
) -> None:
    """Report the progress of pending work to the subscribers of this runtime.

    Raises:
        SuspensionError, MalformedResultError: as `Suspensions.progress`.
    """
    fraction = checked_fraction(fraction)
    require_text(message)
    record, tool = await _pending(tools, opened, "progress")
    if not opened.status.is_open:
        raise LateAnswerError("the work has ended", hint=_OVER)
    frozen = record.call
    shown = None if value is None else progress_json(tool.spec, value)
    report = services.reports.progress_callback(tool.spec, frozen.meta)
    if report is None:
        return
    with hiding_call(frozen, tool.spec):
        report(fraction=fraction, message=message, value=shown)


@frozen_record(kw_only=False)
class IntermediateSender:
    """Sends intermediate results of the pending work of one runtime."""

    waits: WaitRegistry
    services: RuntimeServices
    tools: WaitingTools

    async def send(
        self, claims: TokenClaims, session_id: str | None, value: object, key: str, by: str
    ) -> None:
        """Store an intermediate result of the work of a token.

        Raises:
            SuspensionError: as `Suspensions.intermediate`.
        """
        if not isinstance(key, str) or not key:  # type: ignore[redundant-expr]  # a host can pass any value
            raise BadAnswerError(
                "the key of an intermediate result must be a non-empty string", hint="pass key=..."
            )
        while True:
            opened = await self.waits.open(claims, session_id)
            record, tool = await _pending(self.tools, opened, "intermediate result")
            if record.op.count(":") > 1:
                raise NotAllowedAnswerError(
                    f"the model waits for the result of {tool.spec.name} and cannot read intermediate "
                    "results",
                    hint="declare an acknowledgement in the design: LongRunning(ack=...)",
                )
            try:
                document = to_json(progress_json(tool.spec, value))
            except MalformedReportError as error:
                raise BadAnswerError(
                    str(error), hint="send a value of the type that LongRunning(progress=) declares"
                ) from error
            digest = answer_key([key, parsed(document)])
            number = await self._earlier(record, key, digest)
            if number is None:
                return
            if not opened.status.is_open or opened.status.answer is not None:
                raise await late_answer(self.waits, record.run_id, "the work has ended", _OVER)
            if number == MOST:
                raise NotAllowedAnswerError(
                    f"{tool.spec.name} has sent {MOST} intermediate results, the maximum for one call",
                    hint="report further progress with Runtime.suspensions.progress, and deliver the result",
                )
            sent = {"key": key, "digest": digest, **await self._seen(tool, record, document)}
            if await self._store(record, tool, sent, by):
                return

    async def _earlier(self, record: SealedCall, key: str, digest: str) -> int | None:
        """Return the number of earlier intermediate results of the call; None if this one was sent before.

        Raises:
            ConflictingAnswerError: another result has the key.
        """
        before, _, newest = record.op.rpartition(":")
        count = 0
        for number in range(1, int(newest)):
            answer = await self.waits.engine.accepted_answer(record.run_id, f"{before}:{number}")
            if (sent := intermediate_of(answer)) is None:
                continue
            count += 1
            if sent["key"] == key:
                if sent["digest"] == digest:
                    return None
                raise ConflictingAnswerError(
                    f"another intermediate result was sent under the key {key!r}",
                    hint="the first one counts; send this one under another key",
                )
        return count

    async def _store(self, record: SealedCall, tool: RegisteredTool, sent: dict[str, Json], by: str) -> bool:
        """Send an intermediate result to its run; return False if another answer arrived first.

        Raises:
            SuspensionError: the result is not accepted; the class says why.
        """
        waits, key = self.waits, str(sent["digest"])
        answer: Json = {INTERMEDIATE: sent}
        check_answer_limits(answer, self.services.limits)
        size = len(to_json(sent))
        if size > tool.result_bytes or waits.too_large(record.call, size):
            raise BadAnswerError("the intermediate result is too large", hint="send a shorter one")
        if why := await waits.refusal(record, answer, by):
            raise NotAllowedAnswerError(f"this intermediate result was rejected by the host's rule: {why}")
        sealed = waits.sealer.seal(record.claims, answer, by)
        run_id, session = record.run_id, record.claims.session_id
        receipt = await send_answer(waits, run_id, record.op, sealed, key=key, session_id=session)
        if receipt == "accepted":  # the work is listed again once its run waits again
            with suppress(TimeoutError):
                async with asyncio.timeout(_LISTED_S):
                    await waits.scheduler.wait_for_run(run_id, waits.engine.settled(run_id))
        return receipt != "conflict"

    async def _seen(self, tool: RegisteredTool, record: SealedCall, document: bytes) -> dict[str, Json]:
        """Return an intermediate result for the model, after the hooks, and for observers.

        Raises:
            NotAllowedAnswerError: a hook rejected it.
        """
        frozen, spec = record.call, tool.spec
        codec = spec.long_running.progress if spec.long_running else None
        with hiding_call(frozen, spec):
            result = ToolResult(
                tool=spec.id, status="pending", json=document, tool_call_id=frozen.meta.tool_call_id
            )
            if tool.after:
                from toolgen.calls.steps.hook_stages import run_after_hooks

                batch = Batch(self.services.capabilities)
                result = await run_after_hooks(
                    Frame(tool, frozen.payload_json, frozen.meta, batch, self.services), result
                )
            if result.status not in ("pending", "ok"):
                raise NotAllowedAnswerError(
                    f"a hook rejected this intermediate result: {result.json.decode()}"
                )
            seen = parsed(result.json)
            codec = spec.result if result.status == "ok" else codec
            shown = seen if codec is None else codec.public(seen)
            return {"value": seen, "shown": without_secrets(ToolUpdate(tool=spec.id, value=shown)).value}


async def verified_intermediate(waits: WaitRegistry, run_id: str, argument: Mapping[str, Any]) -> str | None:
    """Return the JSON text of an intermediate result in a journal; None without a seal of a host.

    Args:
        waits: Has the secrets, and the rule of the host.
        run_id: The run of the work.
        argument: `op`, the key of the wait, `frozen`, its record, and the sealed `answer`.
    """
    sealed, sent = argument["answer"], intermediate_of(argument["answer"])
    try:
        record = await waits.verify(run_id, argument["op"], argument["frozen"])
    except (TamperedSuspensionError, UnsealedSuspensionError) as error:
        log.error("run %s: an intermediate result was dropped: %s; %s", run_id, error.message, error.hint)
        return None
    if sent is None or not waits.sealer.is_sealed(record.claims, sealed):
        log.error("run %s: an intermediate result was dropped: it has no valid seal", run_id)
        return None
    return to_json(sent["value"]).decode()


async def _pending(tools: WaitingTools, opened: OpenedToken, what: str) -> tuple[SealedCall, RegisteredTool]:
    """Return the record of pending work, and its tool; `what` names the report in errors.

    Raises:
        UnknownSuspensionError: no work is pending under the token.
        MissingToolError: this process does not have the tool.
    """
    record = opened.record
    if record is None or record.call.kind != "pending":
        who = "a planner" if record is None else record.call.tool
        raise UnknownSuspensionError(
            f"this token does not belong to pending work: {who} waits for an answer",
            hint="pass it to `answer`",
        )
    frozen = record.call
    tool = await tools.find(frozen.tool, frozen.meta, record.run_id)
    if tool is None:
        raise MissingToolError(
            f"{frozen.tool} is not available in this process, so its {what} was not reported; the work "
            "continues",
            hint="report it in a process that has the tool",
        )
    return record, tool
