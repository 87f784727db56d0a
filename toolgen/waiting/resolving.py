"""Resolutions of calls with an unknown outcome: each is a run beside the run of the call.

The log of a finished run accepts no event, so the outcome is the input of a run `<run>/resolved:<call>`,
which publishes it and ends. Only the first resolution counts, across all processes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any, Final

from pydantic_core import to_json

from toolgen.calls.call import CallMeta
from toolgen.calls.errors import MalformedResultError, ToolError, ToolValidationError
from toolgen.calls.results import ToolResult
from toolgen.calls.sensitive import note_typed
from toolgen.calls.specs import ToolSpec
from toolgen.calls.steps.failures import error_result
from toolgen.calls.steps.result_encoding import encode_result
from toolgen.contract.json_value import Json
from toolgen.contract.limits import Limits
from toolgen.contract.logs import logger
from toolgen.contract.secrets import Secrets, hiding
from toolgen.engines import Engine, RunContext, UnknownRunError
from toolgen.events.document import as_json, ids_of
from toolgen.events.records import ToolEnd
from toolgen.events.redaction import public_facts, without_secrets

from .call_results import CallReader
from .loop import CallOutcome, call_of, is_unknown_end
from .once_call import BY_ITSELF, Resolution, ResolveError, UnfitResultError

log = logger("toolgen.runtime")

LOOP: Final = "resolved_call"


async def resolved_call(ctx: RunContext, run_input: Any) -> None:
    """Publish the resolution of a call."""
    await ctx.publish("resolved", {**run_input["resolved"], "time": ctx.now()})


async def unknown_ends(engine: Engine, run_id: str) -> list[Mapping[str, Any]]:
    """Return the `tool_end` of each call of a run whose outcome is still unknown, in order.

    Raises:
        UnknownRunError: no run has the id.
    """
    lost = await _lost_ends(engine, run_id)
    return [end for end in lost if await resolved_end(engine, run_id, end["tool_call_id"]) is None]


async def _lost_ends(engine: Engine, run_id: str) -> list[Mapping[str, Any]]:
    """Return the `tool_end` of each call of a run whose outcome was unknown at its end.

    A call is left out if its agent's run has no unknown outcome: an engine that cuts off both runs might not
    know that.

    Raises:
        UnknownRunError: no run has the id.
    """
    events: list[Mapping[str, Any]] = [event async for _, event in engine.events(run_id, follow=False)]
    started = [event for event in events if event.get("type") == "agent_run_started"]
    agents = {event["tool_call_id"]: str(event["child_run_id"]) for event in started}
    lost = [(end, agents.get(end["tool_call_id"])) for end in events if is_unknown_end(end)]
    return [end for end, agent_run in lost if agent_run is None or await _has_lost(engine, agent_run)]


async def _has_lost(engine: Engine, run_id: str) -> bool:
    try:
        return bool(await _lost_ends(engine, run_id))
    except UnknownRunError:  # the agent's run could not begin
        return False


async def becomes_unknown(engine: Engine, run_id: str, tool_call_id: str | None = None) -> bool:
    """Wait for the end of a call of a run, or of its only call; return whether its outcome is unknown."""
    async for _, event in engine.events(run_id):
        is_end = event.get("type") == "tool_end" and event["status"] != "suspended"
        if is_end and tool_call_id in (None, event["tool_call_id"]):
            return is_unknown_end(event)
    return False


async def resolved_end(engine: Engine, run_id: str, tool_call_id: str) -> Mapping[str, Any] | None:
    """Return the `tool_end` of a resolution; None if the call was not resolved."""
    run_input = await _resolved_input(engine, run_id, tool_call_id)
    return None if run_input is None else run_input["resolved"]


async def latest_end(engine: Engine, run_id: str, end: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the `tool_end` of a call, or of its resolution if the outcome was unknown."""
    if not is_unknown_end(end):
        return end
    return await resolved_end(engine, run_id, end["tool_call_id"]) or end


async def latest_outcome(engine: Engine, run_id: str, tool_call_id: str, outcome: CallOutcome) -> CallOutcome:
    """Return the outcome of the single call of a run; as `latest_end`."""
    if outcome["status"] != "unknown":
        return outcome
    end = await resolved_end(engine, run_id, tool_call_id)
    return outcome if end is None else {**end, "events": []}  # type: ignore[typeddict-item]  # a result document


async def _resolved_input(engine: Engine, run_id: str, tool_call_id: str) -> Any:
    """Return the input of the run that resolves a call; None without one."""
    try:
        return (await engine.status(_resolved_id(run_id, tool_call_id))).input
    except UnknownRunError:
        return None


async def resolved_ends(
    engine: Engine, run_id: str, events: Sequence[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """Return the `tool_end` of each resolved call of a run, from the events of the run.

    Its time is the time of the resolution; 0.0 if the resolution is stored, but no worker has published it
    yet.
    """
    calls = dict.fromkeys(event["tool_call_id"] for event in events if event.get("type") == "tool_end")
    ends: list[Mapping[str, object]] = []
    for call in calls:
        if (end := await resolved_end(engine, run_id, call)) is not None:
            published = engine.events(_resolved_id(run_id, call), follow=False)
            times: list[Any] = [
                event["time"] async for _, event in published if event.get("type") == "tool_end"
            ]
            ends.append({**end, "time": max(times, default=end["time"])})
    return ends


async def keep_outcome(
    engine: Engine,
    result: ToolResult,
    spec: ToolSpec | None,
    meta: CallMeta,
    by: str,
    arguments: str,
) -> str:
    """Store the outcome of a call, without its sensitive values, and return who resolved it first.

    Texts in it quote no sensitive values of the arguments or of a `hiding` block around this call.

    Raises:
        ResolveError: another outcome was recorded before.
    """
    digest = sha256(result.json).hexdigest()
    end = as_json(_shown_end(result, spec, by, arguments))
    run_input: Json = {"resolved": {**end, **ids_of(meta)}, "digest": digest}
    run_id = _resolved_id(meta.run_id, meta.tool_call_id)
    await engine.start_run(LOOP, run_input, run_id=run_id, session=meta.session_id)
    first = await _resolved_input(engine, meta.run_id, meta.tool_call_id)
    assert first is not None, "it was started here or before"
    first_end = first["resolved"]
    if (first_end["status"], first["digest"]) != (result.status, digest):
        raise known_outcome(meta.tool_call_id, first_end["status"], first_end["resolved_by"])
    return str(first_end["resolved_by"])


def _shown_end(result: ToolResult, spec: ToolSpec | None, by: str, arguments: str) -> ToolEnd:
    with hiding(Secrets() if spec is not None and spec.is_sensitive else None):
        note_typed(None if spec is None else spec.payload, arguments)
        return without_secrets(ToolEnd(**public_facts(result, spec), resolved_by=by))


def known_outcome(tool_call_id: str, status: str, by: str = "") -> ResolveError:
    """Return the error for resolving a call whose outcome is known."""
    who = f", says {by}" if by else ""
    call = f"call {tool_call_id!r}" if tool_call_id else "the call"
    return ResolveError(f"the outcome of {call} is known: {status}{who}")


def found_out(
    name: str, spec: ToolSpec | None, meta: CallMeta, resolution: Resolution, limits: Limits
) -> ToolResult:
    """Return a resolution as the result of the call.

    Raises:
        ResolveError: it does not fit the tool, or this process lacks the tool.
    """
    if resolution.outcome != "result":
        message = resolution.message or f"{name} was not run"
        return error_result(name if spec is None else spec.id, ToolError(message), meta, limits.result_bytes)
    if spec is None:
        raise ResolveError(
            f"the tool {name!r} is not available in this process, so its result cannot be checked",
            hint="register its toolset, or resolve the call with --failed or --not-run",
        )
    try:
        return encode_result(
            spec, spec.result.decode_null_as_absent(to_json(resolution.result), limits), meta
        )
    except (ToolValidationError, MalformedResultError) as error:
        raise UnfitResultError(f"this is not a result of {name}: {error}") from None


def _resolved_id(run_id: str, tool_call_id: str) -> str:
    return f"{run_id}/resolved:{tool_call_id}"


async def settle_call(reader: CallReader, run_id: str, resolution: Resolution) -> None:
    """Store the outcome of a run's only call, which ended late, after the run recorded it as unknown.

    Raises:
        ResolveError: another outcome was recorded before.
    """
    engine = reader.waits.engine
    if await becomes_unknown(engine, run_id):
        await engine.result(run_id)
        await resolve_call(reader, run_id, "", resolution, BY_ITSELF)


async def resolve_call(
    reader: CallReader, run_id: str, tool_call_id: str, resolution: Resolution, by: str
) -> ToolResult | None:
    """Store the outcome of a run's single call, and return it; None for a run of an agent.

    Raises:
        ResolveError: as `Runtime.runs.resolve`.
    """
    engine = reader.waits.engine
    try:
        run_input: Any = (await engine.status(run_id)).input
    except UnknownRunError:
        return None
    if not isinstance(run_input, dict) or not ({"frozen", "call"} & run_input.keys()):
        return None
    call = call_of(run_input)  # type: ignore[arg-type]  # as the loop accepts it
    meta = replace(CallMeta(**call["meta"]), run_id=run_id)
    if tool_call_id not in ("", meta.tool_call_id):
        hint = f"it is {meta.tool_call_id}" if meta.tool_call_id else "omit the id of the call"
        raise ResolveError(f"the call of run {run_id} is not {tool_call_id!r}", hint=hint)
    if (resolved := await resolved_end(engine, run_id, meta.tool_call_id)) is not None:
        raise known_outcome(meta.tool_call_id, resolved["status"], resolved["resolved_by"])
    ends = [
        event async for _, event in engine.events(run_id, follow=False) if event.get("type") == "tool_end"
    ]
    if not ends or not (await engine.status(run_id)).is_over:
        raise ResolveError(
            f"run {run_id} is not over, so the outcome of its call may still come",
            hint="resume the run, or cancel it",
        )
    if not is_unknown_end(ends[-1]):
        raise known_outcome(meta.tool_call_id, str(ends[-1]["status"]))
    tool = await reader.tools.find(call["tool"], CallMeta(**call["meta"]), run_id)
    spec = None if tool is None else tool.spec
    result = found_out(call["tool"].rpartition(".")[2], spec, meta, resolution, reader.services.limits)
    await reader.waits.start(f"{run_id}/resolved:{meta.tool_call_id}")
    who = await keep_outcome(engine, result, spec, meta, by, call["arguments"])
    log.info("the outcome of run %s is %s, says %s", run_id, resolution.outcome, who)
    return result
