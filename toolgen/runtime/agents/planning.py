"""The activity `plan`: the conversation and the tools go to the planner, and what it wants comes back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from pydantic_core import from_json, to_json

from toolgen.contract.fields import Json

from ..answers import checked_schema
from ..errors import MalformedResultError, ToolValidationError
from ..events import ToolStart, as_json
from ..hints import filled
from ..hooks import Abort, Answer, Continue, Deny, steps, told
from ..results import RetryHint
from ..snapshot import Snapshot
from ..specs import ToolSpec
from .admission import is_allowed
from .catalogue import Agent
from .conversation import conversation
from .documents import PlanArgument, RunFacts, Step, StepCall
from .engine import ActivityInfo, NonRetryableError
from .messages import PlannedCall, messages_from_json
from .plan_events import PlanEvents
from .planner import (
    Await,
    CallTools,
    FinalResponse,
    FinalResult,
    HandOver,
    PlanInput,
    PlanResult,
    said,
)
from .recording import place_of

if TYPE_CHECKING:
    from .host import AgentHost

_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""Call ids that every provider takes back."""


class PlannerError(NonRetryableError):
    """A planner cannot plan, and would not the next time either; the message says why."""


class Planning:
    """Plans for the runs of one host."""

    def __init__(self, host: AgentHost) -> None:
        self._host = host

    async def plan(self, info: ActivityInfo, argument: PlanArgument) -> Step:
        """Return what the planner wants, and keep what was said.

        Raises:
            PlannerError: the agent is not registered, or its planner returned something else.
            Exception: what the planner raises; the engine tries again.
        """
        host, facts = self._host, argument["facts"]
        agent = host.agent(facts["agent"])
        meta = host.meta(info.run_id, facts)
        snapshot = await host.snapshot(agent, meta)
        new = messages_from_json(argument["new"])
        events = PlanEvents(info, meta, host.clock)
        given = PlanInput(
            agent=agent.spec.id,
            description=agent.spec.description,
            run_id=info.run_id,
            session_id=facts["session_id"],
            turn_id=facts["turn_id"],
            labels=facts["labels"],
            step=argument["step"],
            messages=(),
            tools=_advertised(snapshot, argument),
            native=() if argument["closing"] else snapshot.native,
            instructions=snapshot.instructions,
            retry_hints=_hints(argument["hints"]),
            restrict_to_tool=argument["restrict_to_tool"],
            transfers=host.transfers(agent, facts),
            result_schema=_result_schema(host, facts),
            closing=argument["closing"],
            reports=events,
        )
        place = place_of(argument["step"])
        await host.sessions.write(info.run_id, place, new)  # an attempt that failed left no more
        given = await conversation(host.sessions, agent, facts, given, host.clock())
        result = await self._asked(agent, given)
        step = self._step(result, given, snapshot, facts)
        step["usage"] = events.spent
        kept = said(_with_ids(result, step["calls"]) if step["kind"] == "calls" else result)
        await host.sessions.write(info.run_id, place, [*new, kept])
        return step

    async def _asked(self, agent: Agent, given: PlanInput) -> PlanResult:
        """Return what the planner wants, or what a hook has in its place.

        Raises:
            PlannerError: a hook refused, or the planner did.
        """
        hooks = self._host.hooks
        for step in steps(hooks, "before_model"):
            match await told(step, given):
                case Continue(payload=payload):
                    given = payload if isinstance(payload, PlanInput) else given
                case Answer(result=result):
                    return _checked(result)
                case Deny(message=message):
                    raise PlannerError(message)
                case Abort(error=abort):
                    raise PlannerError(abort.message)
        try:
            plan = agent.planner.plan_start if given.step == 0 else agent.planner.plan_resume
            result = _checked(await plan(given))
        except Exception as error:
            for step in steps(hooks, "on_model_error"):
                if isinstance(verdict := await told(step, given, error), Answer):
                    return _checked(verdict.result)
            raise
        for step in steps(hooks, "after_model"):
            match await told(step, given, result):
                case Answer(result=answer):
                    result = _checked(answer)
                case Deny(message=message):
                    raise PlannerError(message)
                case Abort(error=abort):
                    raise PlannerError(abort.message)
                case Continue():
                    pass
        return result

    def _step(self, result: PlanResult, given: PlanInput, snapshot: Snapshot, facts: RunFacts) -> Step:
        if given.closing and not isinstance(result, FinalResponse | FinalResult):
            return _problem("the run ends now; only a final answer is taken")
        match result:
            case CallTools():
                return _calls(result, given, snapshot)
            case FinalResponse():
                return self._final(result.text, None, given, facts)
            case FinalResult():
                return self._final(result.text, result, given, facts)
            case Await():
                return self._await(result)
            case HandOver():
                return self._hand_over(result, given, facts)

    def _final(self, text: str, typed: FinalResult | None, given: PlanInput, facts: RunFacts) -> Step:
        spec = self._host.returned_by(facts)
        if spec is None:
            if typed is None:
                return {"kind": "final", "text": text, "result": None, "usage": []}
            shown = text or to_json(typed.result).decode()
            return {"kind": "final", "text": shown, "result": typed.result, "usage": []}
        document = text.encode(errors="replace") if typed is None else to_json(typed.result)
        try:
            value = spec.result.decode(document)
        except ToolValidationError as error:
            wanted = "answer with JSON that fits the schema of the final result"
            return _problem(f"the final result does not fit: {error}; {wanted}", is_malformed=True)
        canonical = from_json(spec.result.encode(value))
        return {"kind": "final", "text": "", "result": canonical, "usage": []}

    def _await(self, result: Await) -> Step:
        if not self._host.is_interactive:
            return _problem("there is nobody to ask; go on without an answer")
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

    def _hand_over(self, result: HandOver, given: PlanInput, facts: RunFacts) -> Step:
        if result.agent not in given.transfers:
            known = ", ".join(given.transfers) or "no agent"
            return _problem(f"{result.agent} cannot take over; {known} can")
        child = self._host.taking_over(result.agent, result.message, given.run_id, facts)
        return {"kind": "hand_over", "agent": result.agent, "input": child["input"], "usage": []}


def _advertised(snapshot: Snapshot, argument: PlanArgument) -> tuple[ToolSpec[Any, Any], ...]:
    if argument["closing"]:
        return ()
    facts, only = argument["facts"], argument["restrict_to_tool"]
    return tuple(
        spec for spec in snapshot.specs if is_allowed(spec.tags, facts) and (not only or spec.name == only)
    )


def _calls(result: CallTools, given: PlanInput, snapshot: Snapshot) -> Step:
    if not result.calls:
        return _problem("there are no calls; call a tool or give the final answer")
    taken = {call.id for message in given.messages for call in getattr(message, "calls", ())}
    calls: list[StepCall] = []
    for place, call in enumerate(result.calls):
        id_ = call.id
        if not _ID.fullmatch(id_) or id_ in taken:
            id_ = f"call_{given.step}_{place}"
        taken.add(id_)
        calls.append(_call(call, id_, snapshot))
    return {"kind": "calls", "text": result.text, "calls": calls, "usage": []}


def _call(call: PlannedCall, id_: str, snapshot: Snapshot) -> StepCall:
    entry = snapshot.directory.find(call.name)
    arguments = call.arguments if call.arguments.strip() else "{}"
    shown = _shown(arguments)
    start = ToolStart(
        tool=entry.spec.id if entry else call.name,
        name=call.name,
        arguments=shown,
        text=filled(entry.spec.call_hint, shown) if entry and isinstance(shown, dict) else "",
    )
    return {
        "id": id_,
        "name": call.name,
        "arguments": arguments,
        "tool": entry.spec.id if entry else call.name,
        "tags": list(entry.spec.tags) if entry else [],
        "is_bookkeeping": entry.spec.is_bookkeeping if entry else False,
        "start": as_json(start),
    }


def _shown(arguments: str) -> Any:
    """Return the arguments as an event shows them; None for what is no JSON."""
    try:
        return from_json(arguments, allow_inf_nan=False)
    except ValueError:
        return None


def _with_ids(result: PlanResult, calls: Sequence[StepCall]) -> PlanResult:
    """Return the calls under the ids that the run gave them."""
    if not isinstance(result, CallTools):
        return result
    named = tuple(
        PlannedCall(name=call["name"], arguments=call["arguments"], id=call["id"]) for call in calls
    )
    return CallTools(calls=named, text=result.text, native=result.native)


def _hints(documents: Iterable[Any]) -> tuple[RetryHint, ...]:
    """Return the hints as they were, the issues apart: the planner sees those in the results."""
    return tuple(
        RetryHint(**{**document, "missing_fields": tuple(document["missing_fields"]), "issues": ()})
        for document in documents
    )


def _result_schema(host: AgentHost, facts: RunFacts) -> dict[str, Json] | None:
    spec = host.returned_by(facts)
    return None if spec is None else spec.result.schema


def _problem(text: str, *, is_malformed: bool = False) -> Step:
    return {"kind": "problem", "problem": text, "is_malformed": is_malformed, "usage": []}


def _checked(result: object) -> PlanResult:
    """Return what a planner returned.

    Raises:
        PlannerError: it is none of the five.
    """
    if isinstance(result, CallTools | FinalResponse | FinalResult | Await | HandOver):
        return result
    raise PlannerError(
        f"the planner returned {type(result).__name__}; it returns CallTools, FinalResponse, FinalResult, "
        "Await or HandOver"
    )
