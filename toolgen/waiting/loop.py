"""The state machine of a call, which executes and resumes it, and the loop of a call outside of agents.

Both are pure. The state machine serves the loop of agents and the loop of a single call. Their differences,
which are the operation keys, the activities and the result documents, are in the `CallSteps` of each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Generic, Literal, NotRequired, Protocol, Required, TypeVar, cast

from typing_extensions import TypedDict

from toolgen.calls.documents.results import failure_document
from toolgen.calls.documents.types import StoredResult
from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record
from toolgen.engines.context import CallOptions, RunContext, answer_name
from toolgen.engines.errors import OUTCOME_UNKNOWN, ActivityFailed, PayloadTooLargeError, require_version
from toolgen.engines.statuses import Signal
from toolgen.events.document import as_json, tool_end
from toolgen.events.records import EXPIRED, AgentRunStarted, ToolEnd, ToolUpdate

from .later_turns import OPEN_TURN, in_conversation, nothing, open_turn

R = TypeVar("R", bound=Mapping[str, Any])
"""The document of a result; `frozen` is the suspended call in it, `child` the run that will answer it."""

INTERMEDIATE: Final = "toolgen.intermediate"
"""Only key of the answer that is an intermediate result of pending work."""
UNKNOWN: Final[dict[str, Json]] = {"unknown": "its result was not kept; it may have run"}
"""Result of a call whose process ended while it ran."""
_SHORTEST_S: Final = 0.1
"""Minimum time to answer, however late the call was frozen."""


class CallSteps(Protocol[R]):
    """The steps of one call in one loop. Each has an operation key with its number, from 1."""

    keeps_work: bool
    """Whether acknowledged work is awaited here; an agent's run leaves it to a separate run."""

    async def publish(self, record: R, number: int, answered: str) -> None:
        """Publish the events of a suspended record; `answered` is the id of the question before it, or ""."""
        ...

    async def child(self, child: Any, number: int) -> R:
        """Run the agent that answers the call, and return the record of its output."""
        ...

    async def answer(self, frozen: Any, number: int) -> R:
        """Wait for the answer to a suspended call, resume it, and return the record."""
        ...


@frozen_record(kw_only=False)
class Ended(Generic[R]):
    """The final record of a call."""

    record: R
    number: int
    """Number of the step that returned it; 0 if the call was never suspended."""
    answered: str
    """Id of the last answered question; "" without one."""


async def finish(record: R, steps: CallSteps[R]) -> Ended[R]:
    """Return the final record of an executed call, after its answers and the runs of agents."""
    number, answered = 0, ""
    while _is_open(record, steps.keeps_work):
        await steps.publish(record, number, answered)
        number += 1
        if child := record.get("child"):
            record = await steps.child(child, number)
        else:
            frozen = record["frozen"]
            answered = frozen["id"]
            record = await steps.answer(frozen, number)
    return Ended(record, number, answered)


def _is_open(record: Mapping[str, Json], keeps_work: bool) -> bool:
    if record["status"] == "pending":
        return keeps_work and bool(record.get("frozen"))
    return bool(record["status"] == "suspended")


@frozen_record(kw_only=False)
class NoRecord:
    """Reason why an activity of a call returned no record."""

    why: Literal["timeout", "unknown", "failed", "too_large"]
    """`unknown`: its process ended after it had begun. `too_large`: it was not started."""
    message: str


async def attempt(
    ctx: RunContext, op: str, activity: str, argument: Any, timeout_s: float | None = None
) -> Any:
    """Return the record of an activity that executes a call, or a `NoRecord`; once begun, it runs once."""
    options = CallOptions(attempts=1, timeout=timeout_s, once=True)
    try:
        return await ctx.start(op, activity, argument, options)
    except ActivityFailed as error:
        if error.kind == "timeout":
            return NoRecord("timeout", error.message)
        return NoRecord("unknown" if error.kind == OUTCOME_UNKNOWN else "failed", error.message)
    except PayloadTooLargeError as error:
        return NoRecord("too_large", error.message)


async def answer_to(
    ctx: RunContext,
    op: str,
    frozen: Mapping[str, Any],
    about: Mapping[str, Any] | None = None,
    waited_s: float = 0.0,
) -> Signal | None:
    """Wait for the answer to a suspended call and return it; None if none arrives in time.

    `about` contains the call in `frozen`, if the run has nothing else in its input: a journal stores that
    only once, so the displayed call is the call that the answer executes. The call has already waited for
    `waited_s` seconds.
    """
    # Not until `expires_at`: the run's clock can be ahead of the host's clock, which rejects late answers.
    timeout_s = max(_SHORTEST_S, frozen["expires_at"] - frozen["created_at"] - waited_s)
    return await ctx.wait(
        op, answer_name(op), timeout_s=timeout_s, about=dict(about or {"frozen": dict(frozen)})
    )


def is_work(about: Json) -> bool:
    """Return whether a wait is for pending work elsewhere, so that its call has begun."""
    match about:
        case {"frozen": {"kind": "pending"}}:
            return True
        case _:
            return False


def intermediate_of(sealed: object) -> dict[str, Any] | None:
    """Return the intermediate result in an answer of a journal; None for other answers."""
    match sealed:
        case {"answer": {"toolgen.intermediate": {"key": str(), "value": _, "shown": _} as sent}}:
            return dict(sent)
        case _:
            return None


def left_work(why: str) -> str:
    """Return the text about work whose result is no longer awaited."""
    return f"{why}; the work may be done all the same"


def is_unknown_end(event: Mapping[str, Json]) -> bool:
    """Return whether an event says that an outcome is unknown."""
    return bool(event.get("type") == "tool_end" and event["status"] == "unknown")


def with_answered_id(event: dict[str, Json], id_: str) -> dict[str, Json]:
    """Add the id of the answered frozen call to the `tool_end` event of a call."""
    return {**event, "answered_id": id_} if event["type"] == "tool_end" else event


LOOP: Final = "waiting_call"
VERSION: Final = 6
"""The only version of the loop that is executed; increase it with each change that affects existing
journals."""
EXECUTE: Final = "execute"
"""Activity that executes a call which has not begun."""
RESUME: Final = "resume"
"""Activity that executes a call after its answer."""
CONCLUDE: Final = "conclude_call"
"""Activity that creates the result of a call from the output of an agent's run."""
WORK: Final = "work:"
"""Id prefix of a run that waits for the pending work of an agent's run; the id of the call follows."""
_IDS: Final = ("run_id", "session_id", "turn_id", "tool_call_id")

Frozen = dict[str, Any]
"""A `FrozenCall`, as JSON."""


class CallDocument(TypedDict):
    """A call of a tool, with its arguments as received."""

    tool: str
    """Id of the tool."""
    arguments: str
    """JSON text."""
    meta: dict[str, Any]
    """Fields of its `CallMeta`."""
    trace: NotRequired[str]
    """Span in which the call was made, as W3C Trace Context (`traceparent`); missing if the call has
    begun."""


class ChildOfCall(TypedDict):
    """The run that answers a call of an agent's tool."""

    loop: str
    agent: str
    """Id of the agent."""
    input: Any


class WaitingInput(TypedDict):
    """Argument of the loop: a suspended call, a call that has not begun, or a call that an agent answers."""

    frozen: NotRequired[Frozen]
    call: NotRequired[CallDocument]
    """The call, if it is not suspended."""
    child: NotRequired[ChildOfCall]
    """The run that answers the executed `call`; without it, the call has not begun."""
    version: int
    """The `VERSION` at the start of the run."""
    process: NotRequired[str]
    """Id of the process that started a named call."""
    facts: NotRequired[dict[str, Any]]
    """Facts of the agent's run that made the call; its conversation receives the result."""


class CallOutcome(StoredResult, total=False):
    """The record of a call, and the output of the loop."""

    events: Required[list[dict[str, Json]]]
    """Events for the log, in order; progress events are already there."""
    frozen: Frozen | None
    """The suspended call, a `FrozenCall`; None if the call is not suspended."""
    child: Any
    """The agent's run that will answer it."""
    pending: list[Any]
    """Work that continues after that run: `run_id`, the `op` of its wait, and its `frozen` record."""


async def waiting_call(ctx: RunContext, run_input: WaitingInput) -> Any:
    """Return the outcome of the call, at the latest when the time to answer expires.

    Raises:
        NondeterminismError: another version of the loop began the run.
    """
    require_version(ctx.run_id, LOOP, run_input.get("version"), VERSION)
    steps = _DirectCallSteps(ctx, run_input)
    ended = await finish(await steps.first(), steps)
    outcome = ended.record
    await steps.publish(outcome, ended.number, ended.answered)
    facts = run_input.get("facts")
    if in_conversation(facts):
        frozen = run_input.get("frozen")
        assert frozen is not None, "only a suspended call comes from a run of an agent"
        await open_turn(ctx, OPEN_TURN, {"facts": facts, "frozen": frozen, "outcome": outcome})
    return outcome


def call_of(run_input: WaitingInput) -> CallDocument:
    """Return the call of a run: the executed call, or the suspended one."""
    if (call := run_input.get("call")) is not None:
        return call
    frozen = run_input.get("frozen")
    assert frozen is not None, "a run has a call, or what of it was frozen"
    return {"tool": frozen["tool"], "arguments": frozen["payload_json"], "meta": frozen["meta"]}


class _DirectCallSteps:
    """The steps of the single call of a run."""

    keeps_work = True

    def __init__(self, ctx: RunContext, run_input: WaitingInput) -> None:
        self._ctx = ctx
        self._input = run_input
        self._call = call_of(run_input)
        self._expired: CallOutcome | None = None
        self._sent = 0
        """Number of intermediate results so far, each of which has ended a wait."""
        self._turns = ctx.one_by_one()
        self._asked_at: dict[str, float] = {}
        """Time at which each question was first asked, by its id."""

    async def first(self) -> CallOutcome:
        """Return the first record of the call: suspended, or executed now."""
        run_input = self._input
        if "frozen" in run_input:
            return suspended_outcome(self._call, frozen=run_input["frozen"])
        if "child" in run_input:
            return suspended_outcome(self._call, child=run_input["child"])
        done = await attempt(self._ctx, EXECUTE, EXECUTE, {"call": self._call})
        return self._without_result(done) if isinstance(done, NoRecord) else done

    async def publish(self, record: CallOutcome, number: int, answered: str) -> None:
        if record is self._expired:
            return
        number += self._sent
        for place, event in enumerate(record["events"]):
            published = with_answered_id(event, answered) if answered else event
            await self._ctx.publish(f"{number}:{place}", published)

    async def child(self, child: ChildOfCall, number: int) -> CallOutcome:
        number += self._sent
        ctx, op = self._ctx, f"child:{number}"
        run_id = f"{ctx.run_id}/{op}"
        started = AgentRunStarted(tool=self._call["tool"], agent=child["agent"], child_run_id=run_id)
        await ctx.publish(f"started:{number}", self._event(started))
        argument: dict[str, Any] = {
            "call": self._call,
            "agent": child["agent"],
            "run_id": run_id,
            "started_at": ctx.now(),
        }
        try:
            argument["output"] = await ctx.child(op, child["loop"], child["input"])
        except ActivityFailed as error:
            argument["failure"] = {"kind": error.kind, "message": error.message}
        done = await attempt(ctx, f"{CONCLUDE}:{number}", CONCLUDE, argument)
        return self._without_result(done) if isinstance(done, NoRecord) else done

    async def answer(self, frozen: Frozen, number: int) -> CallOutcome:
        at, run_input, now = number + self._sent, self._input, self._ctx.now()
        op, waited_s = f"wait:{at}", now - self._asked_at.setdefault(frozen["id"], now)
        is_in_input = at == 1 and "frozen" in run_input and "facts" not in run_input
        signal = await answer_to(self._ctx, op, frozen, run_input if is_in_input else None, waited_s)
        if signal is None:
            return await self._without_answer(frozen, at)
        argument: dict[str, Json] = {"frozen": frozen, "answer": signal.payload, "op": op}
        if is_work(argument) and (sent := intermediate_of(signal.payload)) is not None:
            return await self._after_intermediate(frozen, argument, sent["shown"], number)
        done = await attempt(self._ctx, f"{RESUME}:{at}", RESUME, argument)
        return self._without_result(done) if isinstance(done, NoRecord) else done

    async def _after_intermediate(
        self, frozen: Frozen, sent: dict[str, Json], shown: Json, number: int
    ) -> CallOutcome:
        """Publish an intermediate result, and stay suspended while its turn opens.

        Turns open in order, and before the final result.
        """
        self._sent += 1
        key, facts = f"sent:{self._sent}", self._input.get("facts")
        event = ToolUpdate(tool=self._call["tool"], value=shown, number=self._sent)
        await self._ctx.publish(key, self._event(event))
        argument = {**sent, "facts": facts, "number": self._sent}
        turn = self._turn(f"{OPEN_TURN}:{key}", argument) if in_conversation(facts) else nothing()
        _, ended = await self._ctx.gather(turn, self.answer(frozen, number))  # type: ignore[arg-type]  # it is JSON
        return cast(CallOutcome, ended)

    async def _turn(self, op: str, argument: dict[str, Json]) -> None:
        async with self._turns:
            await open_turn(self._ctx, op, argument)

    async def _without_answer(self, frozen: Frozen, number: int) -> CallOutcome:
        """Return the outcome of a call that expired without an answer."""
        if is_work({"frozen": frozen}):
            self._expired = self._ended("unknown", {"unknown": left_work(EXPIRED)})
        else:
            self._expired = self._ended("denied", {"error": EXPIRED})
        await self._ctx.publish(f"{number}:expired", self._expired["events"][0])
        return self._expired

    def _without_result(self, none: NoRecord) -> CallOutcome:
        """Return the outcome of a call whose execution has no result."""
        if none.why == "unknown":
            return self._ended("unknown", UNKNOWN)
        return self._ended("error", {"error": f"it gave no result: {none.message}"})

    def _ended(self, status: Any, seen: dict[str, Json]) -> CallOutcome:
        """Return the outcome of a call that is not executed; the model reads `seen`."""
        call = self._call
        document = failure_document(call["tool"], call["meta"]["tool_call_id"], status, seen)
        return cast(CallOutcome, {**document, "events": [self._event(tool_end(document))]})

    def _event(self, event: AgentRunStarted | ToolEnd | ToolUpdate) -> dict[str, Json]:
        """Return an event of the call as JSON, with the ids of the call."""
        return {**as_json(event), **ids_of(self._call), "time": self._ctx.now()}


def suspended_outcome(call: CallDocument, **facts: Any) -> CallOutcome:
    """Return the outcome of a suspended call, which waits for the answer to `frozen` or for its `child`."""
    head = {"tool": call["tool"], "tool_call_id": call["meta"]["tool_call_id"], "status": "suspended"}
    return cast(CallOutcome, {**head, "events": [], **facts})


def ids_of(call: CallDocument) -> dict[str, Json]:
    """Return the ids of a call for its events."""
    meta = call["meta"]
    return {**{name: meta[name] for name in _IDS}, "agent_id": meta["agent"]}
