"""Resumes a suspended call with its answer, with or without its executor.

The tool is looked up again at that time: in any process, maybe much later.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic_core import to_json

from toolgen.calls.call import CallMeta, FrozenCall
from toolgen.calls.context import Batch
from toolgen.calls.errors import OutcomeUnknownError, ToolError, ToolValidationError
from toolgen.calls.results import ToolResult
from toolgen.calls.resumption import Resumption
from toolgen.calls.specs import ToolSpec
from toolgen.calls.steps.dispatch import dispatch, end_without_executor
from toolgen.calls.steps.failures import denied_result, error_result, internal_error, log, tool_error_of
from toolgen.calls.steps.frame import Frame, RuntimeServices
from toolgen.calls.steps.registered_tool import RegisteredTool
from toolgen.calls.steps.result_encoding import encode_result, error_document
from toolgen.calls.toolsets.directory import Directory
from toolgen.calls.toolsets.dynamic import ReadonlyContext, SnapshotError
from toolgen.calls.toolsets.toolsets import Toolsets
from toolgen.contract.boundary import run_or_abandon
from toolgen.contract.json_value import Json
from toolgen.contract.limits import UNLIMITED
from toolgen.contract.names import CANCELED
from toolgen.contract.record import frozen_record
from toolgen.events.event_reporter import CallEvents

from .answers import answer_document, cancel_reason, failure_of, hiding_call, validate_answer
from .errors import BadAnswerError, TamperedSuspensionError, UnsealedSuspensionError
from .frozen import FIRST, SealedCall, new_id, next_wait
from .grant_uses import revoke_denied, store_grant
from .grants import require_grant
from .loop import left_work
from .once_call import CallRecorder
from .suspending import approval_schema, grantable, suspended_result
from .wait_registry import WaitRegistry

if TYPE_CHECKING:
    from toolgen.calls.toolsets.snapshot import Snapshot

_CHANGED: Final = "the tool has changed since the question was asked"
_UNFIT: Final = "{} has changed since the question was asked, and the arguments no longer fit; it was not run"
_GONE: Final = "the tool was not registered when the answer arrived"
UNSEALED: Final = "the answer in the journal has no valid seal"
"""Reason why a question is asked again if its answer has no seal for this question."""
_SEAL_HINT: Final = (
    "it is forged, or sealed with another secret; pass the same Runtime(secret=...) in all processes"
)
"""Cause and fix for the log."""


@frozen_record
class CallWork:
    """Context in which an activity executes a call."""

    run_id: str
    waits: WaitRegistry
    services: RuntimeServices
    """Services with the reporter of the events."""
    events: CallEvents
    batch: Batch
    recorder: CallRecorder


@frozen_record
class Resumed:
    """A call that was resumed with an answer."""

    tool: RegisteredTool | None
    """The tool; None if it is not available in this process."""
    result: ToolResult
    """Result for its client, with a token if the call is suspended again."""
    id: str
    """Id of the answered question."""
    frozen: dict[str, Json] | None
    """Sealed record of the call for the journal, if the call is suspended again."""


async def resume(
    work: CallWork,
    argument: Mapping[str, Any],
    find_tool: Callable[[FrozenCall, str], Awaitable[RegisteredTool | None]],
    work_run: str,
) -> Resumed | None:
    """Resume a suspended call with the answer of the journal; None if its record cannot be verified.

    In that case the call stays suspended without a `tool_end`, and its callers keep waiting.

    Args:
        work: Context of the execution.
        argument: Argument of the activity: `op`, the key of the wait, `frozen`, its record, and the sealed
            `answer`.
        find_tool: Finds the current tool of a call that waits in the run with this id.
        work_run: The run that waits for the work of the call, if the call is acknowledged.

    Raises:
        asyncio.CancelledError: the caller's own task is being canceled, so no caller receives the result.
    """
    waits, run_id, op = work.waits, work.run_id, argument["op"]
    try:
        record = await waits.verify(run_id, op, argument["frozen"])
    except (TamperedSuspensionError, UnsealedSuspensionError) as error:
        log.error("run %s: a call was not resumed: %s; %s", run_id, error.message, error.hint)
        return None
    tool = await find_tool(record.call, run_id)
    result, document = await _resumed(work, tool, record, argument["answer"]), None
    if result.frozen is not None:
        again = seal_wait(waits, run_id, next_wait(op), work_run, result)
        result, document = replace(result, frozen=None, suspensions=(waits.suspended(again),)), again.document
    return Resumed(tool=tool, result=result, id=record.call.id, frozen=document)


def seal_wait(waits: WaitRegistry, run_id: str, op: str, work_run: str, result: ToolResult) -> SealedCall:
    """Return the sealed record of a suspended call: at `op`, or for acknowledged work in its own run."""
    assert result.frozen is not None, "only a call that waits has a record"
    if result.status == "pending" and work_run != run_id:
        return waits.seal(work_run, FIRST, result.frozen)
    return waits.seal(run_id, op, result.frozen)


async def _resumed(
    work: CallWork, tool: RegisteredTool | None, record: SealedCall, sealed_answer: Json
) -> ToolResult:
    """Return the result of a verified call after the answer of the journal.

    If the answer cannot be used, it is the same question again, with the reason.
    """
    frozen, services = record.call, work.services
    with hiding_call(frozen, None if tool is None else tool.spec):
        try:
            result = await run_or_abandon(_resume(work, tool, record, sealed_answer))
            return (await work.batch.settle((result,)))[0]
        except Exception as error:  # noqa: BLE001 - a caller waits for a result, and this error is the result
            failure = ToolError(str(error)) if tool is None else internal_error(tool.spec, error)
            limit = services.limits.result_bytes if tool is None else tool.result_bytes
            result = error_result(frozen.tool, failure, frozen.meta, limit)
            services.reports.emit_tool_end(result, frozen.meta, None if tool is None else tool.spec)
            return result


async def _resume(
    work: CallWork, tool: RegisteredTool | None, record: SealedCall, sealed_answer: Json
) -> ToolResult:
    frozen, services = record.call, work.services
    if not work.waits.sealer.is_sealed(record.claims, sealed_answer):
        log.warning("run %s: %s, of %s: %s", record.run_id, UNSEALED, frozen.tool, _SEAL_HINT)
        return await _ask_again(work, frozen, UNSEALED, tool)
    assert isinstance(sealed_answer, dict), "only such a document has a seal"
    answer, person = sealed_answer["answer"], str(sealed_answer["by"])
    if (canceled := cancel_reason(answer)) is not None:
        return await _canceled_result(work, tool, frozen, canceled, person)
    if tool is None:
        return await _ask_again(work, frozen, _GONE, tool)
    spec = tool.spec
    if frozen.kind != "pending" and spec.approval_digest != frozen.spec_digest:
        try:
            spec.payload.decode_null_as_absent(frozen.payload_json, UNLIMITED)
        except ToolValidationError as error:
            return await _unfit_result(work, tool, frozen, error, person)
        return await _ask_again(work, frozen, _CHANGED, tool)
    try:
        await require_grant(work.waits, spec, frozen, answer, person)
        answer = validate_answer(spec, frozen, answer, services.limits)
    except BadAnswerError as error:
        return await _ask_again(work, frozen, error.message, tool)
    if why := await _refused_by_rule(work.waits, record, answer, person):
        return await _ask_again(work, frozen, why, tool)
    _report_answer(work, frozen, person, "answered")
    result = _result_of_answer(services, tool, frozen, answer, person)
    frame = _frame(work, tool, frozen)
    work.recorder.watch(frame)
    frame.context.report = services.reports.progress_callback(spec, frozen.meta)
    if result is None:
        await store_grant(work.waits, spec, frozen, answer, person)
        answers = (*frozen.answers, answer_document(frozen, answer))
        frame.resume(Resumption(answers=answers, key=frozen.idempotency_key))
        return await dispatch(frame)
    if isinstance(result, ToolError):
        result = frame.error_result(result)
    elif result.status == "denied" and not frozen.is_asked_by_tool:
        await revoke_denied(work.waits, spec, frozen, person)
    return await end_without_executor(frame, result)


def _frame(work: CallWork, tool: RegisteredTool, frozen: FrozenCall) -> Frame:
    frame = Frame(tool, frozen.payload_json, frozen.meta, work.batch, work.services)
    frame.trace_before = frozen.trace
    return frame


def _report_answer(
    work: CallWork, frozen: FrozenCall, person: str, outcome: Literal["answered", "canceled"]
) -> None:
    """Emit that a call has its answer, and measure how long it was suspended."""
    work.services.reports.answered(frozen, person)
    if work.services.metrics is not None:
        waited_s = work.waits.options.clock() - frozen.created_at
        work.services.metrics.end_wait(frozen.kind, outcome, waited_s)


async def _ask_again(
    work: CallWork, frozen: FrozenCall, reason: str, tool: RegisteredTool | None
) -> ToolResult:
    """Ask the same question again with the reason; if the tool is available, for its current version."""
    options, again = work.waits.options, frozen
    if tool is not None:
        spec = tool.spec
        again = replace(frozen, spec_digest=spec.approval_digest, sensitive=spec.payload.sensitive)
        if frozen.kind == "confirmation":
            again = await grantable(work.waits, spec, replace(again, answer_schema=approval_schema(spec)))
    now = options.clock()
    again = replace(again, id=new_id(), created_at=now, expires_at=now + options.expires_s, reason=reason)
    result = suspended_result(work.services, again)
    work.services.reports.emit_tool_end(result, frozen.meta)
    return result


async def _unfit_result(
    work: CallWork, tool: RegisteredTool, frozen: FrozenCall, error: ToolValidationError, person: str
) -> ToolResult:
    """Return the error of a call whose arguments no longer fit the tool, whatever the answer was."""
    _report_answer(work, frozen, person, "answered")
    frame = _frame(work, tool, frozen)
    result = frame.invalid_arguments_result(error, _UNFIT.format(tool.spec.name))
    return await end_without_executor(frame, result)


async def _refused_by_rule(waits: WaitRegistry, record: SealedCall, answer: Json, person: str) -> str:
    """Return the reason why the rule of this process rejects the answer; "" if it does not."""
    try:
        why = await waits.refusal(record, answer, person)
    except Exception:  # noqa: BLE001 - author code; logged, and the answer is rejected
        log.exception("the host's answer rule failed for %s", record.call.tool)
        return "the host's answer rule failed, so the answer was not accepted"
    return f"the answer was rejected: {why}" if why else ""


async def _canceled_result(
    work: CallWork, tool: RegisteredTool | None, frozen: FrozenCall, reason: str, person: str
) -> ToolResult:
    """Return the result of a canceled call; `unknown` if its work continues elsewhere."""
    services = work.services
    _report_answer(work, frozen, person, "canceled")
    meta, reason = frozen.meta, reason or f"{frozen.tool.rpartition('.')[2]} was canceled"
    if frozen.kind == "confirmation":
        services.reports.emit_authorization(frozen.tool, meta, "denied", "runtime", reason, frozen.id, person)
    lost = OutcomeUnknownError(left_work(reason)) if frozen.kind == "pending" else None
    if tool is None:
        limit = services.limits.result_bytes
        result = error_result(frozen.tool, lost or ToolError(reason), meta, limit)
        if lost is None:
            document = error_document(str(result.error), limit, code=CANCELED)
            result = replace(result, status="denied", json=document)
        services.reports.emit_tool_end(result, meta)
        return result
    frame = _frame(work, tool, frozen)
    denied = denied_result(tool.spec, reason, meta, tool.result_bytes, code=CANCELED)
    return await end_without_executor(frame, frame.error_result(lost) if lost else denied)


def _result_of_answer(
    services: RuntimeServices, tool: RegisteredTool, frozen: FrozenCall, answer: Any, person: str
) -> ToolResult | ToolError | None:
    """Return the result or failure that the answer contains; None if the executor must run."""
    spec, meta = tool.spec, frozen.meta
    match frozen.kind:
        case "confirmation":
            decision: Literal["approved", "denied"] = "approved" if answer["approved"] else "denied"
            reason = _denial_reason(answer, "" if answer["approved"] else "a person did not approve the call")
            services.reports.emit_authorization(spec.id, meta, decision, "person", reason, frozen.id, person)
            return None if answer["approved"] else denied_result(spec, reason, meta, tool.result_bytes)
        case "credential":
            if not answer["available"]:
                return ToolError(_denial_reason(answer, "the credential is missing"))
            return None
        case "pending":
            return _result_of_pending(services, spec, answer, meta)
        case "input":
            return None


def _result_of_pending(
    services: RuntimeServices, spec: ToolSpec, answer: Any, meta: CallMeta
) -> ToolResult | ToolError:
    """Return the result of pending work, or its failure."""
    try:
        if (failure := failure_of(spec, answer, services.limits)) is not None:
            return failure
        return encode_result(spec, spec.result.decode_null_as_absent(to_json(answer), services.limits), meta)
    except Exception as error:  # noqa: BLE001 - a result of the author's may raise anything; it is why the work failed
        return tool_error_of(spec, error)


def _denial_reason(answer: dict[str, Json], otherwise: str) -> str:
    message = answer.get("message")
    return message if isinstance(message, str) and message else otherwise


class WaitingTools:
    """Finds the current tools of one runtime.

    Dynamic toolsets are listed again: a tool that was listed when the call was made can have changed or
    disappeared since, and the digest of the frozen call detects that.
    """

    def __init__(self, directory: Directory, toolsets: Toolsets) -> None:
        self.directory = directory
        self._toolsets = toolsets
        self.of_run: Callable[[str, CallMeta, str], Awaitable[RegisteredTool | None]] | None = None
        """Finds the tools of agents' runs; None if the runtime has no agents."""
        self._answering: dict[str, RegisteredTool] = {}
        """Tools by id of a frozen call, from the snapshot of the current answer."""
        self._remembered: dict[str, dict[str, RegisteredTool]] = {}
        """Tools of toolsets that cannot be listed here, by run of the suspended call and by tool id."""
        self._caller_tools: dict[str, list[RegisteredTool | None]] = {}
        """Tools of the callers that wait here, by run of the call. Another call can have the same name."""

    @property
    def is_empty(self) -> bool:
        """Whether this process has no tools, for example if it only answers."""
        return not self.directory.specs and not self._toolsets.is_dynamic

    def set_tool(self, frozen: FrozenCall, tool: RegisteredTool) -> None:
        """Set the tool for the next execution of a call in this process."""
        self._answering[frozen.id] = tool

    def unset_tool(self, frozen: FrozenCall) -> None:
        """Drop the tool that was set for a call."""
        self._answering.pop(frozen.id, None)

    def can_list(self, tool: RegisteredTool) -> bool:
        """Return whether a toolset of this runtime has the tool, or can list it again."""
        return tool.spec.id in self.directory.by_id or tool.toolset in self._toolsets.names

    def remember(self, run_id: str, tool: RegisteredTool) -> None:
        """Store the tool of a suspended call that no toolset of this runtime can list again."""
        if not self.can_list(tool):
            self._remembered.setdefault(run_id, {})[tool.spec.id] = tool

    def forget(self, run_id: str) -> None:
        """Drop the stored tool of a call that is no longer suspended."""
        self._remembered.pop(run_id, None)

    def add_caller(self, run_id: str, tool: RegisteredTool | None) -> None:
        """Add a caller that waits for a call, with its tool if it has one."""
        self._caller_tools.setdefault(run_id, []).append(tool)

    def remove_caller(self, run_id: str, tool: RegisteredTool | None) -> bool:
        """Drop a caller that was added by `add_caller`, and return whether it was the last one."""
        tools = self._caller_tools[run_id]
        tools.remove(tool)
        if not tools:
            del self._caller_tools[run_id]
        return not tools

    def caller_count(self, run_id: str) -> int:
        """Return the number of callers in this process that wait for a call."""
        return len(self._caller_tools.get(run_id, ()))

    async def tool_of_answered(self, frozen: FrozenCall, run_id: str) -> RegisteredTool | None:
        """Return the tool of an answered call: the one set by `set_tool`, otherwise as `find`."""
        return self._answering.pop(frozen.id, None) or await self.find(frozen.tool, frozen.meta, run_id)

    async def find(
        self, tool: str, meta: CallMeta, run_id: str, within: Snapshot | None = None
    ) -> RegisteredTool | None:
        """Return a tool of the snapshot, of a waiting caller, of the run's agent or of the runtime."""
        tools = self._caller_tools.get(run_id, ())
        of_callers = (own for own in tools if own is not None and own.spec.id == tool)
        registered = next(of_callers, None) if within is None else within.directory.by_id.get(tool)
        if registered is None and self.of_run is not None:
            registered = await self.of_run(tool, meta, run_id)
        if registered is None:
            registered = self.directory.by_id.get(tool)
        if registered is None and self._toolsets.is_dynamic:
            context = ReadonlyContext(meta=meta)
            registered = await listed_now(tool, self._toolsets.snapshot(context))
        return registered or self._remembered.get(run_id, {}).get(tool)


async def listed_now(tool: str, listing: Awaitable[Snapshot]) -> RegisteredTool | None:
    """Return a tool by id from a new snapshot; None if it is missing or listing fails."""
    try:
        return (await listing).directory.by_id.get(tool)
    except SnapshotError:
        log.warning("the toolset that might have %s could not be listed", tool, exc_info=True)
        return None
