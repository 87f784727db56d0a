"""The result of a call by the journal of its run: written there, read again and waited for in any process."""

from __future__ import annotations

import asyncio
from base64 import b64decode
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, Final

from pydantic_core import to_json, to_jsonable_python

from toolgen.calls.call import CallMeta
from toolgen.calls.call_names import CALL
from toolgen.calls.content import AudioContent, Content, ImageContent, ResourceContent, TextContent
from toolgen.calls.errors import DeclaredError, NotBegunError, ToolError, ToolValidationError
from toolgen.calls.results import ArtifactRef, RetryHint, RunLink, Suspended, Telemetry, ToolResult
from toolgen.calls.specs import ToolSpec
from toolgen.calls.steps.failures import error_result, log
from toolgen.calls.steps.frame import RuntimeServices
from toolgen.calls.steps.result_encoding import is_truncated
from toolgen.contract.bounds import Bounds
from toolgen.contract.json_value import Json
from toolgen.contract.limits import UNLIMITED
from toolgen.events.event_reporter import CallEvents
from toolgen.runs import UnknownRunError
from toolgen.shapes.issues import FieldIssue

from .asking import open_questions, outer_call
from .errors import LateAnswerError, TamperedSuspensionError, UnsealedSuspensionError
from .frozen import FrozenCall
from .kept_artifacts import kept_artifact
from .loop import CallDocument, Outcome, call_of, is_unknown_end
from .resolving import latest_end, latest_outcome
from .resuming import WaitingTools
from .untaken import result_or_waiting_on
from .wait_registry import OpenedToken, WaitRegistry, unknown_suspension

_PAUSE_S: Final = 1.0
"""Seconds between two looks at a run that waits for nobody with a token, as one that its client paused."""
_CONTENT: Final[dict[str, type[Any]]] = {
    "text": TextContent,
    "image": ImageContent,
    "audio": AudioContent,
    "resource_link": ResourceContent,
}


def outcome_of(result: ToolResult, events: CallEvents) -> Outcome:
    """Return the document of a result, with the events of the call."""
    outcome: Outcome = {
        "status": result.status,
        "json": result.json.decode(),
        "events": events.kept,
        "frozen": None,
    }
    if result.display:
        outcome["display"] = result.display
    if result.bounds is not None:
        outcome["bounds"] = to_jsonable_python(result.bounds)
    if result.is_final:
        outcome["is_final"] = True
    if result.error is not None:
        outcome["error"] = _error_json(result.error)
    if result.retry_hint is not None:
        outcome["hint"] = to_jsonable_python(result.retry_hint)
    if result.artifacts:
        refs = [(one.ref or ArtifactRef(kind=one.kind), one.source_tool) for one in result.artifacts]
        outcome["artifacts"] = [{**to_jsonable_python(ref), "tool": tool} for ref, tool in refs]
    if result.content:
        outcome["content"] = to_jsonable_python(result.content, bytes_mode="base64")
    if result.run_link is not None:
        link = result.run_link  # no journal has a token, so not those of its work
        outcome["link"] = {one.name: getattr(link, one.name) for one in fields(link) if one.name != "pending"}
        outcome["children"] = result.children_count
        outcome["telemetry"] = to_jsonable_python(result.telemetry)
    return outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class CallReader:
    """Reads the results of calls from the journals of their runs."""

    waits: WaitRegistry
    tools: WaitingTools
    services: RuntimeServices


async def _kept_result(reader: CallReader, run_id: str, call: CallDocument, outcome: Outcome) -> ToolResult:
    """Return the result of a run of a call as it was: all but the actions.

    Without the typed value where the tool is gone or another one now, or where the document was truncated;
    without the artifacts whose data nobody kept.
    """
    meta, tools = CallMeta(**call["meta"]), reader.tools
    result = _result_of(outcome, call["tool"], meta)
    result = await with_pending(reader.waits, result, outcome.get("pending", ()))
    if result.status != "ok" or (tool := await tools.find(call["tool"], meta, run_id)) is None:
        return result
    artifacts = [
        await kept_artifact(one, await tools.find(one["tool"], meta, run_id), reader.services)
        for one in outcome.get("artifacts", ())
    ]
    return replace(
        result,
        result=_typed(tool.spec, result.json),
        artifacts=tuple([one for one in artifacts if one is not None]),
    )


async def with_pending(
    waits: WaitRegistry, result: ToolResult, work: Sequence[Mapping[str, Any]]
) -> ToolResult:
    """Return the result of a call that an agent answered with what of the work of its run still goes on.

    `work` is as in `Outcome`; where its record is not verified, it is left out.
    """
    if not work or result.run_link is None:
        return result
    pending = []
    for one in work:
        with suppress(TamperedSuspensionError, UnsealedSuspensionError, UnknownRunError):
            record = await waits.verify(one["run_id"], one["op"], one["frozen"])
            if not (await waits.engine.status(one["run_id"])).is_over:
                pending.append(waits.suspended(record))
    return replace(result, run_link=replace(result.run_link, pending=tuple(pending)))


def _typed(spec: ToolSpec[Any, Any], document: bytes) -> Any:
    if is_truncated(document):
        return None
    try:
        return spec.result.decode(document, UNLIMITED)
    except ToolValidationError as error:
        log.warning("the result of %s has no typed value any more: %s", spec.id, error)
        return None


def _result_of(outcome: Outcome, tool: str, meta: CallMeta) -> ToolResult:
    """Return the result of a document, without the typed value and the artifacts."""
    bounds: Any = outcome.get("bounds")
    link: Any = outcome.get("link")
    telemetry: Any = outcome.get("telemetry")
    hint: Any = outcome.get("hint")
    read = None if hint is None else _hint(hint)
    return ToolResult(
        tool=tool,
        status=outcome["status"],
        json=outcome["json"].encode(),
        tool_call_id=meta.tool_call_id,
        error=_error(outcome["error"], read) if "error" in outcome else None,
        retry_hint=read,
        bounds=None if bounds is None else Bounds(**bounds),
        content=tuple(map(_content, outcome.get("content", ()))),
        display=outcome.get("display", ""),
        is_final=outcome.get("is_final", False),
        run_link=None if link is None else RunLink(**link),
        children_count=outcome.get("children", 0),
        telemetry=None if telemetry is None else Telemetry(**telemetry),
    )


def is_of_not_begun(outcome: Outcome) -> bool:
    """Return whether the call of a document was not let in by the scheduler, and may be made again."""
    return outcome.get("error", {}).get("has_begun") is False


def result_of_event(event: Mapping[str, Any], tool: str, meta: CallMeta) -> ToolResult:
    """Return the result in a `tool_end` event: as `result_of`, without its sensitive values, too."""
    return ToolResult(
        tool=tool,
        status=event["status"],
        json=b"" if event["result"] is None else to_json(event["result"]),
        tool_call_id=meta.tool_call_id,
        display=event["text"],
        error=_error_of_event(event) if event["error"] else None,
        bounds=None if event["bounds"] is None else Bounds(**event["bounds"]),
        is_final=event["is_final"],
    )


def _error_of_event(event: Mapping[str, Any]) -> ToolError:
    """Return the error that a `tool_end` tells of: by its code one that the design declares."""
    if not event["code"]:
        return ToolError(event["error"])
    seen = event["result"]
    details = to_json(seen["details"]) if isinstance(seen, dict) and "details" in seen else b""
    return DeclaredError(event["error"], code=event["code"], details_json=details)


def _error_json(error: ToolError) -> dict[str, Json]:
    facts: dict[str, Json] = {"message": error.message}
    if isinstance(error, DeclaredError):
        facts |= {"code": error.code, "details": error.details_json.decode()}
    if isinstance(error, NotBegunError):
        facts["has_begun"] = False
    return facts


def _error(facts: dict[str, Any], hint: RetryHint | None) -> ToolError:
    if "code" not in facts:
        return ToolError(facts["message"], retry_hint=hint)
    details = facts["details"].encode()
    return DeclaredError(facts["message"], code=facts["code"], details_json=details, retry_hint=hint)


def _content(block: Any) -> Content:
    facts = dict(block)
    kind = _CONTENT[facts.pop("type")]
    if isinstance(facts.get("data"), str):
        facts["data"] = b64decode(facts["data"], altchars=b"-_")
    made: Content = kind(**facts)
    return made


def _hint(facts: Mapping[str, Any]) -> RetryHint:
    issues = tuple(map(_issue, facts["issues"]))
    return RetryHint(**{**facts, "missing_fields": tuple(facts["missing_fields"]), "issues": issues})


def _issue(facts: Mapping[str, Any]) -> FieldIssue:
    allowed = facts["allowed"]
    kept = {"keys": tuple(facts["keys"]), "allowed": None if allowed is None else tuple(allowed)}
    return FieldIssue(**{**facts, **kept})


# Waiting for it.


async def run_result(
    reader: CallReader, run_id: str, call: CallDocument, typed: asyncio.Future[ToolResult]
) -> ToolResult:
    """Return the result of the call of a run; suspended while the run only waits for people.

    `typed` gets it where this process executes the call.
    """
    return await reader.waits.scheduler.wait_for_run(run_id, _run_result(reader, run_id, call, typed))


async def _run_result(
    reader: CallReader, run_id: str, call: CallDocument, typed: asyncio.Future[ToolResult]
) -> ToolResult:
    waits, tool, meta = reader.waits, call["tool"], CallMeta(**call["meta"])
    while True:
        status = await waits.engine.settled(run_id)
        if status.state == "completed":
            given: Any = status.output
            outcome = await latest_outcome(waits.engine, run_id, meta.tool_call_id, given)
            if typed.done() and typed.result().status == outcome["status"]:
                return typed.result()
            return await _kept_result(reader, run_id, call, outcome)
        told = await _told_end(waits, run_id, tool, meta)
        if status.is_over:
            why = ToolError(status.error or f"the run of the call was {status.state}")
            return told or error_result(tool, why, meta, reader.services.limits.result_bytes)
        if questions := await open_questions(waits, status, call):
            if told is None or told.status != "pending":
                told = ToolResult(tool=tool, status="suspended", tool_call_id=meta.tool_call_id)
            return replace(told, suspensions=questions)
        await asyncio.sleep(_PAUSE_S)


async def _told_end(waits: WaitRegistry, run_id: str, tool: str, meta: CallMeta) -> ToolResult | None:
    """Return what is said of the result of the call of a run, in its last `tool_end`; None for nothing."""
    engine = waits.engine
    ends = [event async for _, event in engine.events(run_id, follow=False) if event["type"] == "tool_end"]
    return result_of_event(await latest_end(engine, run_id, ends[-1]), tool, meta) if ends else None


@dataclass(frozen=True, slots=True)
class Expected:
    """What gets the typed results that an answer leads to."""

    own: asyncio.Future[ToolResult]
    above: tuple[str, CallDocument] | None
    """The direct call that the answer leads to the result of, by its run; None where there is none."""
    outer: asyncio.Future[ToolResult] | None


@asynccontextmanager
async def expected_results(waits: WaitRegistry, opened: OpenedToken) -> AsyncIterator[Expected]:
    """Yield what gets the typed results of what waits, and of the direct call above it.

    Raises:
        UnknownSuspensionError: the run is forgotten meanwhile.
    """
    above = await _above(waits, opened)
    own = waits.expect_result(opened.id)
    outer = None if above is None else waits.expect_result(above[0])
    try:
        yield Expected(own, above, outer)
    except UnknownRunError:
        raise unknown_suspension() from None
    finally:
        waits.forget(opened.id, own)
        if above is not None and outer is not None:
            waits.forget(above[0], outer)


async def _above(waits: WaitRegistry, opened: OpenedToken) -> tuple[str, CallDocument] | None:
    """Return the direct call to whose result an answer leads, by its run; None where there is none."""
    run_id, record = opened.run_id, opened.record
    if record is None or opened.is_below:
        return await outer_call(waits, run_id)
    return (run_id, call_of({"frozen": record.document})) if run_id.startswith(CALL) else None


async def answered_result(
    reader: CallReader, opened: OpenedToken, expected: Expected, wait_s: float | None, *, is_answered: bool
) -> ToolResult:
    """Return the result of an answered call, once the log of its run has it.

    It is typed where this process has executed the call, and the log has the same. Of what the run of an
    agent asked it is that of the direct call above, or what that still waits for. Where it is not there after
    `wait_s` seconds, it is pending; where the call waits on without the answer, suspended.
    """
    waits, above, outer = reader.waits, expected.above, expected.outer
    try:
        async with asyncio.timeout(wait_s):
            log = partial(_result_from_log, waits, opened)
            look = result_or_waiting_on(waits, opened, log) if is_answered else log()
            told = await waits.scheduler.wait_for_run(opened.run_id, look)
            if above is not None and outer is not None and (told is None or opened.is_below):
                return await run_result(reader, *above, outer)
    except TimeoutError:
        return _pending(opened, above)
    if told is None:
        return _pending(opened, above)
    is_kept = expected.own.done() and expected.own.result().status == told.status
    return expected.own.result() if is_kept else told


def _pending(opened: OpenedToken, above: tuple[str, CallDocument] | None) -> ToolResult:
    """Return the result of a call whose answer is stored, and which has no result yet."""
    frozen, is_below = opened.frozen, opened.is_below
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


async def _result_from_log(waits: WaitRegistry, opened: OpenedToken) -> ToolResult | None:
    """Wait until the log of the run says what became of an answer, and return the result of the call.

    It is None where no result of a call follows at once: the answer went to a planner, or an agent
    answers the call.

    Raises:
        LateAnswerError: the run ended before.
    """
    frozen = opened.frozen
    async for _, event in waits.engine.events(opened.run_id):
        kind = event.get("type")
        if frozen is None:
            asked = str(event.get("suspension_id", "")) if kind == "answer_accepted" else ""
            is_again = kind == "await_clarification" and event.get("reason")
            if asked == opened.id or (is_again and _follows(str(event["suspension_id"]), opened.id)):
                return None
        elif kind == "tool_end" and event.get("answered_id") == frozen.id:
            end = await latest_end(waits.engine, opened.run_id, event) if is_unknown_end(event) else event
            told = result_of_event(end, frozen.tool, frozen.meta)
            suspension = await _suspension_of(waits, opened.run_id, str(event["suspension_id"]))
            return told if suspension is None else replace(told, suspensions=(suspension,))
        elif kind == "agent_run_started" and _is_of(event, frozen):
            return None
    if frozen is None and opened.is_below:
        return None  # it was taken back
    raise await late_answer(waits, opened.run_id, "the run ended before its call did")


async def late_answer(waits: WaitRegistry, run_id: str, why: str) -> LateAnswerError:
    """Return the error of a late answer; it says where the run was canceled."""
    status = await waits.engine.status(run_id)
    if status.state == "canceled":
        reason = f": {status.error}" if status.error else ""
        return LateAnswerError(f"the run of this call was canceled{reason}", hint="start another one")
    return LateAnswerError(why, hint="let the model call the tool again, if it is still wanted")


async def _suspension_of(waits: WaitRegistry, run_id: str, id_: str) -> Suspended | None:
    """Return the suspended call of a run that has the id; None where none waits that is verified."""
    for wait in (await waits.engine.status(run_id)).awaiting if id_ else ():
        with suppress(TamperedSuspensionError, UnsealedSuspensionError):
            record = await waits.record(run_id, wait.op, wait.about)
            if record is not None and record.call.id == id_:
                return waits.suspended(record)
    return None


def _follows(id_: str, before: str) -> bool:
    """Return whether a question of a planner is the one before it, asked again."""
    return id_.startswith(f"{before.partition(':')[0]}:") and id_ != before


def _is_of(event: Mapping[str, Any], frozen: FrozenCall) -> bool:
    """Return whether the run of an agent was started for a suspended call, after its answer."""
    return bool(event["tool"] == frozen.tool and event["tool_call_id"] == frozen.meta.tool_call_id)
