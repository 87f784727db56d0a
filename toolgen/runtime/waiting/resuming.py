"""A call that waited goes on with its answer: by its executor, or without it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, Final, Literal

from pydantic_core import to_json

from toolgen.contract.json_value import Json

from ..call.batch import Batch
from ..call.bounds import remember
from ..call.dispatch import dispatch
from ..call.ending import ended
from ..call.entry import Entry
from ..call.failures import denied, failed, failure_of, hidden, log
from ..call.finishing import finish
from ..call.frame import Frame
from ..call.guard import approval_schema, suspended
from ..call.host import Host
from ..call.releasing import released
from ..calls import CallMeta
from ..errors import ToolError
from ..results import ToolResult
from ..specs import ToolSpec
from .answers import cancel_reason, checked_answer
from .errors import BadAnswerError
from .frozen import FrozenCall
from .options import refusal
from .resumption import Resumption, answer_document
from .tokens import Ticket

_CHANGED: Final = "the tool is not what it was when this was asked"
_GONE: Final = "the tool was not there when this was answered"
UNSEALED: Final = "what stood for an answer was not given through this host"
"""Why it is asked again, of an answer that has no seal for this very question."""


async def resumed(
    host: Host,
    entry: Entry | None,
    frozen: FrozenCall,
    ticket: Ticket,
    given: Json,
    batch: Batch,
    begun: Callable[[], Awaitable[None]],
) -> ToolResult:
    """Return the result of a call that waited, of what the journal holds as its answer.

    Where the answer cannot be used, the result is the same question again, with the reason. `begun` keeps
    that the executor begins.

    Raises:
        asyncio.CancelledError: the caller's own task is being cancelled; nobody gets the result then.
    """
    try:
        result = await released(_resumed(host, entry, frozen, ticket, given, batch, begun))
        return (await batch.settle((result,), host.reports))[0]
    except Exception as error:  # whoever answered waits for a result
        failure = ToolError(str(error)) if entry is None else hidden(entry.spec, error)
        limit = host.limits.result_bytes if entry is None else host.limit_of(entry.spec)
        result = failed(frozen.tool, failure, frozen.meta, limit)
        host.reports.ended(result, frozen.meta)
        return result


async def _resumed(
    host: Host,
    entry: Entry | None,
    frozen: FrozenCall,
    ticket: Ticket,
    given: Json,
    batch: Batch,
    begun: Callable[[], Awaitable[None]],
) -> ToolResult:
    assert host.waits is not None, "nothing waits without"
    if not host.waits.sealer.is_sealed(ticket, given):
        return _again(host, frozen, UNSEALED, entry)
    assert isinstance(given, dict), "only such a document has a seal"
    answer, person = given["answer"], str(given["by"])
    if (canceled := cancel_reason(answer)) is not None:
        return await _taken_back(host, entry, frozen, canceled, person, batch)
    if entry is None:
        return _again(host, frozen, _GONE, entry)
    spec = entry.spec
    if frozen.kind != "pending" and spec.approval_digest != frozen.spec_digest:
        return _again(host, frozen, _CHANGED, entry)
    try:
        answer = checked_answer(spec, frozen, answer, host.limits)
    except BadAnswerError as error:
        return _again(host, frozen, error.message, entry)
    if why := await _refused_by_rule(host, ticket, frozen, answer, person):
        return _again(host, frozen, why, entry)
    host.reports.answered(frozen, person)
    result, resumption = _without_running(host, spec, frozen, answer, person), None
    if result is None:
        resumption = Resumption(
            answers=(*frozen.answers, answer_document(frozen, answer)), key=frozen.idempotency_key
        )
    frame = Frame(entry, frozen.payload_json, frozen.meta, batch, host, resumption=resumption)
    frame.keep_beginning(begun)
    frame.context.report = host.reports.of(spec, frozen.meta)
    if result is None:
        return await dispatch(frame)
    if host.policy is not None:
        remember(result, frame.context.values)
    return await ended(frame, result)


def _again(host: Host, frozen: FrozenCall, reason: str, entry: Entry | None) -> ToolResult:
    """Return that the same is asked once more, and why."""
    assert host.waits is not None, "nothing waits without"
    schema: Mapping[str, Any] = frozen.answer_schema
    if entry is not None and frozen.kind == "confirmation":
        schema = approval_schema(entry.spec)
    renewed = host.waits.renewed(frozen, None if entry is None else entry.spec, schema, reason)
    result = suspended(host, renewed)
    host.reports.ended(result, frozen.meta)
    return result


async def _refused_by_rule(host: Host, ticket: Ticket, frozen: FrozenCall, answer: Json, person: str) -> str:
    """Return why the rule of this process does not take the answer; "" where it does.

    The process that took the answer may have another rule, or none.
    """
    assert host.waits is not None, "nothing waits without"
    asked = host.waits.shown(ticket.run_id, ticket.op, frozen)
    try:
        why = await refusal(host.waits.options.rule, asked, answer, person)
    except Exception:
        log.exception("the rule for answers to %s failed", frozen.tool)
        return "it is not known whether this person may answer: the rule failed"
    return f"the answer was not taken: {why}" if why else ""


async def _taken_back(
    host: Host, entry: Entry | None, frozen: FrozenCall, reason: str, person: str, batch: Batch
) -> ToolResult:
    """Return the result of a call that nobody is to answer any more."""
    host.reports.answered(frozen, person)
    meta, reason = frozen.meta, reason or f"{frozen.tool.rpartition('.')[2]} was canceled"
    if frozen.kind == "confirmation":
        host.reports.authorized(frozen.tool, meta, "denied", "runtime", reason, frozen.id, person)
    if entry is None:
        error = ToolError(reason)
        result = replace(failed(frozen.tool, error, meta, host.limits.result_bytes), status="denied")
        host.reports.ended(result, meta)
        return result
    result = denied(entry.spec, reason, meta, host.limit_of(entry.spec), code="canceled")
    return await ended(Frame(entry, frozen.payload_json, meta, batch, host), result)


def _without_running(
    host: Host, spec: ToolSpec[Any, Any], frozen: FrozenCall, answer: Any, person: str
) -> ToolResult | None:
    """Return the result of a call whose executor does not run again; None where it does."""
    meta, limit = frozen.meta, host.limit_of(spec)
    match frozen.kind:
        case "confirmation":
            decision: Literal["approved", "denied"] = "approved" if answer["approved"] else "denied"
            reason = _refusal(answer, "" if answer["approved"] else "a person did not approve the call")
            host.reports.authorized(spec.id, meta, decision, "person", reason, frozen.id, person)
            return None if answer["approved"] else denied(spec, reason, meta, limit)
        case "credential":
            if not answer["available"]:
                return failed(spec.id, ToolError(_refusal(answer, "the credential is missing")), meta, limit)
            return None
        case "pending":
            return _completed(host, spec, answer, meta)
        case "input":
            return None


def _completed(host: Host, spec: ToolSpec[Any, Any], answer: Any, meta: CallMeta) -> ToolResult:
    """Return the result of work that was pending."""
    limit = host.limit_of(spec)
    try:
        if isinstance(answer, dict) and set(answer) == {"error"} and isinstance(answer["error"], str):
            return failed(spec.id, ToolError(answer["error"]), meta, limit)
        return finish(spec, spec.result.decode(to_json(answer), host.limits), meta)
    except Exception as error:
        return failed(spec.id, failure_of(spec, error), meta, limit)


def _refusal(answer: dict[str, Any], otherwise: str) -> str:
    message = answer.get("message")
    return message if isinstance(message, str) and message else otherwise
