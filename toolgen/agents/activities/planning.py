"""The activity `plan`: passes the conversation and the tools to the planner, and returns its plan."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any, Final

from pydantic_core import from_json, to_json

from toolgen.calls.answer_schema import checked_schema
from toolgen.calls.documents.results import hint_of
from toolgen.calls.errors import MalformedResultError, ToolValidationError
from toolgen.calls.results import RetryHint
from toolgen.calls.specs import NativeTool, ToolSpec
from toolgen.calls.steps.failures import log
from toolgen.calls.steps.hooks import Stop
from toolgen.calls.steps.registered_tool import RegisteredTool
from toolgen.calls.steps.result_encoding import bounds_of
from toolgen.calls.toolsets.snapshot import Snapshot
from toolgen.contract.boundary import Contained, name_of, run_or_abandon
from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import Json
from toolgen.contract.limits import truncate_text
from toolgen.contract.secrets import Secrets, hiding, scrubbed
from toolgen.contract.tasks import start_task
from toolgen.engines import ActivityInfo, NonRetryableError
from toolgen.stores import StoreError

from ..host import AgentHost
from ..loop.documents import CallsStep, MemoryStep, PlanArgument, RetryStep, RunFacts, Step
from ..loop.limits import is_allowed, is_unrestricted
from ..planner.messages import AssistantMessage, Message, messages_from_json
from ..planner.plan_faults import PlannerError, checked_plan, misused_record
from ..planner.planner import (
    Await,
    CallTools,
    FinalResponse,
    FinalResult,
    HandOver,
    PlanInput,
    Planner,
    PlanResult,
    assistant_message_of,
)
from ..planner.portable import portable_text
from ..planner.provider_facts import facts_document
from ..registered_agents import RegisteredAgent
from .attached_files import AttachedFiles
from .conversation import hides_calls, record_position
from .cut_results import CutResults
from .missing_tools import require_returned
from .model_hooks import ModelHooks
from .plan_secrets import note_messages, sensitive_tools
from .planned_calls import PlanEvents, PlannedCallIds, calls_step, portable_message, with_run_ids
from .remembering import Remembering

_MOST_CALLS: Final = 100
"""Maximum number of calls in one plan, unless the policy of the run allows more calls in total."""


class LatePlanError(NonRetryableError):
    """The planner returned no plan within the time limit of the run."""


class Planning:
    """Plans for the runs of one host."""

    def __init__(self, host: AgentHost) -> None:
        self._host = host
        self.memory = Remembering(host)
        self._cut = CutResults(host)
        self._files = AttachedFiles(host)
        self._hooks = ModelHooks(host.hooks, host.tools.stage_timeout)
        self._undoing: set[asyncio.Task[None]] = set()

    async def plan(self, info: ActivityInfo, argument: PlanArgument) -> Step | RetryStep:
        """Return the planner's plan and store its messages; after a failure, return the retry step.

        Raises:
            PlannerError: the planner refused, called `sys.exit`, or returned something else.
            NotRegisteredError: the agent is not registered, or the tool that its run answers.
            NonRetryableError: the time of the run is over.
        """
        with hiding(Secrets()):
            return await self._plan(info, argument)

    async def _plan(self, info: ActivityInfo, argument: PlanArgument) -> Step | RetryStep:
        attempt = argument.get("attempt", 1)
        events = self._events(info, argument)
        limit = asyncio.timeout(argument.get("time_left"))
        try:
            async with limit:
                return await self._planned(info, argument, events)
        except Exception as error:
            if limit.expired():
                raise LatePlanError("no answer within the time of the run") from error
            if isinstance(error, NonRetryableError):
                if (text := scrubbed(str(error))) != str(error):
                    raise PlannerError(text) from None
                raise
            if name_of(error) == "SystemExit":
                raise PlannerError(_log_failure(error, info, attempt)) from error
            return self._retry(error, info, attempt, events)

    def _retry(self, error: Exception, info: ActivityInfo, attempt: int, events: PlanEvents) -> RetryStep:
        """Return the retry step after a failed attempt.

        If a store failed, the next attempt reads the conversation from the store and writes to it before it
        calls the planner, so that no model is paid for while the store is unavailable.
        """
        step: RetryStep = {
            "kind": "retry",
            "reason": _log_failure(error, info, attempt),
            "retry": self._host.planner_retry.after(error, attempt),
            "usage": events.spent,
            "dropped": events.without,
        }
        if isinstance(error, StoreError):
            self._host.conversations.forget(info.run_id)
            step["is_store"] = True
        return step

    def _events(self, info: ActivityInfo, argument: PlanArgument) -> PlanEvents:
        host, facts = self._host, argument["facts"]
        ids = PlannedCallIds(info.run_id, argument["step"], is_alone=hides_calls(facts))
        limit, attempt = host.tools.limits.result_bytes, argument.get("attempt", 1)
        return PlanEvents(info, host.meta(info.run_id, facts), host.clock, ids, limit, attempt)

    async def _planned(self, info: ActivityInfo, argument: PlanArgument, events: PlanEvents) -> Step:
        host, facts = self._host, argument["facts"]
        agent = host.agent(facts["agent"])
        require_returned(host, info, facts)
        snapshot = await host.snapshot(agent, host.meta(info.run_id, facts), argument["step"])
        new = messages_from_json(argument["new"])
        events.dropped(snapshot)
        plan_input = PlanInput(
            agent=agent.spec.id,
            description=agent.spec.description,
            run_id=info.run_id,
            session_id=facts["session_id"],
            turn_id=facts["turn_id"],
            labels=facts["labels"],
            step=argument["step"],
            messages=(),
            tools=_advertised(snapshot, argument),
            native=_native(snapshot, argument),
            agent_instructions=await host.instructions(agent, info.run_id, facts),
            instructions=snapshot.instructions,
            retry_hints=_hints(argument["hints"]),
            restrict_to_tool=argument["restrict_to_tool"],
            transfers=host.transfers(agent, facts),
            result_schema=_result_schema(host, facts),
            closing=argument["closing"],
            reports=events,
            chats=host.chats(facts),
        )
        is_again, is_back = argument.get("attempt", 1) > 1, argument.get("is_back", False)
        conversation = await host.conversations.of(
            agent, facts, plan_input, host.clock(), is_again=is_again, is_back=is_back
        )
        place, new = record_position(argument["step"]), conversation.missing_messages(new)
        if is_again or not conversation.is_kept:  # write first: no message is lost, the store works
            await host.sessions.write(info.run_id, place, new, message_ids=argument.get("message_ids", ()))
        events.ids.reserve(conversation.call_ids)
        messages, remembered = await self.memory.preload(info.run_id, facts, conversation.messages)
        plan_input, reader = self._cut.cut(plan_input, messages, snapshot.directory, argument)
        plan_input, loader = await self._files.attach(plan_input, snapshot.directory, argument)
        note_messages(messages, sensitive_tools(snapshot).by_name, host.returned_by(facts))
        result = await run_or_abandon(self._ask_planner(agent, plan_input))
        step = await self._step(result, plan_input, snapshot, (reader, loader), facts, events.ids)
        _add_reports(step, result, events, remembered)
        portable = await portable_message(assistant_message_of(with_run_ids(result, step)))
        await self._keep(info.run_id, place, new, portable)
        conversation.say(portable)
        return step

    async def _keep(self, run_id: str, place: int, new: Sequence[Message], message: AssistantMessage) -> None:
        """Store all messages of a planning or none; on cancellation, remove the planner's message again."""
        sessions = self._host.sessions
        try:
            await sessions.write(run_id, place, [*new, message])
        except asyncio.CancelledError:
            start_task(self._undoing, sessions.write(run_id, place, new), name=f"undo {run_id}")
            raise

    async def _ask_planner(self, agent: RegisteredAgent, plan_input: PlanInput) -> PlanResult:
        """Return the planner's plan, or the plan that a hook returns instead.

        Raises:
            PlannerError: a hook or the planner refused.
        """
        hooks = self._hooks
        outcome = await hooks.begin(plan_input) or await hooks.before(plan_input)
        if isinstance(outcome, Stop):
            return outcome.result
        try:
            planner = _ready_planner(agent)
            plan = planner.plan_start if outcome.step == 0 else planner.plan_resume
            with Contained():
                result = checked_plan(await plan(outcome), _planner_name(agent))
        except Exception as error:  # noqa: BLE001 - author code; the hooks decide, and raise it otherwise
            misuse = misused_record(error, _planner_name(agent))
            return await hooks.run_on_error(outcome, misuse or error)
        return await hooks.after(outcome, result)

    async def _step(
        self,
        result: PlanResult,
        plan_input: PlanInput,
        snapshot: Snapshot,
        offered: Sequence[RegisteredTool | None],
        facts: RunFacts,
        ids: PlannedCallIds,
    ) -> Step:
        if plan_input.closing and not isinstance(result, FinalResponse | FinalResult):
            return _problem("the run ends now; give the final answer")
        match result:
            case CallTools():
                if not result.calls:
                    return _problem("the answer has no calls; call a tool or give the final answer")
                most = max(_MOST_CALLS, facts["policy"]["max_tool_calls"] or 0)
                if (count := len(result.calls)) > most:
                    return _problem(f"none of {count} calls was run; make at most {most} in one message")
                limit = self._host.tools.limits.result_bytes
                step = await calls_step(result, snapshot, offered, facts, ids, limit)
                return self._with_designed(step, facts) if self._host.is_shared else step
            case FinalResponse():
                return self._final_text_step(result, plan_input, facts)
            case FinalResult():
                return self._final(result.text, result, plan_input, facts)
            case Await():
                return self._await(result, plan_input.run_id)
            case HandOver():
                return self._hand_over(result, plan_input, facts)

    def _with_designed(self, step: CallsStep, facts: RunFacts) -> CallsStep:
        """Return a step in which calls of the agent's designed tools are marked as designed."""
        designed = self._host.agent(facts["agent"]).static.directory
        for call in step["calls"]:
            if call["tool"] in designed.by_id:
                call["is_designed"] = True
        return step

    def _final_text_step(self, result: FinalResponse, plan_input: PlanInput, facts: RunFacts) -> Step:
        if result.is_truncated and self._host.returned_by(facts) is not None:
            why = "the final result was cut off at the limit of the answer; make it shorter"
            return _problem(why, is_malformed=True)
        step = self._final(result.text, None, plan_input, facts)
        if result.is_truncated and step["kind"] == "final":
            step["is_truncated"] = True
        return step

    def _final(self, text: str, typed: FinalResult | None, plan_input: PlanInput, facts: RunFacts) -> Step:
        spec = self._host.returned_by(facts)
        if spec is None:
            if typed is None:
                shown = truncate_text(text, self._host.tools.limits.result_bytes)
                return {"kind": "final", "text": shown, "result": None, "usage": []}
            shown = text or to_json(typed.result).decode()
            return {"kind": "final", "text": shown, "result": typed.result, "usage": []}
        document = text.encode(errors="replace") if typed is None else to_json(typed.result)
        try:
            value = spec.result.decode_null_as_absent(document, self._host.tools.limits)
            bounds_of(spec, value)
        except (ToolValidationError, MalformedResultError) as error:
            wanted = "answer with JSON that fits the schema of the final result"
            return _problem(f"the final result does not fit: {error}; {wanted}", is_malformed=True)
        canonical = from_json(spec.result.encode(value))
        return {"kind": "final", "text": "", "result": canonical, "usage": []}

    def _await(self, result: Await, run_id: str) -> Step:
        if not self._host.may_ask(run_id):
            return _problem("no person can be asked; continue without an answer")
        if result.schema is not None:
            try:
                checked_schema(result.schema)
            except MalformedResultError as error:
                raise PlannerError(str(error)) from error
        return {
            "kind": "await",
            "await_kind": result.kind,
            "question": result.question,
            "schema": None if result.schema is None else dict(result.schema),
            "missing_fields": list(result.missing_fields),
            "restrict_to_tool": result.restrict_to_tool,
            "usage": [],
        }

    def _hand_over(self, result: HandOver, plan_input: PlanInput, facts: RunFacts) -> Step:
        if result.agent not in plan_input.transfers:
            others = ", ".join(plan_input.transfers) or "no agent"
            return _problem(f"{result.agent} cannot take over; {others} can")
        child = self._host.hand_over_run(result.agent, result.message, plan_input.run_id, facts)
        return {"kind": "transfer", "agent": result.agent, "input": child["input"], "usage": []}


def _add_reports(step: Step, result: PlanResult, events: PlanEvents, remembered: MemoryStep | None) -> None:
    """Add the provider's facts, the usage, the missing toolsets and the memory report of a planning."""
    if isinstance(result, CallTools | FinalResponse | FinalResult) and (facts := result.provider):
        length = len(result.text)
        if step["kind"] == "final" or step["kind"] == "calls":
            step["provider"] = facts_document(facts, min(length, len(step["text"])))
    step["usage"] = events.spent
    if events.without:
        step["dropped"] = events.without
    if remembered is not None:
        step["memory"] = remembered


def _planner_name(agent: RegisteredAgent) -> str:
    """Return the planner's name for error messages: its class with its module, and the agent."""
    kind = type(agent.planner)
    return f"the planner {kind.__module__}.{kind.__qualname__} of agent {agent.spec.id!r}"


def _ready_planner(agent: RegisteredAgent) -> Planner:
    """Return the planner of an agent.

    Raises:
        PlannerError: the agent has no planner, or its model cannot be called; the message includes the hint.
    """
    try:
        return agent.ready_planner()
    except ToolgenError as error:
        raise PlannerError("; ".join(filter(None, (error.message, error.hint)))) from error


def _log_failure(error: Exception, info: ActivityInfo, attempt: int) -> str:
    """Log a failure of the planner and return its reason for the run."""
    if getattr(error, "is_told", False):
        text = error.message if isinstance(error, ToolgenError) else str(error)
        shown = scrubbed(portable_text(text))
        log.warning("run %s: attempt %d at %s failed: %s", info.run_id, attempt, info.op, shown)
        return shown
    if isinstance(error, StoreError) and error.is_temporary:
        log.warning("run %s: attempt %d at %s failed: %s", info.run_id, attempt, info.op, error.message)
        return error.public_text
    # An unexpected exception of a planner can contain anything, so only the log has its text.
    log.error("run %s: attempt %d at %s failed", info.run_id, attempt, info.op, exc_info=error)
    return f"it raised {name_of(error)}, and the log has the details"


def _advertised(snapshot: Snapshot, argument: PlanArgument) -> tuple[ToolSpec, ...]:
    if argument["closing"]:
        return ()
    facts, only = argument["facts"], argument["restrict_to_tool"]
    if not only and is_unrestricted(facts):
        return snapshot.specs
    return tuple(
        spec for spec in snapshot.specs if is_allowed(spec.tags, facts) and (not only or spec.name == only)
    )


def _native(snapshot: Snapshot, argument: PlanArgument) -> tuple[NativeTool, ...]:
    """Return the provider's native tools if the run can call every tool without tags."""
    is_free = not argument["closing"] and not argument["restrict_to_tool"]
    return snapshot.native if is_free and is_allowed((), argument["facts"]) else ()


def _hints(documents: Iterable[Any]) -> tuple[RetryHint, ...]:
    """Return the retry hints; their issues are in the results that the planner sees."""
    hints = [hint_of(document, document["tool"]) for document in documents]
    return tuple([hint for hint in hints if hint is not None])


def _result_schema(host: AgentHost, facts: RunFacts) -> dict[str, Json] | None:
    spec = host.returned_by(facts)
    return None if spec is None else spec.result.schema


def _problem(text: str, *, is_malformed: bool = False) -> Step:
    return {"kind": "problem", "problem": text, "is_malformed": is_malformed, "usage": []}
