"""Resumes a suspended call with its answer: by its executor, or without it.

The tool is found again then: in any process, maybe much later.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from pydantic_core import to_json

from toolgen.contract.json_value import Json
from toolgen.contract.limits import UNLIMITED
from toolgen.contract.names import CANCELED
from toolgen.contract.secrets import hiding

from ..call.authorization import approval_schema, suspended_result
from ..call.boundary import run_or_abandon
from ..call.bounds import remember
from ..call.dispatch import dispatch, end_without_executor
from ..call.failures import denied_result, error_result, internal_error, log, tool_error_of
from ..call.frame import Batch, Frame, RuntimeServices
from ..call.once_call import Keeping
from ..call.registered_tool import RegisteredTool
from ..call.result_encoding import encode_result
from ..calls import CallMeta
from ..errors import ToolError, ToolValidationError
from ..events.event_reporter import CallEvents
from ..results import ToolResult
from ..specs import ToolSpec
from ..toolsets.directory import Directory
from ..toolsets.dynamic import ReadonlyContext, SnapshotError
from ..toolsets.snapshot import CallService, Snapshot
from ..toolsets.toolsets import Toolsets
from .answers import Resumption, answer_document, cancel_reason, failure_of, frozen_secrets, validate_answer
from .errors import BadAnswerError, TamperedSuspensionError, UnsealedSuspensionError
from .frozen import FIRST, FrozenCall, SealedCall, new_id, next_wait
from .options import WaitOptions
from .wait_registry import WaitRegistry

FindTool = Callable[[str, CallMeta, str], Awaitable[RegisteredTool | None]]
"""Finds a tool by id, for a call with these facts, as the run of this id has it."""

FindAnswered = Callable[[FrozenCall, str], Awaitable[RegisteredTool | None]]
"""Finds the tool of a call that waits in the run of this id, when its answer comes."""

_CHANGED: Final = "the tool has changed since the question was asked"
_UNFIT: Final = (
    "{} has changed since the question was asked, and the arguments do not fit it any more; it was not run"
)
_GONE: Final = "the tool was not registered when the answer came"
UNSEALED: Final = "the answer in the journal has no valid seal"
"""Why it is asked again, of an answer that has no seal for this very question."""
_SEAL_HINT: Final = (
    "it is forged, or sealed with another secret; give all processes the same Runtime(secret=...)"
)
"""Why it may have none, and what to do, for the log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallWork:
    """What an activity executes a call with."""

    run_id: str
    services: RuntimeServices
    """With the reporter of the events."""
    events: CallEvents
    batch: Batch
    keeping: Keeping


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """A call that was resumed with an answer."""

    tool: RegisteredTool | None
    """None where it is not here."""
    result: ToolResult
    """For its client: with the token where it waits again."""
    id: str
    """Of the question that was answered."""
    frozen: dict[str, Json] | None
    """The sealed record of the call where it waits again, for the journal."""


async def resume(
    work: CallWork, argument: Mapping[str, Any], find_tool: FindAnswered, work_run: str
) -> Resumed | None:
    """Resume a suspended call with the answer of the journal; None where its record is not verified.

    Then the call waits on, and there is no `tool_end`: whoever waits for its result waits on, too.

    Args:
        work: Executes it.
        argument: Of the activity: `op`, the key of the wait, `frozen`, its record, and `given`, the answer.
        find_tool: Finds the tool as it is now.
        work_run: The run that waits for the work of the call, should it be acknowledged.

    Raises:
        asyncio.CancelledError: the caller's own task is being cancelled; nobody gets the result then.
    """
    waits, run_id, op = work.services.waits, work.run_id, argument["op"]
    assert waits is not None, "nothing waits without"
    try:
        record = await waits.verify(run_id, op, argument["frozen"])
    except (TamperedSuspensionError, UnsealedSuspensionError) as error:
        log.error("run %s: a call was not resumed: %s; %s", run_id, error.message, error.hint)
        return None
    tool = await find_tool(record.call, run_id)
    result = await _resumed(work.services, tool, record, argument["given"], work.batch, work.keeping)
    again = None if result.frozen is None else seal_wait(waits, run_id, next_wait(op), work_run, result)
    if again is not None:
        asked = waits.suspended(again)
        result = replace(result, frozen=None, suspensions=(asked,))
    return Resumed(
        tool=tool, result=result, id=record.call.id, frozen=None if again is None else again.document
    )


def seal_wait(waits: WaitRegistry, run_id: str, op: str, work_run: str, result: ToolResult) -> SealedCall:
    """Return the sealed record of a call that waits: under `op`, or as acknowledged work in a run for it."""
    assert result.frozen is not None, "only a call that waits has a record"
    if result.status == "pending" and work_run != run_id:
        return waits.seal(work_run, FIRST, result.frozen)
    return waits.seal(run_id, op, result.frozen)


async def _resumed(
    services: RuntimeServices,
    tool: RegisteredTool | None,
    record: SealedCall,
    given: Json,
    batch: Batch,
    keeping: Keeping,
) -> ToolResult:
    """Return the result of a verified call after the answer of the journal.

    Where the answer cannot be used, it is the same question again, with the reason.
    """
    frozen = record.call
    with hiding(frozen_secrets(frozen, None if tool is None else tool.spec, given)):
        try:
            result = await run_or_abandon(_resume(services, tool, record, given, batch, keeping))
            return (await batch.settle((result,), services.reports))[0]
        except Exception as error:  # whoever answered waits for a result
            failure = ToolError(str(error)) if tool is None else internal_error(tool.spec, error)
            limit = services.limits.result_bytes if tool is None else tool.result_bytes
            result = error_result(frozen.tool, failure, frozen.meta, limit)
            services.reports.emit_tool_end(result, frozen.meta, None if tool is None else tool.spec)
            return result


async def _resume(
    services: RuntimeServices,
    tool: RegisteredTool | None,
    record: SealedCall,
    given: Json,
    batch: Batch,
    keeping: Keeping,
) -> ToolResult:
    assert services.waits is not None, "nothing waits without"
    frozen = record.call
    if not services.waits.sealer.is_sealed(record.claims, given):
        log.warning("run %s: %s, of %s: %s", record.run_id, UNSEALED, frozen.tool, _SEAL_HINT)
        return _ask_again(services, frozen, UNSEALED, tool)
    assert isinstance(given, dict), "only such a document has a seal"
    answer, person = given["answer"], str(given["by"])
    if (canceled := cancel_reason(answer)) is not None:
        return await _canceled_result(services, tool, frozen, canceled, person, batch)
    if tool is None:
        return _ask_again(services, frozen, _GONE, tool)
    spec = tool.spec
    if frozen.kind != "pending" and spec.approval_digest != frozen.spec_digest:
        try:
            spec.payload.decode(frozen.payload_json, UNLIMITED)
        except ToolValidationError as error:
            return await _unfit_result(services, tool, frozen, error, person, batch)
        return _ask_again(services, frozen, _CHANGED, tool)
    try:
        answer = validate_answer(spec, frozen, answer, services.limits)
    except BadAnswerError as error:
        return _ask_again(services, frozen, error.message, tool)
    if why := await _refused_by_rule(services.waits, record, answer, person):
        return _ask_again(services, frozen, why, tool)
    _report_answer(services, frozen, person, "answered")
    result = _result_of_answer(services, tool, frozen, answer, person)
    frame = Frame(tool, frozen.payload_json, frozen.meta, batch, services)
    keeping.watch(frame)
    frame.context.report = services.reports.progress_callback(spec, frozen.meta)
    if result is None:
        answers = (*frozen.answers, answer_document(frozen, answer))
        frame.resume(Resumption(answers=answers, key=frozen.idempotency_key))
        return await dispatch(frame)
    if isinstance(result, ToolError):
        result = frame.error_result(result)
    if services.policy is not None:
        remember(result, frame.context.values)
    return await end_without_executor(frame, result)


def _report_answer(
    services: RuntimeServices, frozen: FrozenCall, person: str, outcome: Literal["answered", "canceled"]
) -> None:
    """Emit that a call has its answer, and measure how long it has waited."""
    services.reports.answered(frozen, person)
    if services.metrics is not None and services.waits is not None:
        waited_s = services.waits.options.clock() - frozen.created_at
        services.metrics.end_wait(frozen.kind, outcome, waited_s)


def _ask_again(
    services: RuntimeServices, frozen: FrozenCall, reason: str, tool: RegisteredTool | None
) -> ToolResult:
    """Ask the same question again, with the reason, and return the suspended result."""
    assert services.waits is not None, "nothing waits without"
    schema: Mapping[str, Any] = frozen.answer_schema
    if tool is not None and frozen.kind == "confirmation":
        schema = approval_schema(tool.spec)
    spec = None if tool is None else tool.spec
    result = suspended_result(services, _asked_again(frozen, spec, schema, reason, services.waits.options))
    services.reports.emit_tool_end(result, frozen.meta)
    return result


def _asked_again(
    call: FrozenCall,
    spec: ToolSpec[Any, Any] | None,
    answer_schema: Mapping[str, Any],
    reason: str,
    options: WaitOptions,
) -> FrozenCall:
    """Return a frozen call that asks the same again, with the current tool where there is one."""
    now = options.clock()
    return replace(
        call,
        id=new_id(),
        spec_digest=call.spec_digest if spec is None else spec.approval_digest,
        answer_schema=answer_schema,
        sensitive=call.sensitive if spec is None else spec.payload.sensitive,
        created_at=now,
        expires_at=now + options.expires_s,
        reason=reason,
    )


async def _unfit_result(
    services: RuntimeServices,
    tool: RegisteredTool,
    frozen: FrozenCall,
    error: ToolValidationError,
    person: str,
    batch: Batch,
) -> ToolResult:
    """Return the error of a call whose arguments do not fit its tool any more, whatever is answered."""
    _report_answer(services, frozen, person, "answered")
    frame = Frame(tool, frozen.payload_json, frozen.meta, batch, services)
    result = frame.invalid_arguments_result(error, _UNFIT.format(tool.spec.name))
    return await end_without_executor(frame, result)


async def _refused_by_rule(waits: WaitRegistry, record: SealedCall, answer: Json, person: str) -> str:
    """Return why the rule of this process rejects the answer; "" where it does not."""
    try:
        why = await waits.refusal(record, answer, person)
    except Exception:
        log.exception("the rule for answers to %s failed", record.call.tool)
        return "it is not known whether this person may answer: the rule failed"
    return f"the answer was rejected: {why}" if why else ""


async def _canceled_result(
    services: RuntimeServices,
    tool: RegisteredTool | None,
    frozen: FrozenCall,
    reason: str,
    person: str,
    batch: Batch,
) -> ToolResult:
    """Return the result of a suspended call that was canceled."""
    _report_answer(services, frozen, person, "canceled")
    meta, reason = frozen.meta, reason or f"{frozen.tool.rpartition('.')[2]} was canceled"
    if frozen.kind == "confirmation":
        services.reports.emit_authorization(frozen.tool, meta, "denied", "runtime", reason, frozen.id, person)
    if tool is None:
        error = ToolError(reason)
        result = replace(
            error_result(frozen.tool, error, meta, services.limits.result_bytes), status="denied"
        )
        services.reports.emit_tool_end(result, meta)
        return result
    result = denied_result(tool.spec, reason, meta, tool.result_bytes, code=CANCELED)
    return await end_without_executor(Frame(tool, frozen.payload_json, meta, batch, services), result)


def _result_of_answer(
    services: RuntimeServices, tool: RegisteredTool, frozen: FrozenCall, answer: Any, person: str
) -> ToolResult | ToolError | None:
    """Return the result or the failure that the answer itself gives; None where the executor runs again."""
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
    services: RuntimeServices, spec: ToolSpec[Any, Any], answer: Any, meta: CallMeta
) -> ToolResult | ToolError:
    """Return the result of work that was pending, or why it failed."""
    try:
        if (failure := failure_of(spec, answer, services.limits)) is not None:
            return failure
        return encode_result(spec, spec.result.decode(to_json(answer), services.limits), meta)
    except Exception as error:
        return tool_error_of(spec, error)


def _denial_reason(answer: dict[str, Any], otherwise: str) -> str:
    message = answer.get("message")
    return message if isinstance(message, str) and message else otherwise


class WaitingTools:
    """Finds the current tools of one runtime.

    Of a dynamic toolset they are listed again: a tool that was listed when the call was made may be another
    one since, or gone, and the digest of the frozen call tells.
    """

    def __init__(self, caller: CallService, directory: Directory, toolsets: Toolsets) -> None:
        self._caller = caller
        self._directory = directory
        self._toolsets = toolsets
        self.of_run: FindTool | None = None
        """Finds the tools of the runs of agents, where the runtime has any."""
        self._given: dict[str, RegisteredTool] = {}
        """By id of a frozen call, its tool in the snapshot with which it is being answered."""
        self._made: dict[str, RegisteredTool] = {}
        """By run of a call that waits here, its tool, of a toolset that this runtime cannot list."""
        self._held: dict[str, RegisteredTool] = {}
        """By run of a call whose caller waits here, its tool."""

    @property
    def is_empty(self) -> bool:
        """Whether this process has no tools at all, such as one that only answers."""
        return not self._directory.specs and not self._toolsets.is_dynamic

    def give(self, frozen: FrozenCall, tool: RegisteredTool) -> None:
        """Set the tool for the next execution of a call in this process."""
        self._given[frozen.id] = tool

    def take_back(self, frozen: FrozenCall) -> None:
        """Drop the tool that was set for a call."""
        self._given.pop(frozen.id, None)

    def can_list(self, tool: RegisteredTool) -> bool:
        """Return whether a toolset of this runtime has the tool, or may list it again."""
        return tool.spec.id in self._directory.by_id or tool.toolset in self._toolsets.names

    def made(self, run_id: str, tool: RegisteredTool) -> None:
        """Remember the tool of a suspended call that no toolset of this runtime can list again."""
        if not self.can_list(tool):
            self._made[run_id] = tool

    def ended(self, run_id: str) -> None:
        """Drop the remembered tool of a call that no longer waits."""
        self._made.pop(run_id, None)

    def hold(self, run_id: str, tool: RegisteredTool) -> None:
        """Set the tool of a call for as long as its caller waits."""
        self._held[run_id] = tool

    def let_go(self, run_id: str) -> None:
        """Drop the tool that was set by `hold`."""
        self._held.pop(run_id, None)

    async def of_answered(self, frozen: FrozenCall, run_id: str) -> RegisteredTool | None:
        """Return the tool of an answered call: the one set by `give`, else as `find`."""
        return self._given.pop(frozen.id, None) or await self.find(frozen.tool, frozen.meta, run_id)

    async def find(
        self, tool: str, meta: CallMeta, run_id: str, within: Snapshot | None = None
    ) -> RegisteredTool | None:
        """Return a tool of the snapshot, of the caller that waits, of the run's agent or of the runtime."""
        found = self._held.get(run_id) if within is None else within.directory.by_id.get(tool)
        if found is None and self.of_run is not None:
            found = await self.of_run(tool, meta, run_id)
        if found is None:
            found = self._directory.by_id.get(tool)
        if found is None and self._toolsets.is_dynamic:
            context = ReadonlyContext(meta=meta)
            found = await listed_now(tool, self._toolsets.snapshot(self._caller, context))
        return found or self._made.get(run_id)


async def listed_now(tool: str, listing: Awaitable[Snapshot]) -> RegisteredTool | None:
    """Return a tool by id from a new snapshot; None where it is missing, or the listing fails."""
    try:
        return (await listing).directory.by_id.get(tool)
    except SnapshotError:
        log.warning("the toolset that may have %s could not be listed", tool, exc_info=True)
        return None
