"""One call within the loop: executed, answered by a person, or answered by the run of another agent."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from typing import Any, assert_never, cast

from toolgen.calls.documents.results import failure_document
from toolgen.contract.json_value import Json
from toolgen.engines.context import RunContext
from toolgen.engines.errors import ActivityFailed, PayloadTooLargeError
from toolgen.events.document import as_json, tool_end
from toolgen.events.records import EXPIRED, AgentRunStarted
from toolgen.waiting.loop import LOOP as WAITING_CALL
from toolgen.waiting.loop import (
    UNKNOWN,
    VERSION,
    WORK,
    NoRecord,
    answer_to,
    attempt,
    finish,
    is_work,
    left_work,
    with_answered_id,
)

from .documents import (
    LOOP,
    CallRecord,
    ChildRun,
    Failure,
    KeepArgument,
    PendingWorkDocument,
    RunDocument,
    RunFacts,
    RunInput,
    StepCall,
    StopReason,
    as_plain_json,
    tool_answer,
)
from .events import RunEvents
from .limits import LimitCounter


class LoopCalls:
    """Executes the calls of one run."""

    def __init__(self, ctx: RunContext, facts: RunFacts, progress: LimitCounter, events: RunEvents) -> None:
        self._ctx = ctx
        self._facts = facts
        self._progress = progress
        self._events = events
        self._sequential: dict[str, AbstractAsyncContextManager[None]] = {}
        """Locks by sequential key; each admits one call at a time."""
        self.time_left: float | None = None
        """Seconds left of the run's budget when its newest step began; the limit for child runs."""
        self.shares: Mapping[str, int] = {}
        """Shares of the remaining calls of the run, as `BatchAdmission.shares` of its newest batch."""

    async def result(self, call: StepCall, step: int, place: int, refusal: str | None) -> CallRecord:
        """Return the final result of a call, after its waits and child runs."""
        start = {**call["start"], **self._events.ids(call["id"]), "time": self._ctx.now()}
        await self._ctx.publish(f"{call['id']}:start", start)
        if refusal:
            done = await self._stored(call, refused_call(call, refusal))
            await self._publish_events(call, done, "end")
            return done
        argument = {"facts": self._facts, "call": call, "step": step, "place": place}
        async with self._turn(call):
            done = await self._activity(f"tool:{call['id']}", "tool", argument, call)
        ended = await finish(done, _AgentCallSteps(self, call))
        done = ended.record
        if done["status"] == "pending" and (frozen := done.get("frozen")):
            work = await self._detached(call, frozen)
            done["pending"] = [*done.get("pending", []), work]
        await self._publish_events(call, done, "end", ended.answered)
        return done

    def _turn(self, call: StepCall) -> AbstractAsyncContextManager[None]:
        """Return the lock to hold while a call is executed; sequential calls of a batch run one by one."""
        if not call["is_sequential"]:
            return nullcontext()
        return self._sequential.setdefault(call.get("sequential_key", ""), self._ctx.one_by_one())

    async def _detached(self, call: StepCall, frozen: dict[str, Any]) -> PendingWorkDocument:
        """Start a detached run for pending work of a call, and return the position of the wait."""
        document: Any = {"frozen": frozen, "version": VERSION, "facts": self._facts}
        run_id = await self._ctx.detach(f"{WORK}{call['id']}", WAITING_CALL, document)
        return {"run_id": run_id, "op": "wait:1", "frozen": frozen}

    async def _activity(
        self, op: str, activity: str, argument: Any, call: StepCall, *, is_timed: bool = True
    ) -> CallRecord:
        """Return the result of a tool; a failure of the engine becomes the failure of the call.

        If `is_timed` is false, the activity only records an existing result and can run after the run's time
        is over.
        """
        time_left = self._progress.time_left(self._ctx.now()) if is_timed else None
        done = await attempt(self._ctx, op, activity, argument, time_left)
        if not isinstance(done, NoRecord):
            return done  # type: ignore[no-any-return]  # the activity returns it
        match done.why:
            case "timeout":
                return refused_call(call, _late(call), "timeout")
            case "unknown":
                return await self._stored(call, unknown_call(call))
            case "failed":
                return refused_call(call, f"{call['name']} gave no result: {done.message}")
            case "too_large":
                return await self._stored(
                    call, refused_call(call, f"{call['name']} was not run: {done.message}")
                )
            case _:
                assert_never(done.why)

    async def _answered(self, call: StepCall, frozen: dict[str, Any], number: int) -> CallRecord:
        """Wait for the answer to a suspended call and return its record."""
        began = self._ctx.now()
        await self._events.phase("waiting", frozen["id"])
        op = f"wait:{call['id']}:{number}"
        signal = await answer_to(self._ctx, op, frozen)
        self._progress.add_wait(began, self._ctx.now())
        if signal is None:
            return await self._expired(call, frozen)
        argument = {"facts": self._facts, "call": call, "op": op, "frozen": frozen, "answer": signal.payload}
        return await self._activity(f"answer:{call['id']}:{number}", "answer", argument, call)

    async def _expired(self, call: StepCall, frozen: dict[str, Json]) -> CallRecord:
        """Return the result of a call whose waiting time is over."""
        if is_work({"frozen": frozen}):
            facts: dict[str, Json] = {"unknown": left_work(EXPIRED)}
            return await self._stored(call, unknown_call(call, facts))
        why = EXPIRED
        has_begun = frozen["kind"] != "confirmation" or frozen.get("is_asked_by_tool")
        if not has_begun:
            why = f"{call['name']} was not run: {why}"
        return await self._stored(call, refused_call(call, why, status="denied"))

    async def _stored(self, call: StepCall, done: CallRecord) -> CallRecord:
        """Return the result of a call that was not executed, after the conversation has stored it.

        If the run is canceled before the batch is over, the planning that would write it never happens.
        """
        if self._facts["in_conversation"]:
            argument: KeepArgument = {"answer": tool_answer(call, done)}
            with suppress(ActivityFailed, PayloadTooLargeError):  # the next planning writes it
                await self._ctx.start(f"store:{call['id']}", "store", as_plain_json(argument))
        return done

    async def _child(self, call: StepCall, child: ChildRun) -> CallRecord:
        """Return the result of a call that another agent answers, in a run of its own."""
        began = self._ctx.now()
        child_input = child["input"]
        if self.shares:
            child_input = _with_cap(child_input, self.shares.get(call["id"], self.shares[""]))
        output = await self.run_child(f"child:{call['id']}", child["agent"], child_input, call)
        self._progress.tool_calls += output["tool_calls"]
        argument = {
            "facts": self._facts,
            "call": call,
            "agent": child["agent"],
            "output": output,
            "started_at": began,
        }
        return await self._activity(f"conclude:{call['id']}", "conclude", argument, call, is_timed=False)

    async def run_child(
        self, op: str, agent: str, run_input: RunInput, call: StepCall | None = None
    ) -> RunDocument:
        """Return the output of another agent's run; a run that did not begin or end is a failure."""
        event = AgentRunStarted(
            tool=call["tool"] if call else "", agent=agent, child_run_id=f"{self._ctx.run_id}/{op}"
        )
        await self._events.publish(f"started:{op}", event, call["id"] if call else "")
        began = self._ctx.now()
        try:
            output: Any = await self._ctx.child(
                op, LOOP, as_plain_json(_with_budget(run_input, self.time_left))
            )
        except ActivityFailed as error:
            why = error.message or f"the run was {error.kind}"
            failure: Failure = {"kind": error.kind, "message": why, "causes": []}
            return empty_document(agent, "failed", failure)
        self._progress.add_wait(began, began + output["waited_s"])
        return output  # type: ignore[no-any-return]  # the loop returns it

    async def _publish_events(
        self, call: StepCall, done: CallRecord, part: int | str, answered: str = ""
    ) -> None:
        """Publish the events of a call; `answered` is the ID of the question that it waited for."""
        for number, event in enumerate(done["events"]):
            time = event["time"] or self._ctx.now()
            forwarded = {**with_answered_id(event, answered), **self._events.ids(call["id"]), "time": time}
            await self._ctx.publish(f"{call['id']}:{part}:{number}", forwarded)


class _AgentCallSteps:
    """The steps of one call of a run, under the ID of the call."""

    keeps_work = False

    def __init__(self, calls: LoopCalls, call: StepCall) -> None:
        self._calls = calls
        self._call = call

    async def publish(self, record: CallRecord, number: int, answered: str) -> None:
        await self._calls._publish_events(self._call, record, number, answered)

    async def child(self, child: ChildRun, number: int) -> CallRecord:
        return await self._calls._child(self._call, child)

    async def answer(self, frozen: dict[str, Any], number: int) -> CallRecord:
        return await self._calls._answered(self._call, frozen, number)


def _with_cap(run_input: RunInput, calls: int) -> RunInput:
    """Return the input of a child run that can make at most `calls` calls."""
    policy = run_input["facts"]["policy"]
    if (cap := policy["max_tool_calls"]) is not None and cap <= calls:
        return run_input
    facts: RunFacts = {**run_input["facts"], "policy": {**policy, "max_tool_calls": calls}}
    return {**run_input, "facts": facts}


def _with_budget(run_input: RunInput, time_left: float | None) -> RunInput:
    """Return the input of a child run with its time budget limited to the parent's remaining time."""
    policy = run_input["facts"]["policy"]
    if time_left is None or (policy["time_budget"] is not None and policy["time_budget"] <= time_left):
        return run_input
    facts: RunFacts = {**run_input["facts"], "policy": {**policy, "time_budget": time_left}}
    return {**run_input, "facts": facts}


def empty_document(agent: str, stop: StopReason, failure: Failure | None = None) -> RunDocument:
    return {
        "agent": agent,
        "text": "",
        "result": None,
        "stop": stop,
        "failure": failure,
        "usage": [],
        "tool_calls": 0,
        "children": 0,
        "artifacts": [],
        "pending": [],
        "waited_s": 0.0,
    }


def refused_call(
    call: StepCall, why: str, reason: str = "tool_unavailable", *, status: Any = "error"
) -> CallRecord:
    """Return the result of a call that was not executed, or did not end."""
    retry = {"reason": reason, "message": why}
    return _without_executor(call, status, {"error": why}, retry=retry)


def _late(call: StepCall) -> str:
    """Return the error text of a call that ran out of the run's time and can be repeated.

    A call that runs once and had begun has an unknown outcome instead.
    """
    if call["start"].get("runs_once"):
        return f"{call['name']} was not run: the time of the run was over"
    return f"{call['name']} did not end within the time of the run"


def unknown_call(call: StepCall, outcome: dict[str, Json] = UNKNOWN) -> CallRecord:
    """Return the record of a call with an unknown outcome: its process or its time ended while it ran."""
    return _without_executor(call, "unknown", outcome)


def _without_executor(call: StepCall, status: Any, seen: dict[str, Json], **error: Any) -> CallRecord:
    """Return the record of a call without a result from its executor; the model reads `seen`."""
    document = failure_document(call["tool"], call["id"], status, seen, **error)
    return cast(CallRecord, {**document, "events": [as_json(tool_end(document))]})
