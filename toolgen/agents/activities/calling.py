"""The activities of calls: `tool`, `answer` of what was suspended, `conclude` of what another agent did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, NotRequired, TypedDict

from pydantic_core import to_json

from toolgen.contract.json_value import Json
from toolgen.contract.portable import portable_text
from toolgen.runtime.call.batch import Batch
from toolgen.runtime.call.bounds import remember
from toolgen.runtime.call.dispatch import dispatch
from toolgen.runtime.call.ending import ended, escaped, unanswered, unknown
from toolgen.runtime.call.entry import Entry
from toolgen.runtime.call.failures import hidden
from toolgen.runtime.call.finishing import finish
from toolgen.runtime.call.frame import Frame
from toolgen.runtime.call.host import Host
from toolgen.runtime.call.releasing import released
from toolgen.runtime.engine import ActivityInfo, UnknownRunError
from toolgen.runtime.errors import MalformedResultError, ToolError, ToolValidationError
from toolgen.runtime.events.call_events import CallEvents
from toolgen.runtime.events.told import EventReports
from toolgen.runtime.results import RetryHint, RunLink, ToolResult
from toolgen.runtime.specs import ToolSpec
from toolgen.runtime.toolsets.directory import Directory
from toolgen.runtime.waiting.frozen import FrozenCall
from toolgen.runtime.waiting.resuming import resumed
from toolgen.runtime.waiting.waits import Waits, next_wait, ticket_of

from ..host import AgentHost
from ..loop.calls import refused_call
from ..loop.documents import Done, RunDocument, RunFacts, StepCall
from ..output import telemetry_of
from ..planner.messages import ToolMessage, messages_from_json
from ..run_artifacts import documents_so_far
from .batches import Batches
from .recorded import recorded

_TOO_MANY: Final = "too many calls of this run wait for an answer already"


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
    given: Any


class ConcludeArgument(TypedDict):
    """The argument of `conclude`."""

    facts: RunFacts
    call: StepCall
    agent: str
    output: RunDocument
    began: NotRequired[float]
    """When the other run did, in seconds since 1970."""


class Calling:
    """Executes the calls of the runs of one host, by the dispatcher that serves every other call."""

    def __init__(self, host: AgentHost) -> None:
        self._host = host
        self._batches = Batches()

    async def tool(self, info: ActivityInfo, argument: CallArgument) -> Done:
        """Return the result of a call, which the conversation has then."""
        return await self._kept(info, argument["facts"], await self._tool(info, argument))

    async def answer(self, info: ActivityInfo, argument: AnswerArgument) -> Done:
        """Return the result of a suspended call after its answer; the conversation has it then."""
        return await self._kept(info, argument["facts"], await self._answer(info, argument))

    async def conclude(self, info: ActivityInfo, argument: ConcludeArgument) -> Done:
        """Return the result of a call that another agent's run answered; the conversation has it then."""
        return await self._kept(info, argument["facts"], await self._conclude(info, argument))

    async def _kept(self, info: ActivityInfo, facts: RunFacts, done: Done) -> Done:
        if facts["in_conversation"] and done["status"] != "suspended":
            (message,) = messages_from_json([{"type": "tools", "answers": [done["answer"]]}])
            if isinstance(message, ToolMessage):
                await self._host.conversations.answer(info.run_id, message.answers[0])
        return done

    async def _tool(self, info: ActivityInfo, argument: CallArgument) -> Done:
        facts, call = argument["facts"], argument["call"]
        meta = self._host.meta(info.run_id, facts, call["id"])
        events, host = self._around(info, argument)
        directory = await self._directory(info.run_id, facts)
        entry = self._entry(directory, call, facts)
        if entry is None:
            return self._recorded(unknown(directory, call["name"], meta, host), call, events)
        values = self._host.values_of(info.run_id)
        place = argument["place"]
        with self._batches.enter(f"{info.run_id} {argument['step']}", place, host, values) as batch:
            frame = Frame(entry, call["arguments"], meta, batch.batch, host)
            frame.keep_beginning(events.begun)
            frame.context.place = place

            async def work() -> Any:
                return await host.execution.in_place(dispatch(frame))

            result: ToolResult
            try:
                result = await released(work())
            except Exception as error:
                result = escaped(frame, error)
            result = await batch.result(frame.context, result)
        is_asked = result.status == "suspended" and result.frozen is not None
        if is_asked and not await self._host.may_wait(info.run_id, f"wait:{call['id']}:1"):
            return refused_call(call, _TOO_MANY, status="denied")
        return self._done(result, call, entry, facts, info.run_id, events)

    async def _answer(self, info: ActivityInfo, argument: AnswerArgument) -> Done:
        facts, call = argument["facts"], argument["call"]
        frozen, given = FrozenCall.from_json(argument["frozen"]), argument["given"]
        self._host.meta(info.run_id, facts, call["id"])
        events, host = self._around(info, argument)
        entry = await self._waiting_entry(info.run_id, facts, frozen)
        batch = Batch(host.capabilities, self._host.values_of(info.run_id))
        ticket = ticket_of(info.run_id, argument["op"], frozen)
        waits = host.waits
        assert waits is not None, "nothing waits without"
        result = await resumed(host, entry, frozen, ticket, given, batch, events.begun)
        waits.arrived(frozen.id, _outside(result, info.run_id, argument["op"], call, waits))
        if entry is None:
            return self._recorded(result, call, events)
        return self._done(result, call, entry, facts, info.run_id, events)

    async def _waiting_entry(self, run_id: str, facts: RunFacts, frozen: FrozenCall) -> Entry | None:
        """Return the tool of a call that waited, as it is now."""
        found = await self._host.listed(frozen, run_id)
        return None if found is None else self._host.within_time(found, facts["policy"]["tool_timeout"])

    async def _conclude(self, info: ActivityInfo, argument: ConcludeArgument) -> Done:
        facts, call = argument["facts"], argument["call"]
        meta = self._host.meta(info.run_id, facts, call["id"])
        events, host = self._around(info, argument)
        directory = await self._directory(info.run_id, facts)
        entry = self._entry(directory, call, facts)
        if entry is None:
            return self._recorded(unknown(directory, call["name"], meta, host), call, events)
        output, now = argument["output"], self._host.clock()
        took = max(0.0, now - argument.get("began", now) - output["waited_s"])
        link = _link(info.run_id, call, argument["agent"])
        batch = Batch(host.capabilities, self._host.values_of(info.run_id))
        frame = Frame(entry, call["arguments"], meta, batch, host)
        result = await concluded(frame, output, link, duration_s=took)
        done = self._done(result, call, entry, facts, info.run_id, events)
        done["usage"] = argument["output"]["usage"]
        done["pending"] = argument["output"]["pending"]
        below = output["artifacts"] if output["failure"] is None else await self._below(link.run_id, output)
        done["artifacts"] = [*below, *done.get("artifacts", [])]
        return done

    async def _below(self, run_id: str, output: RunDocument) -> list[Json]:
        """Return the artifacts of a run that failed; one that the engine ended has returned none."""
        engine = self._host.engine
        try:
            status = await engine.status(run_id)
        except UnknownRunError:  # it could not begin
            return output["artifacts"]
        return output["artifacts"] if status.state == "completed" else await documents_so_far(engine, status)

    def _done(
        self,
        result: ToolResult,
        call: StepCall,
        entry: Entry,
        facts: RunFacts,
        run_id: str,
        events: CallEvents,
    ) -> Done:
        """Return what the loop gets, with what the tool wants of its agent."""
        host = self._host
        if result.delegated is not None and facts["depth"] + 1 >= host.most_depth:
            message = f"{call['name']} was not run: agents call one another too deeply"
            meta = host.meta(run_id, facts, call["id"])
            result = unanswered(entry.spec, ToolError(message), meta, self._telling(events))
        done = self._recorded(result, call, events, entry.spec)
        if result.delegated is not None:
            done["child"] = host.child(result.delegated, call, run_id, facts)
        actions = result.actions if result.status in ("ok", "pending") else None
        if actions is not None and actions.transfer_to:
            target = portable_text(str(actions.transfer_to))  # an executor may say anything
            if target in host.transfers(host.agent(facts["agent"]), facts):
                done["transfer"] = host.taking_over(target, "", run_id, facts)
            else:
                done["problem"] = f"the conversation cannot go to {target}"
        if actions is not None and actions.is_escalated:
            done["is_escalated"] = True
        if not host.is_interactive:
            done["is_unattended"] = True
        return done

    def _around(
        self, info: ActivityInfo, argument: CallArgument | AnswerArgument | ConcludeArgument
    ) -> tuple[CallEvents, Host]:
        events = CallEvents(info, self._host.clock)
        given = {"facts": argument["facts"], "call": argument["call"]}
        return events, replace(self._telling(events), beside=lambda: len(to_json(given)))

    def _telling(self, events: CallEvents) -> Host:
        """Return what the dispatcher has for a call, of which it tells these events."""
        tools = self._host.tools
        return replace(tools, reports=EventReports(events, tools.limits.result_bytes))

    def _recorded(
        self,
        result: ToolResult,
        call: StepCall,
        events: CallEvents,
        spec: ToolSpec[Any, Any] | None = None,
    ) -> Done:
        """Return what the loop gets of a result; of a tool that is not there without a spec."""
        return recorded(result, call, spec, events, self._host.tools.limits.result_bytes)

    async def _directory(self, run_id: str, facts: RunFacts) -> Directory:
        """Return the tools that were advertised to the run last."""
        return (await self._host.advertised(run_id, facts)).directory

    def _entry(self, directory: Directory, call: StepCall, facts: RunFacts) -> Entry | None:
        entry = directory.find(call["name"])
        return None if entry is None else self._host.within_time(entry, facts["policy"]["tool_timeout"])


async def concluded(
    frame: Frame, output: RunDocument, link: RunLink, *, duration_s: float = 0.0
) -> ToolResult:
    """Return the result of a call that the run of an agent answered; hooks see it as every other."""
    spec, host = frame.spec, frame.host
    failure = output["failure"]
    if failure is not None:
        cause = _chain([failure["message"], *failure["causes"]])
        result = frame.failed(_agent_error(spec.name, failure["kind"], cause, spec.id))
    else:
        try:
            value = spec.result.decode(to_json(output["result"]), host.limits)
            result = finish(spec, value, frame.meta)
        except (ToolValidationError, MalformedResultError) as error:
            if output["stop"] == "escalated":  # what a tool said on the way is no answer
                told = ToolError(f"{output['agent']} gave the call back. {output['text']}".strip())
            else:
                told = hidden(spec, error, "malformed_response")
            result = frame.failed(told)
    usage: Sequence[Any] = output["usage"]
    result = replace(
        result,
        run_link=link,
        children_count=1 + output["children"],
        telemetry=replace(telemetry_of(usage), duration_s=duration_s),
    )
    if host.policy is not None:
        remember(result, frame.context.values)
    (seen,) = await frame.batch.settle((await ended(frame, result),), host.reports)
    return replace(seen, run_link=link, children_count=result.children_count, telemetry=result.telemetry)


def _link(run_id: str, call: StepCall, agent: str) -> RunLink:
    """Return the run that answers a call of a run."""
    return RunLink(
        run_id=f"{run_id}/child:{call['id']}",
        agent=agent,
        parent_run_id=run_id,
        parent_tool_call_id=call["id"],
    )


def _outside(result: ToolResult, run_id: str, op: str, call: StepCall, waits: Waits) -> ToolResult:
    """Return what whoever answered gets: of a call that an agent answers now the run, of one that waits
    again its token."""
    if result.delegated is not None:
        return replace(result, delegated=None, run_link=_link(run_id, call, result.delegated.agent))
    if result.frozen is not None:
        again = waits.shown(run_id, next_wait(op), result.frozen)
        return replace(result, frozen=None, suspension=again)
    return result


def _chain(messages: Sequence[str]) -> ToolError:
    """Return the first as an error, each of the others as the cause of the one before."""
    first, *rest = messages
    return ToolError(first, cause=_chain(rest) if rest else None)


def _agent_error(name: str, kind: str, cause: ToolError, tool: str) -> ToolError:
    """Return the error of a call whose agent failed; what went wrong there is its cause."""
    message = f"{name} failed: {cause.message}"
    reason: Any = {"malformed_response": "malformed_response", "timeout": "timeout"}.get(kind)
    hint = RetryHint(reason=reason, tool=tool, message=message) if reason else None
    return ToolError(message, cause=cause, retry_hint=hint)
