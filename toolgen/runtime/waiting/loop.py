"""The loop of a call outside of agents: execute it, wait for answers or an agent, until there is a result.

It is pure, and goes through the same `call_machine` as the calls of agents.
"""

from __future__ import annotations

from typing import Any, Final, NotRequired, Required, TypedDict

from pydantic_core import to_json

from toolgen.contract.json_value import Json
from toolgen.contract.names import CANCELED

from ..engine import ActivityFailed, EndedRun, PayloadTooLargeError, RunContext
from ..events.document import as_json
from ..events.records import AgentRunStarted, ToolEnd
from .call_machine import EXPIRED, UNKNOWN, NoRecord, answer_to, attempt, finish, with_answered_id

LOOP: Final = "waiting_call"
VERSION: Final = 3
"""Of the runs that begin now; one whose input has none does what version 1 did. Since version 2 it tells that
nobody answered in time, and that the outcome of a call is unknown. Since version 3 it hears that the
conversation for its result is free."""
TELLING: Final = 2
"""The version since which it tells these."""
HEARING: Final = 3
"""The version since which it hears this."""
EXECUTE: Final = "execute"
"""Activity that executes a call which has not begun."""
RESUME: Final = "resume"
"""Activity that executes a call after its answer."""
CONCLUDE: Final = "conclude_call"
"""Activity that makes the result of a call of what the run of an agent said."""
OPEN_TURN: Final = "open_turn"
"""Activity that starts the turn of a conversation that gets the result of pending work."""
TURN_FREE: Final = "turn_free"
"""Signal that the conversation has no turn that goes on."""
WORK: Final = "work:"
"""Before the id of the call, in the id of a run that waits for the pending work of an agent's run."""
_FIRST_PAUSE_S: Final = 1.0
_LONGEST_PAUSE_S: Final = 60.0
"""Between two tries to start the turn, while the conversation is busy and nobody says that it is free; it
doubles."""
_IDS: Final = ("run_id", "session_id", "turn_id", "tool_call_id")

Frozen = dict[str, Any]
"""A `FrozenCall`, as JSON."""


class CallDocument(TypedDict):
    """A call of a tool, with the arguments as they came."""

    tool: str
    """Id."""
    arguments: str
    """JSON text."""
    meta: dict[str, Any]
    """The fields of its `CallMeta`."""


class ChildOfCall(TypedDict):
    """The run that answers a call of an agent's tool."""

    loop: str
    agent: str
    """Id."""
    input: Any


class WaitingInput(TypedDict):
    """The argument of the loop: a suspended call, a call that has not begun, or one that an agent answers."""

    frozen: NotRequired[Frozen]
    call: NotRequired[CallDocument]
    """Where nothing is frozen."""
    child: NotRequired[ChildOfCall]
    """Of a `call` that was executed, and that an agent answers; without it the call has not begun."""
    version: NotRequired[int]
    """The `VERSION` with which it began; 1 where there is none."""
    facts: NotRequired[dict[str, Any]]
    """Of the agent's run that made the call; its conversation, or the one that led to it, gets the result."""


class Outcome(TypedDict, total=False):
    """The record of a call, and the output of the loop."""

    status: Required[Any]
    json: Required[str]
    events: Required[list[dict[str, Json]]]
    frozen: Frozen | None
    """Where it waits."""
    child: ChildOfCall
    """Where an agent is to answer it."""
    display: str
    bounds: Json
    is_final: bool
    error: dict[str, Json]
    """`message`, and of a declared error its `code` and the JSON text of its `details`."""
    hint: Json
    """A `RetryHint`."""
    content: list[Json]
    link: Json
    """The `RunLink` of a call that an agent answered."""
    children: int
    telemetry: Json


async def waiting_call(ctx: RunContext, given: WaitingInput) -> Any:
    """Return the outcome of the call, at the latest when the time to answer is over."""
    steps = _Steps(ctx, given)
    ended = await finish(await steps.first(), steps)
    outcome = ended.record
    if outcome["status"] == "expired":
        return outcome
    await steps.publish(outcome, ended.number, ended.answered)
    facts = given.get("facts")
    if facts and (facts["in_conversation"] or facts.get("conversation")):
        frozen = given.get("frozen")
        assert frozen is not None, "only a suspended call comes from a run of an agent"
        await _open_turn(ctx, facts, frozen, outcome, given.get("version", 1))
    return outcome


def call_of(given: WaitingInput) -> CallDocument:
    """Return the call of a run: the one that has begun, or what of it was frozen."""
    if (call := given.get("call")) is not None:
        return call
    frozen = given.get("frozen")
    assert frozen is not None, "a run has a call, or what of it was frozen"
    return {"tool": frozen["tool"], "arguments": frozen["payload_json"], "meta": frozen["meta"]}


class _Steps:
    """The steps of the one call of a run."""

    keeps_work = True

    def __init__(self, ctx: RunContext, given: WaitingInput) -> None:
        self._ctx = ctx
        self._given = given
        self._call = call_of(given)
        self._version = given.get("version", 1)
        self._expired: Outcome | None = None

    async def first(self) -> Outcome:
        """Return the record with which the call comes here: suspended, or executed now."""
        given = self._given
        if "frozen" in given:
            return {"status": "suspended", "json": "", "events": [], "frozen": given["frozen"]}
        if "child" in given:
            return {"status": "suspended", "json": "", "events": [], "child": given["child"]}
        done = await attempt(self._ctx, EXECUTE, EXECUTE, {"call": self._call})
        return self._without_result(done) if isinstance(done, NoRecord) else done

    async def publish(self, record: Outcome, number: int, answered: str) -> None:
        if record is self._expired:
            return
        for place, event in enumerate(record["events"]):
            told = with_answered_id(event, answered) if answered else event
            await self._ctx.publish(f"{number}:{place}", told)

    async def child(self, child: ChildOfCall, number: int) -> Outcome:
        ctx, op = self._ctx, f"child:{number}"
        run_id = f"{ctx.run_id}/{op}"
        started = AgentRunStarted(tool=self._call["tool"], agent=child["agent"], child_run_id=run_id)
        await ctx.publish(f"started:{number}", self._told(started))
        argument: dict[str, Any] = {
            "call": self._call,
            "agent": child["agent"],
            "run_id": run_id,
            "began": ctx.now(),
        }
        try:
            argument["output"] = await ctx.child(op, child["loop"], child["input"])
        except ActivityFailed as error:
            argument["failure"] = {"kind": error.kind, "message": error.message}
        done = await attempt(ctx, f"{CONCLUDE}:{number}", CONCLUDE, argument)
        return self._without_result(done) if isinstance(done, NoRecord) else done

    async def answer(self, frozen: Frozen, number: int) -> Outcome:
        op = f"wait:{number}"
        signal = await answer_to(self._ctx, op, frozen)
        if signal is None:
            return await self._without_answer(number)
        argument: Json = {"frozen": frozen, "given": signal.payload, "op": op}
        done = await attempt(self._ctx, f"{RESUME}:{number}", RESUME, argument)
        return self._without_result(done) if isinstance(done, NoRecord) else done

    async def _without_answer(self, number: int) -> Outcome:
        """Return the outcome of a call to which nobody gave an answer in time."""
        if self._version < TELLING:
            return {"status": "expired", "json": "", "events": []}
        self._expired = self._ended("denied", {"error": EXPIRED}, error=EXPIRED)
        await self._ctx.publish(f"{number}:expired", self._expired["events"][0])
        return self._expired

    def _without_result(self, none: NoRecord) -> Outcome:
        """Return the outcome of a call whose execution has no result."""
        if none.why == "unknown":
            return self._ended("unknown" if self._version >= TELLING else "pending", UNKNOWN)
        why = f"it gave no result: {none.message}"
        return self._ended("error", {"error": why}, error=why)

    def _ended(self, status: Any, result: dict[str, Json], *, error: str = "") -> Outcome:
        """Return the outcome of a call that is not executed."""
        ended = ToolEnd(tool=self._call["tool"], status=status, result=result, error=error)
        return {"status": status, "json": to_json(result).decode(), "events": [self._told(ended)]}

    def _told(self, event: AgentRunStarted | ToolEnd) -> dict[str, Json]:
        """Return an event of the call as JSON, with the ids of the call."""
        return {**as_json(event), **_ids_of(self._call), "time": self._ctx.now()}


def last_events(ended: EndedRun) -> list[dict[str, Json]]:
    """Return the end of the call of a run that ended without its loop: of unknown outcome if it ran then.

    A call that was suspended before its run began, and did not run since, has its end already.
    """
    given: WaitingInput = ended.input
    call, is_waiting = call_of(given), bool(ended.waits)
    ends = [event for event in ended.log if event.get("type") == "tool_end"]
    if any(event["status"] != "suspended" for event in ends):
        return []
    asked = [event["suspension_id"] for event in ends]
    if "frozen" in given:
        asked.insert(0, given["frozen"]["id"])
    begun = [0 if op == EXECUTE else int(op.rpartition(":")[2]) for op in ended.begun]
    if begun and max(begun) >= len(asked) and not is_waiting:
        answered = str(asked[-1]) if asked else ""
        end = ToolEnd(tool=call["tool"], status="unknown", result=UNKNOWN, answered_id=answered)
    elif "frozen" in given:
        return []
    elif is_waiting and ended.ending == "canceled":
        why = ended.reason or "the call was canceled"
        end = ToolEnd(tool=call["tool"], status="denied", result={"error": why, "code": CANCELED}, error=why)
    else:
        why = "the run ended before this call did"
        end = ToolEnd(tool=call["tool"], status="error", result={"error": why}, error=why)
    return [{**as_json(end), **_ids_of(call), "time": ended.at}]


def _ids_of(call: CallDocument) -> dict[str, Json]:
    meta = call["meta"]
    return {**{name: meta[name] for name in _IDS}, "agent_id": meta.get("agent", "")}


async def _open_turn(
    ctx: RunContext, facts: dict[str, Any], frozen: Frozen, outcome: Any, version: int
) -> None:
    """Start a turn of the conversation with the result, as soon as no other turn is running.

    Whoever ends that turn says so; where it is another process, it is found out after a pause.
    """
    pause, number = _FIRST_PAUSE_S, 0
    names = (TURN_FREE,) if version >= HEARING else ()
    argument: Json = {"facts": facts, "frozen": frozen, "outcome": outcome}
    while True:
        try:
            said = await ctx.start(f"{OPEN_TURN}:{number}", OPEN_TURN, argument)
        except PayloadTooLargeError as error:  # the result and the call are together only here
            argument = {"facts": facts, "frozen": frozen, "outcome": _without_result_text(outcome, error)}
            said = await ctx.start(f"{OPEN_TURN}:{number}", OPEN_TURN, argument)
        if said != "busy":
            return
        await ctx.wait(f"pause:{number}", *names, timeout_s=pause)
        pause, number = min(pause * 2, _LONGEST_PAUSE_S), number + 1


def _without_result_text(outcome: Outcome, error: PayloadTooLargeError) -> Any:
    """Return an outcome that says why its result is left out."""
    result = {"error": f"its result is left out: {error.message}"}
    return {"status": outcome["status"], "json": to_json(result).decode(), "events": []}
