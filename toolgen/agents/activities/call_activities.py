"""The activities of calls: `tool`, `answer` for suspended calls, `conclude` for calls to other agents."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypedDict

from pydantic_core import to_json

from toolgen.calls.call import CallMeta, FrozenCall, ToolCall
from toolgen.calls.context import Batch
from toolgen.calls.errors import (
    MalformedResultError,
    OutcomeUnknownError,
    ToolError,
    ToolValidationError,
)
from toolgen.calls.results import RetryHint, RunLink, ToolResult
from toolgen.calls.specs import ToolSpec
from toolgen.calls.steps.dispatch import (
    dispatch,
    end_without_executor,
    stray_error_result,
)
from toolgen.calls.steps.failures import unreadable_result
from toolgen.calls.steps.frame import Frame, RuntimeServices
from toolgen.calls.steps.registered_tool import RegisteredTool
from toolgen.calls.steps.result_encoding import encode_result
from toolgen.contract.boundary import run_or_abandon
from toolgen.contract.json_value import Json
from toolgen.contract.limits import portable_text
from toolgen.contract.record import frozen_record
from toolgen.contract.tasks import GRACE_S
from toolgen.engines import ActivityInfo, Engine, UnknownRunError
from toolgen.events.event_reporter import CallEvents, EventReporter
from toolgen.waiting.activities import undelegated_result
from toolgen.waiting.loop import WORK
from toolgen.waiting.once_call import CallRecorder
from toolgen.waiting.resolving import unknown_ends
from toolgen.waiting.resuming import CallWork, resume, seal_wait
from toolgen.waiting.suspending import CallSuspender

from ..host import AgentHost
from ..loop.calls import refused_call
from ..loop.documents import CallRecord, RunDocument, RunFacts, StepCall, tool_answer
from ..output import documents_so_far, telemetry_of
from ..planner.messages import ToolMessage, messages_from_json
from ..resolving import settle
from .attached_files import AttachedFiles
from .batches import Batches
from .call_records import call_record, waiting_record
from .cut_results import CutResults
from .missing_tools import leave_to_others

_KEEPING_S: Final = GRACE_S / 2
"""Seconds before the end of an activity when it stops waiting for its conversation to store the result."""
_TOO_MANY: Final = "too many calls of this run are already waiting for an answer"


class CallArgument(TypedDict):
    """The argument of `tool`."""

    facts: RunFacts
    call: StepCall
    step: int
    place: int


class AnswerArgument(TypedDict):
    """The argument of `answer`."""

    facts: RunFacts
    call: StepCall
    op: str
    frozen: dict[str, Any]
    answer: Any


class ConcludeArgument(TypedDict):
    """The argument of `conclude`."""

    facts: RunFacts
    call: StepCall
    agent: str
    output: RunDocument
    started_at: float
    """Start of the other run, in seconds since 1970."""


@frozen_record
class _Step:
    """One activity of a call: the facts of its run, the call itself, and the services that report it."""

    run_id: str
    facts: RunFacts
    call: StepCall
    meta: CallMeta
    events: CallEvents
    services: RuntimeServices


class CallActivities:
    """Executes the calls of the runs of one host with the dispatcher that executes all other calls too."""

    def __init__(self, host: AgentHost) -> None:
        self._host = host
        self._offering = (CutResults(host), AttachedFiles(host))
        self._batches = Batches()

    async def tool(self, info: ActivityInfo, argument: CallArgument) -> CallRecord:
        """Return the result of a call, after the conversation has stored it."""
        ends_at = _ends_at(info, _KEEPING_S)
        return await self._stored(info, argument, await self._tool(info, argument), ends_at)

    async def answer(self, info: ActivityInfo, argument: AnswerArgument) -> CallRecord:
        """Return the result of a suspended call after its answer, once the conversation has stored it."""
        ends_at = _ends_at(info, _KEEPING_S)
        return await self._stored(info, argument, await self._answer(info, argument), ends_at)

    async def conclude(self, info: ActivityInfo, argument: ConcludeArgument) -> CallRecord:
        """Return the result of a call that another agent's run answered, after it is stored."""
        return await self._stored(info, argument, await self._conclude(info, argument))

    async def _stored(
        self,
        info: ActivityInfo,
        argument: CallArgument | AnswerArgument | ConcludeArgument,
        done: CallRecord,
        ends_at: float | None = None,
    ) -> CallRecord:
        if argument["facts"]["in_conversation"] and done["status"] != "suspended":
            answer = tool_answer(argument["call"], done)
            (message,) = messages_from_json([{"type": "tools", "answers": [answer]}])
            if isinstance(message, ToolMessage):
                await self._host.conversations.answer(info.run_id, message.answers[0], ends_at=ends_at)
        return done

    async def _tool(self, info: ActivityInfo, argument: CallArgument) -> CallRecord:
        step = self._step(info, argument)
        call, meta, services = step.call, step.meta, step.services
        tool = await self._find_tool(info, step, argument["step"])
        if not isinstance(tool, RegisteredTool):
            return tool
        if tool.may_repeat or tool.begins_itself or tool.needs_call or tool.has_hooks_after:
            await info.wait_for_durable_inputs()  # before the executor or a hook begins
        values, place = self._host.values_of(info.run_id), argument["place"]
        with self._batches.enter(info, argument["step"], place, services, values) as batch:
            frame = Frame(tool, call["arguments"], meta, batch.batch, services)
            self._recorder(info, step, is_checked=not self._host.is_shared).watch(frame)
            frame.context.place = place
            result: ToolResult
            try:
                result = await run_or_abandon(dispatch(frame))
            except Exception as error:  # noqa: BLE001 - the tool ended the call's task; the call fails
                result = stray_error_result(frame, error)
            result = await batch.result(frame.context, result)
        op, is_asked = f"wait:{call['id']}:1", result.status == "suspended" and result.frozen is not None
        if is_asked and not await self._host.may_wait(info.run_id, op):
            return refused_call(call, _TOO_MANY, status="denied")
        done = self._call_record(result, tool, step)
        if result.frozen is not None:
            record = seal_wait(self._host.waits, info.run_id, op, _work_run(info, call), result)
            done["frozen"] = record.document
        return done

    async def _answer(self, info: ActivityInfo, argument: AnswerArgument) -> CallRecord:
        step = self._step(info, argument)
        call, services = step.call, step.services
        work = CallWork(
            run_id=info.run_id,
            waits=self._host.waits,
            services=services,
            events=step.events,
            batch=Batch(services.capabilities, self._host.values_of(info.run_id)),
            recorder=self._recorder(info, step, is_checked=True),
        )
        find_tool = partial(self._find_waiting_tool, step.facts)
        resumed = await resume(work, argument, find_tool, _work_run(info, call))
        if resumed is None:
            return waiting_record(call, argument["frozen"])
        result, tool = resumed.result, resumed.tool
        self._host.waits.set_result(resumed.id, _client_result(result, info.run_id, call))
        done = self._recorded(result, step) if tool is None else self._call_record(result, tool, step)
        return done if resumed.frozen is None else {**done, "frozen": resumed.frozen}

    async def _find_waiting_tool(
        self, facts: RunFacts, frozen: FrozenCall, run_id: str
    ) -> RegisteredTool | None:
        """Return the tool of a suspended call: as it was advertised, otherwise as it is listed now."""
        tool = await self._host.listed(frozen, run_id)
        return None if tool is None else self._host.within_time(tool, facts["policy"]["tool_timeout"])

    async def _conclude(self, info: ActivityInfo, argument: ConcludeArgument) -> CallRecord:
        step = self._step(info, argument)
        call = step.call
        tool = await self._find_tool(info, step)
        if not isinstance(tool, RegisteredTool):
            return tool
        output, now = argument["output"], self._host.clock()
        took = max(0.0, now - argument["started_at"] - output["waited_s"])
        link = _link(info.run_id, call, argument["agent"])
        batch = Batch(step.services.capabilities, self._host.values_of(info.run_id))
        frame = Frame(tool, call["arguments"], step.meta, batch, step.services)
        result = await result_of_run(frame, output, link, self._host.engine, duration_s=took)
        done = self._call_record(result, tool, step)
        done["usage"], done["pending"] = output["usage"], output["pending"]
        below = (
            output["artifacts"]
            if output["failure"] is None
            else await self._child_artifacts(link.run_id, output)
        )
        done["run_artifacts"] = [*below, *done.get("run_artifacts", [])]
        return done

    async def _child_artifacts(self, run_id: str, output: RunDocument) -> list[Json]:
        """Return the artifacts of a failed child run: from its output if it is over, else from its log."""
        try:
            is_over = (await self._host.engine.status(run_id)).state == "completed"
        except UnknownRunError:  # the run could not begin
            is_over = True
        return output["artifacts"] if is_over else await documents_so_far(self._host.engine, run_id)

    def _call_record(self, result: ToolResult, tool: RegisteredTool, step: _Step) -> CallRecord:
        """Return the call record for the loop, with the actions that the tool requests of its agent."""
        host, call, facts, run_id = self._host, step.call, step.facts, step.run_id
        if result.delegated is not None and facts["depth"] + 1 >= host.most_depth:
            error = ToolError(f"{call['name']} was not run: the agents are nested too deep")
            result = undelegated_result(result.delegated, tool, error, step.meta, step.services)
        done = self._recorded(result, step, tool.spec)
        if result.delegated is not None:
            done["child"] = host.child(result.delegated, call, run_id, facts)
        actions = result.actions if result.status in ("ok", "pending") else None
        if actions is not None and actions.transfer_to:
            target = portable_text(str(actions.transfer_to))  # an executor can return any text
            if target in host.transfers(host.agent(facts["agent"]), facts):
                done["transfer"] = host.hand_over_run(target, "", run_id, facts)
            else:
                done["problem"] = f"the conversation cannot be handed over to {target}"
        if actions is not None and actions.is_escalated:
            done["is_escalated"] = True
        if not host.may_ask(run_id):
            done["is_unattended"] = True
        return done

    def _step(self, info: ActivityInfo, argument: CallArgument | AnswerArgument | ConcludeArgument) -> _Step:
        facts, call, tools = argument["facts"], argument["call"], self._host.tools
        events = CallEvents(info, self._host.clock)
        suspender = tools.suspender
        if isinstance(suspender, CallSuspender):  # a run finds its own tools again
            document = {"facts": facts, "call": call}
            suspender = CallSuspender(waits=suspender.waits, further_bytes=lambda: len(to_json(document)))
        if any(each.is_called(call) for each in self._offering):  # not found again for the answer
            suspender = None
        return _Step(
            run_id=info.run_id,
            facts=facts,
            call=call,
            meta=self._host.meta(info.run_id, facts, call["id"]),
            events=events,
            services=replace(
                tools,
                reports=EventReporter(events, tools.limits.result_bytes),
                suspender=suspender,
                run_id=info.run_id,
                retry_step=replace(self._host.store_retry, ends_at=_ends_at(info, GRACE_S)).run,
            ),
        )

    def _recorder(self, info: ActivityInfo, step: _Step, *, is_checked: bool) -> CallRecorder:
        """Return the recording functions of a call; `is_checked` calls do not begin without a session."""

        async def record_begin() -> None:
            if is_checked:
                await self._host.conversations.require_session(step.run_id, step.facts, step.call["name"])
            await step.events.begun()

        return CallRecorder(
            record_begin=record_begin,
            settle=partial(settle, self._host, step.run_id, step.call["id"]),
            late_ends=self._host.waits.late_ends,
        )

    def _recorded(self, result: ToolResult, step: _Step, spec: ToolSpec | None = None) -> CallRecord:
        """Return the call record of a result; the spec is None if the tool is not registered."""
        return call_record(result, step.call, spec, step.events, self._host.tools.limits.result_bytes)

    async def _find_tool(
        self, info: ActivityInfo, step: _Step, number: int | None = None
    ) -> RegisteredTool | CallRecord:
        """Return the tool of a call, or the record of a failed call if this process does not have the tool.

        The tool is looked up in the planning with this number, or in the newest planning if `number` is None.

        Raises:
            NotRegisteredError: another worker may have the tool.
        """
        for each in self._offering:
            if each.is_called(step.call):
                return self._host.within_time(each.tool, step.facts["policy"]["tool_timeout"])
        directory = (await self._host.advertised(step.run_id, step.facts, number)).directory
        name = step.call["name"]
        if (tool := directory.by_name.get(name)) is not None:
            return self._host.within_time(tool, step.facts["policy"]["tool_timeout"])
        leave_to_others(info, step.call)
        unknown = ToolCall(tool=name, payload_json=step.call["arguments"].encode(), meta=step.meta)
        return self._recorded(await directory.unknown_call_result(unknown, step.services), step)


async def result_of_run(
    frame: Frame, output: RunDocument, link: RunLink, engine: Engine, *, duration_s: float = 0.0
) -> ToolResult:
    """Return the result of a call that an agent run answered, after its hooks.

    If the run failed and one of its calls has an unknown outcome, the outcome of this call is unknown too.
    """
    spec, services = frame.spec, frame.services
    failure = output["failure"]
    if failure is not None:
        cause = _chained_error([failure["message"], *failure["causes"]])
        error = _agent_error(spec.name, failure["kind"], cause, spec.id)
        if await _has_unknown_calls(engine, link.run_id):
            error = OutcomeUnknownError(f"{error.message}; a call that it made may have run", cause=cause)
        result = frame.error_result(error)
    else:
        try:
            value = spec.result.decode_null_as_absent(to_json(output["result"]), services.limits)
            result = encode_result(spec, value, frame.meta)
        except (ToolValidationError, MalformedResultError) as error:
            if output["stop"] == "escalated":  # text that a tool emitted on the way is not a result
                shown = ToolError(f"{output['agent']} escalated the call. {output['text']}".strip())
            else:
                shown = unreadable_result(spec, error)
            result = frame.error_result(shown)
    usage: Sequence[Any] = output["usage"]
    result = replace(
        result,
        run_link=link,
        children_count=1 + output["children"],
        telemetry=replace(telemetry_of(usage), duration_s=duration_s),
    )
    (seen,) = await frame.batch.settle((await end_without_executor(frame, result),))
    if services.spans is not None:
        services.spans.conclude(link.run_id, seen)
    return replace(seen, run_link=link, children_count=result.children_count, telemetry=result.telemetry)


async def _has_unknown_calls(engine: Engine, run_id: str) -> bool:
    try:
        return bool(await unknown_ends(engine, run_id))
    except UnknownRunError:  # the run could not begin
        return False


def _ends_at(info: ActivityInfo, before_s: float) -> float | None:
    """Return the event loop time `before_s` seconds before the activity ends; None without a time limit."""
    if info.timeout is None:
        return None
    return asyncio.get_running_loop().time() + max(0.0, info.timeout - before_s)


def _link(run_id: str, call: StepCall, agent: str) -> RunLink:
    """Return the link to the run that answers a call."""
    return RunLink(
        run_id=f"{run_id}/child:{call['id']}",
        agent=agent,
        parent_run_id=run_id,
        parent_tool_call_id=call["id"],
    )


def _work_run(info: ActivityInfo, call: StepCall) -> str:
    """Return the ID of the run that waits for the work of an acknowledged call."""
    return f"{info.run_id}/{WORK}{call['id']}"


def _client_result(result: ToolResult, run_id: str, call: StepCall) -> ToolResult:
    """Return the result for the client that answered; for a delegated call, with a link to its run."""
    if result.delegated is None:
        return result
    return replace(result, delegated=None, run_link=_link(run_id, call, result.delegated.agent))


def _chained_error(messages: Sequence[str]) -> ToolError:
    """Return the first message as an error; each further message is the cause of the error before it."""
    first, *rest = messages
    cause: ToolError | None = None
    for message in reversed(rest):
        cause = ToolError(message, cause=cause)
    return ToolError(first, cause=cause)


def _agent_error(name: str, kind: str, cause: ToolError, tool: str) -> ToolError:
    """Return the error of a call whose agent failed, with the failure of the agent's run as its cause."""
    message = f"{name} failed: {cause.message}"
    reason: Any = {"malformed_response": "malformed_response", "timeout": "timeout"}.get(kind)
    hint = RetryHint(reason=reason, tool=tool, message=message) if reason else None
    return ToolError(message, cause=cause, retry_hint=hint)
