"""The loop of a suspended call outside of agents: wait, execute, until there is a result.

It is pure, like the loop of agents, which waits in the same way: `answer_to`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any, Final, NotRequired, Required, TypedDict

from pydantic_core import to_json

from toolgen.contract.json_value import Json

from ..engine import (
    OUTCOME_UNKNOWN,
    ActivityFailed,
    CallOptions,
    PayloadTooLargeError,
    RunContext,
    Signal,
    answer_name,
)
from ..events.document import as_json
from ..events.records import ToolEnd

LOOP: Final = "waiting_call"
VERSION: Final = 3
"""Of the runs that begin now; one whose input has none does what version 1 did. Since version 2 it tells that
nobody answered in time, and that the outcome of a call is unknown. Since version 3 it hears that the
conversation for its result is free."""
TELLING: Final = 2
"""The version since which it tells these."""
HEARING: Final = 3
"""The version since which it hears this."""
RESUME: Final = "resume"
"""Activity that executes a call after its answer."""
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
EXPIRED: Final = "nobody answered in time"
"""The end of the reason why a call was not run."""
_ONCE: Final = CallOptions(attempts=1, once=True)
UNKNOWN: Final[dict[str, Json]] = {"unknown": "its result was not kept; it may have run"}
"""What is said of a call whose process ended while it ran."""
_SHORTEST_S: Final = 0.1
"""For which every call waits, however late it was asked."""

Frozen = dict[str, Any]
"""A `FrozenCall`, as JSON."""


class WaitingInput(TypedDict):
    """The argument of the loop."""

    frozen: Frozen
    version: NotRequired[int]
    """The `VERSION` with which it began; 1 where there is none."""
    facts: NotRequired[dict[str, Any]]
    """Of the agent's run that made the call; its conversation, or the one that led to it, gets the result."""


class Outcome(TypedDict, total=False):
    """The result of a call after an answer."""

    status: Required[str]
    json: Required[str]
    events: Required[list[dict[str, Json]]]
    frozen: Frozen | None
    """Where it waits again."""
    display: str
    bounds: Json
    is_final: bool


async def waiting_call(ctx: RunContext, given: WaitingInput) -> Any:
    """Return the outcome of the call, at the latest when the time to answer is over."""
    frozen: Frozen | None = given["frozen"]
    number, version = 0, given.get("version", 1)
    outcome: Any = None
    while frozen is not None:
        number += 1
        signal = await answer_to(ctx, f"wait:{number}", frozen)
        if signal is None and version < TELLING:
            return {"status": "expired", "json": "", "events": []}
        if signal is None:
            outcome = _ended(frozen, "denied", {"error": EXPIRED}, ctx.now(), error=EXPIRED)
            await ctx.publish(f"{number}:expired", outcome["events"][0])
            break
        argument: Json = {"frozen": frozen, "given": signal.payload, "op": f"wait:{number}"}
        try:
            outcome = await ctx.start(f"{RESUME}:{number}", RESUME, argument, _ONCE)
        except (ActivityFailed, PayloadTooLargeError) as error:
            outcome = _without_result(frozen, error, ctx.now(), version)
        for place, event in enumerate(outcome["events"]):
            await ctx.publish(f"{number}:{place}", with_answered_id(event, frozen["id"]))
        frozen = outcome.get("frozen")
    facts = given.get("facts")
    if facts and (facts["in_conversation"] or facts.get("conversation")):
        await _open_turn(ctx, facts, given["frozen"], outcome, version)
    return outcome


def last_events(
    given: WaitingInput, at: float, log: Sequence[Mapping[str, Any]], begun: Set[str]
) -> list[dict[str, Json]]:
    """Return the end of the call of a run that ended without its loop, if it ran then: of unknown outcome.

    `begun` are the operations that began what must not happen twice.
    """
    asked = sum(event.get("type") == "tool_end" and event["status"] == "suspended" for event in log)
    if f"{RESUME}:{asked + 1}" not in begun:
        return []
    return _ended(given["frozen"], "unknown", UNKNOWN, at)["events"]


def _without_result(
    frozen: Frozen, error: ActivityFailed | PayloadTooLargeError, now: float, version: int
) -> Outcome:
    """Return the outcome of a call whose execution has no result."""
    if isinstance(error, ActivityFailed) and error.kind == OUTCOME_UNKNOWN:
        return _ended(frozen, "unknown" if version >= TELLING else "pending", UNKNOWN, now)
    why = f"it gave no result: {error.message}"
    return _ended(frozen, "error", {"error": why}, now, error=why)


def _ended(frozen: Frozen, status: Any, result: dict[str, Json], now: float, *, error: str = "") -> Outcome:
    """Return the outcome of a call that is not executed."""
    ended = as_json(ToolEnd(tool=frozen["tool"], status=status, result=result, error=error))
    meta = frozen["meta"]
    ids = {name: meta[name] for name in ("run_id", "session_id", "turn_id", "tool_call_id")}
    ids["agent_id"] = meta.get("agent", "")
    return {"status": status, "json": to_json(result).decode(), "events": [{**ended, **ids, "time": now}]}


async def answer_to(ctx: RunContext, op: str, frozen: Frozen) -> Signal | None:
    """Wait for the answer to a suspended call and return it; None when nobody gave one in time."""
    # Not until `expires_at`: the clock of the run may be ahead of the host's, which refuses late answers.
    left = max(_SHORTEST_S, frozen["expires_at"] - frozen["created_at"])
    return await ctx.wait(op, answer_name(op), timeout_s=left, about={"frozen": frozen})


def with_answered_id(event: dict[str, Json], id_: str) -> dict[str, Json]:
    """Add the id of the answered frozen call to the `tool_end` event of a call."""
    return {**event, "answered_id": id_} if event["type"] == "tool_end" else event


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
