"""The loop of a run: plan, admit, execute, resume, until there is an answer or a limit is reached.

It is deterministic: its behavior depends only on its input and on the results of its `RunContext`. It imports
no clock, no randomness and no I/O, and reads no registry, so that an engine can replay it from a journal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from toolgen.calls.documents.results import result_text
from toolgen.contract.json_value import Json
from toolgen.contract.logs import logger
from toolgen.engines.context import CallOptions, RunContext
from toolgen.engines.errors import ActivityFailed, require_version
from toolgen.events.records import (
    AssistantReply,
    RunCompleted,
)

from .calls import LoopCalls, empty_document
from .documents import (
    LOOP,
    LOOP_VERSION,
    TRANSFER,
    AwaitStep,
    CallRecord,
    CallsStep,
    FinalStep,
    PendingWorkDocument,
    PlanArgument,
    RunDocument,
    RunInput,
    Step,
    StepCall,
    StopReason,
    as_plain_json,
    tool_answer,
)
from .events import RunEvents, copy_end, reply_of, run_started
from .limits import LimitCounter, admit
from .planning import STORE_FAILED, Plannings
from .questions import ask

_MOST_STEPS: Final = 1_000
"""Maximum number of plannings in one run, if its policy sets no limit; fewer if the engine lacks room."""
_REMEMBER_S: Final = 300.0
"""Seconds for an attempt to store the conversation in the memory of the host."""
_MOST_PROBLEMS: Final = 1
"""Maximum number of consecutive plannings with a rejected plan."""

log = logger("toolgen.agents")


async def agent_loop(ctx: RunContext, run_input: RunInput, *, most_steps: int = _MOST_STEPS) -> RunDocument:
    """Return how the run ended. A failure of its planner or a limit is data in the result; see `failure`.

    Raises:
        NondeterminismError: another version of the loop began the run.
    """
    require_version(ctx.run_id, LOOP, run_input["facts"].get("version"), LOOP_VERSION)
    return await _Run(ctx, run_input, most_steps).go()


class _Run:
    """One execution of the loop."""

    def __init__(self, ctx: RunContext, run_input: RunInput, most_steps: int) -> None:
        self._ctx = ctx
        self._most_steps = most_steps
        self._facts = run_input["facts"]
        self._policy = run_input["facts"]["policy"]
        self._began = ctx.now()
        self._progress = LimitCounter(now=self._began, policy=self._policy)
        self._events = RunEvents(ctx, self._facts)
        self._calls = LoopCalls(ctx, self._facts, self._progress, self._events)
        self._plannings = Plannings(ctx, self._facts, self._progress, self._events)
        first: dict[str, Json] = {
            "type": "user",
            "text": run_input["message"],
            "source": run_input["source"],
        }
        if content := run_input.get("content"):
            first["content"] = content
        self._new: list[Json] = [first]
        self._hints: list[Json] = []
        self._restrict = self._facts["restrict_to_tool"]
        self._is_back = False
        """Whether another run had the conversation since the newest planning."""
        self._message_ids: list[str] = []
        """IDs of the client messages among the new messages."""
        self._step = 0
        self._problems = 0
        self._usage = self._plannings.usage
        self._artifacts: list[Json] = []
        self._pending: list[PendingWorkDocument] = []
        self._children = 0
        self._causes: list[str] = []
        """Message of the newest failed call, followed by its causes."""

    async def go(self) -> RunDocument:
        await self._events.publish("run_started", run_started(self._facts))
        while self._step < self._most_steps and self._ctx.has_room:
            if reason := self._progress.exhausted(self._ctx.now()):
                return await self._close(reason)
            await self._take_interrupts()
            await self._events.phase("planning", self._step)
            try:
                step = await self._plan()
            except ActivityFailed as error:
                is_over = error.kind == "timeout" and self._progress.exhausted(self._ctx.now())
                if is_over or error.kind == "LatePlanError":
                    return await self._close("time_budget")
                if error.kind == STORE_FAILED:
                    return await self._failed("store", error.message)
                return await self._failed("planner", f"the planner failed: {error.message}")
            if (ended := await self._handle(step)) is not None:
                return ended
        return await self._close("step_cap")

    async def _handle(self, step: Step) -> RunDocument | None:
        """Return the end of the run if this step ends it; None if the run continues."""
        if step["kind"] == "problem":
            if self._problems == _MOST_PROBLEMS:
                kind = "malformed_response" if step["is_malformed"] else "planner"
                return await self._failed(kind, step["problem"])
            self._problems += 1
            self._add_runtime_message(step["problem"])
            return None
        self._problems = 0
        if step["kind"] == "final":
            return await self._final(step, "final")
        if step["kind"] == "calls":
            return await self._act(step)
        if step["kind"] == "transfer":
            return await self._hand_over(step["agent"], step["input"], f"{TRANSFER}{self._step}")
        await self._await(step)
        return None

    # Planning.

    async def _plan(self, closing: str = "") -> Step:
        argument: PlanArgument = {
            "facts": self._facts,
            "step": self._step,
            "new": self._new,
            "hints": self._hints,
            "closing": closing,
            "restrict_to_tool": self._restrict,
        }
        op = f"plan:{self._step}"
        if self._is_back:
            argument["is_back"] = True
        if self._message_ids:
            argument["message_ids"] = self._message_ids
        self._step += 1
        self._new, self._message_ids, self._hints, self._is_back = [], [], [], False
        step = await self._plannings.step(argument)
        if step["kind"] == "calls" and step["text"]:
            await self._events.publish(f"said:{op}", reply_of(step))
        return step

    async def _close(self, reason: StopReason) -> RunDocument:
        """Return the end of a run at a limit: its planner returns a final answer without tools."""
        await self._events.phase("synthesizing", self._step)
        try:
            step = await self._plan(closing=reason)
        except ActivityFailed as error:
            return await self._failed("limit", f"the run ended by its {reason}: {error.message}", reason)
        if step["kind"] == "final":
            return await self._final(step, reason)
        message = f"the run ended by its {reason}, and its planner gave no final answer"
        return await self._failed("limit", message, reason)

    def _add_runtime_message(self, text: str) -> None:
        """Add a text of the runtime to the planner's next input."""
        self._new.append({"type": "user", "text": text, "source": "runtime"})

    # Tools.

    async def _act(self, step: CallsStep) -> RunDocument | None:
        calls = step["calls"]
        admission = admit(calls, self._facts, self._progress.tool_calls, self._restrict)
        self._restrict = self._facts["restrict_to_tool"]
        self._progress.tool_calls += admission.counted
        self._calls.time_left = self._progress.time_left(self._ctx.now())
        self._calls.shares = admission.shares
        await self._events.phase("executing_tools", self._step)
        running = [
            self._calls.result(call, self._step, place, admission.refused.get(call["id"]))
            for place, call in enumerate(calls)
        ]
        results: Any = await self._ctx.gather(*running)  # type: ignore[arg-type]  # a `CallRecord` is JSON
        self._keep_results(calls, results)
        if admission.is_over_cap:
            return await self._close("tool_cap")
        return await self._end_after_batch(results)

    def _keep_results(self, calls: Sequence[StepCall], results: list[CallRecord]) -> None:
        """Record the results of a batch: answers in call order for the planner, usage for the run."""
        answers: list[Json] = [tool_answer(call, done) for call, done in zip(calls, results, strict=True)]
        self._new.append({"type": "tools", "answers": answers})
        self._hints = [hint for done in results if (hint := _hint(done)) is not None]
        self._progress.count_batch([done["status"] for done in results])
        errors = [done["error"] for done in results if "error" in done]
        self._causes = [errors[0]["message"], *errors[0].get("causes", [])] if errors else []
        for done in results:
            self._artifacts += done.get("run_artifacts", [])
            self._usage += done.get("usage", [])
            self._children += done["run_link"]["children_count"] if "run_link" in done else 0
            self._pending += done.get("pending", [])
            if problem := done.get("problem"):
                self._add_runtime_message(problem)

    async def _end_after_batch(self, results: list[CallRecord]) -> RunDocument | None:
        """Return the end of the run if this batch ends it; None if its planner plans again."""
        for done in results:
            if transfer := done.get("transfer"):
                op = f"{TRANSFER}{done['tool_call_id']}"
                return await self._hand_over(transfer["agent"], transfer["input"], op)
        if escalated := [done for done in results if done.get("is_escalated")]:
            return await self._escalate(escalated)
        if final := [done for done in results if done.get("is_final")]:
            return await self._end_with(final, "terminal_tool")
        missing = [done for done in results if _retry_of(done).get("reason") == "missing_fields"]
        if missing and self._policy["on_missing_fields"] == "finalize":
            return await self._close("missing_fields")
        asks = self._policy["on_missing_fields"] == "await_clarification"
        if missing and asks and not missing[0].get("is_unattended"):
            await self._ask_for_missing(_retry_of(missing[0]))
        return None

    async def _ask_for_missing(self, retry: Mapping[str, Any]) -> None:
        """Ask the person for the fields that the model left out."""
        await self._await(
            {
                "kind": "await",
                "await_kind": "clarification",
                "question": retry.get("question") or retry.get("message") or "",
                "schema": None,
                "missing_fields": retry.get("missing_fields", []),
                "restrict_to_tool": "",
                "usage": [],
            }
        )

    # People and other agents.

    async def _await(self, step: AwaitStep) -> None:
        """Wait until a person has answered the planner's question."""
        text = await ask(self._ctx, step, f"await-{self._step}", self._progress, self._events)
        self._new.append({"type": "user", "text": text, "source": "person"})
        self._restrict = self._facts["restrict_to_tool"] or step["restrict_to_tool"]

    async def _take_interrupts(self) -> None:
        """Handle the interrupts of clients since the last step, and wait while the run is paused."""
        if not self._policy["interrupts_allowed"]:
            return
        number, is_paused = 0, False
        while True:
            began = self._ctx.now()
            op = f"interrupt:{self._step}:{number}"
            if is_paused:
                await self._events.phase("waiting", op)
            about: Json = {"kind": "pause", "id": op, "question": ""} if is_paused else None
            signal = await self._ctx.wait(op, "interrupt", timeout_s=None if is_paused else 0, about=about)
            if signal is None:
                return
            number += 1
            self._progress.add_wait(began, self._ctx.now())
            match signal.payload:
                case {"kind": "message" | "pause" | "resume" as kind, "text": str(text), **more}:
                    is_paused = kind == "pause" or (is_paused and kind == "message")
                    self._add_client_message(text, str(more.get("id") or ""))
                case _:  # not sent by a runtime
                    log.warning("run %s drops a malformed interrupt", self._ctx.run_id)

    async def _hand_over(self, agent: str, run_input: RunInput, op: str) -> RunDocument | None:
        """Hand the conversation over and return the other agent's end; None if it is handed back."""
        await self._record()
        self._calls.time_left = self._progress.time_left(self._ctx.now())
        output = await self._calls.run_child(op, agent, run_input)
        self._children += 1 + output["children"]
        self._usage += output["usage"]
        self._artifacts += output["artifacts"]
        self._pending += output["pending"]
        if output["stop"] == "escalated":
            self._is_back = True
            self._add_runtime_message(f"{agent} gave the conversation back. {output['text']}".strip())
            return None
        if failure := output["failure"]:
            self._causes = [failure["message"], *failure["causes"]]
            return await self._failed(failure["kind"], f"{agent} failed: {failure['message']}")
        await self._remember()
        await self._events.publish("run_completed", RunCompleted(status="completed"))
        document = self._document("transferred")
        document["agent"], document["text"] = output["agent"], output["text"]
        document["result"] = output["result"]
        copy_end(output, document)
        return document

    # The end.

    async def _escalate(self, results: list[CallRecord]) -> RunDocument:
        """Return the end of a run that escalates; a turn that began with this run returns the conversation.

        A run that handed it over in this turn gets it back simply by continuing.
        """
        if self._facts["in_conversation"] and self._facts["parent"] is None:
            await self._ctx.start(
                f"restore_agent:{self._step}", "restore_agent", as_plain_json({"facts": self._facts})
            )
        return await self._end_with(results, "escalated")

    async def _end_with(self, results: list[CallRecord], stop: StopReason) -> RunDocument:
        """Return the end of a run with the results of terminal tools, without another planning."""
        await self._record()
        last = results[-1]
        text = last.get("display") or result_text(last)
        result = last.get("result") if last["status"] == "ok" else None
        return await self._complete(AssistantReply(text=text), result, stop)

    async def _record(self) -> None:
        """Store messages in the session that no planning will store."""
        if self._new:
            argument = {"facts": self._facts, "step": self._step, "new": self._new}
            if self._message_ids:
                argument["message_ids"] = self._message_ids
            await self._ctx.start(f"record:{self._step}", "record", as_plain_json(argument))
            self._new, self._message_ids = [], []

    def _add_client_message(self, text: str, id_: str) -> None:
        """Add a client's message to the planner's next input; a pause has no text."""
        if text:
            self._new.append({"type": "user", "text": text, "source": "person"})
            self._message_ids += [id_] if id_ else []

    async def _final(self, step: FinalStep, stop: StopReason) -> RunDocument:
        """Return the end of a run with its planner's final answer, which may be incomplete."""
        document = await self._complete(reply_of(step), step["result"], stop)
        copy_end(step, document)
        return document

    async def _complete(self, reply: AssistantReply, result: Json, stop: StopReason) -> RunDocument:
        if reply.text:
            await self._events.publish("reply", reply)
        await self._remember()
        await self._events.publish("run_completed", RunCompleted(status="completed"))
        document = self._document(stop)
        document["text"], document["result"] = reply.text, result
        return document

    async def _remember(self) -> None:
        """Store the conversation in the host's memory, if it has one; a failure does not affect the run."""
        if not self._plannings.has_memory or not self._facts["in_conversation"]:
            return
        try:
            argument = as_plain_json({"facts": self._facts})
            await self._ctx.start("remember", "remember", argument, CallOptions(timeout=_REMEMBER_S))
        except ActivityFailed as error:
            log.warning("run %s was not stored in the memory: %s", self._ctx.run_id, error.kind)

    async def _failed(self, kind: str, message: str, stop: StopReason = "failed") -> RunDocument:
        await self._events.publish("run_completed", RunCompleted(status="failed", error=message))
        document = self._document(stop)
        document["failure"] = {"kind": kind, "message": message, "causes": self._causes}
        return document

    def _document(self, stop: StopReason) -> RunDocument:
        document = empty_document(self._facts["agent"], stop)
        document["usage"] = self._usage
        document["tool_calls"] = self._progress.tool_calls
        document["children"] = self._children
        document["artifacts"] = self._artifacts
        document["pending"] = self._pending
        document["waited_s"] = self._progress.waited_s
        document["duration_s"] = self._ctx.now() - self._began
        return document


def _retry_of(done: CallRecord) -> Mapping[str, object]:
    return done["error"].get("retry", {}) if "error" in done else {}


def _hint(done: CallRecord) -> Json:
    """Return how a planner can repair a call, for `PlanArgument.hints`; None if nothing is known."""
    if "error" not in done or not _retry_of(done):
        return None
    error = {name: value for name, value in done["error"].items() if name != "issues"}
    return as_plain_json({**error, "tool": done["tool"]})
