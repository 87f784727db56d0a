"""Calls whose outcome was unknown get the one that a person has found out."""

from __future__ import annotations

from typing import Any

from pydantic_core import to_json

from toolgen.runtime.call.failures import failed, log
from toolgen.runtime.call.finishing import finish
from toolgen.runtime.calls import CallMeta
from toolgen.runtime.engine import NonRetryableError, RunStatus, unknown_run
from toolgen.runtime.errors import MalformedResultError, ToolError, ToolValidationError
from toolgen.runtime.resolution import Resolution, ResolveError
from toolgen.runtime.results import ToolResult
from toolgen.runtime.specs import ToolSpec

from .host import AgentHost
from .loop.documents import RunFacts
from .owner import is_of_agent
from .planner.messages import AssistantMessage, PlannedCall, ToolAnswer
from .sessions.kept_messages import answers_of
from .unknown_calls import is_unknown


async def resolve(
    host: AgentHost, run_id: str, tool_call_id: str, resolution: Resolution, by: str
) -> ToolResult:
    """Keep the outcome of a call, and return it as planners see it; as `Runtime.resolve`."""
    status = await host.engine.status(run_id)
    if not is_of_agent(status):
        raise unknown_run(run_id)
    given: Any = status.input
    facts: RunFacts = given["facts"]
    call = await _unknown_call(host, status, tool_call_id, facts)
    result = await _result(host, status, call, facts, resolution)
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
    log.info("the outcome of call %s of run %s is %s, says %s", call.id, run_id, resolution.outcome, by)
    return result


async def _unknown_call(
    host: AgentHost, status: RunStatus, tool_call_id: str, facts: RunFacts
) -> PlannedCall:
    """Return a call of a run if its outcome is unknown.

    Raises:
        ResolveError: it is known, may still come, or the run made no such call.
    """
    run_id = status.run_id
    if not facts["in_conversation"]:
        raise ResolveError(
            f"run {run_id} belongs to no conversation, so nobody would read the outcome",
            hint="start it again where its work is still wanted",
        )
    messages = await host.sessions.run_messages(run_id)
    calls = [call for one in messages if isinstance(one, AssistantMessage) for call in one.calls]
    found = next((call for call in calls if call.id == tool_call_id), None)
    if found is None:
        known = ", ".join(call.id for call in calls)
        raise ResolveError(
            f"the conversation has no call {tool_call_id!r} of run {run_id}",
            hint=f"its calls are {known}" if known else "keep conversations in a file: SqliteSessionStore",
        )
    answer = answers_of(messages).get(tool_call_id)
    if answer is None and not status.is_over:
        raise ResolveError(
            f"run {run_id} is not over, so the outcome of call {tool_call_id!r} may still come",
            hint="resume the run, or cancel it",
        )
    if answer is not None and not is_unknown(answer):
        who = f", says {answer.resolved_by}" if answer.resolved_by else ""
        raise ResolveError(f"the outcome of call {tool_call_id!r} is known: {answer.status}{who}")
    return found


async def _result(
    host: AgentHost, status: RunStatus, call: PlannedCall, facts: RunFacts, resolution: Resolution
) -> ToolResult:
    """Return the outcome as a result.

    Raises:
        ResolveError: it does not fit the tool, or the tool is not here.
    """
    spec = await _spec(host, status.run_id, call, facts)
    limits = host.tools.limits
    meta = CallMeta(
        run_id=status.run_id,
        session_id=facts["session_id"],
        turn_id=facts["turn_id"],
        tool_call_id=call.id,
    )
    if resolution.outcome != "result":
        message = resolution.message or f"{call.name} was not run"
        return failed(call.name if spec is None else spec.id, ToolError(message), meta, limits.result_bytes)
    if spec is None:
        raise ResolveError(
            f"the tool {call.name!r} is not here, so its result cannot be checked",
            hint="register its toolset, or resolve the call with --failed or --not-run",
        )
    try:
        return finish(spec, spec.result.decode(to_json(resolution.result), limits), meta)
    except (ToolValidationError, MalformedResultError) as error:
        raise ResolveError(f"this is no result of {call.name}: {error}") from None


async def _spec(
    host: AgentHost, run_id: str, call: PlannedCall, facts: RunFacts
) -> ToolSpec[Any, Any] | None:
    """Return what a call calls, as its agent has it now; None where nothing has the name."""
    try:
        entry = (await host.advertised(run_id, facts)).directory.find(call.name)
    except NonRetryableError:  # the agent is not here
        return None
    return None if entry is None else entry.spec
