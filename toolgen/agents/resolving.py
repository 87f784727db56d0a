"""Resolves calls with an unknown outcome, with the outcome that a person reports."""

from __future__ import annotations

from typing import Any

from toolgen.calls.results import ToolResult
from toolgen.calls.specs import ToolSpec
from toolgen.calls.steps.failures import log
from toolgen.engines import NonRetryableError, RunStatus, unknown_run
from toolgen.waiting.once_call import BY_ITSELF, Resolution, ResolveError
from toolgen.waiting.resolving import (
    becomes_unknown,
    found_out,
    keep_outcome,
    known_outcome,
    unknown_ends,
)

from .host import AgentHost
from .loop.documents import RunFacts
from .owner import is_of_agent
from .planner.messages import AssistantMessage, PlannedCall, ToolAnswer
from .run_facts import meta_of
from .sessions.rows import answers_of


async def resolve(
    host: AgentHost, run_id: str, tool_call_id: str, resolution: Resolution, by: str
) -> ToolResult:
    """Store the outcome of a call, and return it as planners see it; as `Runtime.runs.resolve`."""
    status = await host.engine.status(run_id)
    if not is_of_agent(status):
        raise unknown_run(run_id)
    document: Any = status.input
    facts: RunFacts = document["facts"]
    call = await _unknown_call(host, status, tool_call_id, facts)
    spec = await _spec(host, run_id, call, facts)
    meta = meta_of(run_id, facts, call.id)
    result = found_out(call.name, spec, meta, resolution, host.tools.limits)
    await host.waits.start(f"{run_id}/resolved:{call.id}")
    by = await keep_outcome(host.engine, result, spec, meta, by, call.arguments)
    log.info("the outcome of call %s of run %s is %s, says %s", call.id, run_id, resolution.outcome, by)
    if not facts["in_conversation"]:
        return result
    answer = ToolAnswer(
        id=call.id,
        name=call.name,
        status=result.status,
        text=result.json.decode(),
        bounds=result.bounds,
        resolved_by=by,
    )
    await host.sessions.answer(run_id, answer)
    host.conversations.forget(run_id)
    return result


async def settle(host: AgentHost, run_id: str, tool_call_id: str, resolution: Resolution) -> None:
    """Store the result of a call that ended late, once its run has reported its outcome as unknown.

    Raises:
        ResolveError: the call was already resolved.
    """
    if await becomes_unknown(host.engine, run_id, tool_call_id):
        await resolve(host, run_id, tool_call_id, resolution, BY_ITSELF)


async def _unknown_call(
    host: AgentHost, status: RunStatus, tool_call_id: str, facts: RunFacts
) -> PlannedCall:
    """Return a call in the conversation of its run, if its outcome is unknown.

    Raises:
        ResolveError: the outcome is known or may still arrive, or the run made no such call.
    """
    run_id = status.run_id
    if not facts["in_conversation"]:
        return await _call_of_log(host, status, tool_call_id)
    messages = await host.sessions.run_messages(run_id)
    calls = [call for message in messages if isinstance(message, AssistantMessage) for call in message.calls]
    planned = next((call for call in calls if call.id == tool_call_id), None)
    if planned is None:
        ids = ", ".join(call.id for call in calls)
        raise ResolveError(
            f"the conversation has no call {tool_call_id!r} of run {run_id}",
            hint=f"its calls are {ids}" if ids else "store conversations in the file of the engine",
        )
    answer = answers_of(messages).get(tool_call_id)
    if answer is None and not status.is_over:
        raise ResolveError(
            f"run {run_id} is not over, so the outcome of call {tool_call_id!r} may still come",
            hint="resume the run, or cancel it",
        )
    if answer is not None and answer.status != "unknown":
        raise known_outcome(tool_call_id, answer.status, answer.resolved_by)
    return planned


async def _call_of_log(host: AgentHost, status: RunStatus, tool_call_id: str) -> PlannedCall:
    """Return a call of a run without a conversation, from its log, if its outcome is unknown.

    Raises:
        ResolveError: the outcome is known, or the run made no such call.
    """
    run_id = status.run_id
    unknown = [end["tool_call_id"] for end in await unknown_ends(host.engine, run_id)]
    if tool_call_id not in unknown:
        ids = ", ".join(unknown)
        raise ResolveError(
            f"run {run_id} has no call {tool_call_id!r} whose outcome is unknown",
            hint=f"its calls are {ids}" if ids else "the outcomes of its calls are known",
        )
    events = [event async for _, event in host.engine.events(run_id, follow=False)]
    starts = [event for event in events if event.get("type") == "tool_start"]
    names = [start["name"] for start in starts if start["tool_call_id"] == tool_call_id]
    return PlannedCall(name=str(names[0]), id=tool_call_id)


async def _spec(host: AgentHost, run_id: str, call: PlannedCall, facts: RunFacts) -> ToolSpec | None:
    """Return the spec of a call's tool as its agent has it now; None if there is no tool with this name."""
    try:
        tool = (await host.advertised(run_id, facts)).directory.by_name.get(call.name)
    except NonRetryableError:  # the agent is not registered here
        return None
    return None if tool is None else tool.spec
