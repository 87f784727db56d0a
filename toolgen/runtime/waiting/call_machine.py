"""The machine of a call: it is executed, resumed after each answer, or answered by the run of an agent.

It is pure, and serves the loop of agents and the one of a call by itself. What differs between them, which is
their operation keys, their activities and the documents of their results, is the `CallSteps` of each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, Protocol, TypeVar

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

R = TypeVar("R", bound=Mapping[str, Any])
"""The document of a result; `frozen` is the suspended call in it, `child` the run that is to answer it."""

EXPIRED: Final = "nobody answered in time"
"""The end of the reason why a call was not run."""
UNKNOWN: Final[dict[str, Json]] = {"unknown": "its result was not kept; it may have run"}
"""What is said of a call whose process ended while it ran."""
_SHORTEST_S: Final = 0.1
"""The shortest time to answer, however late the call was frozen."""


class CallSteps(Protocol[R]):
    """The steps of one call in one loop. Each has an operation key by its number, from 1."""

    keeps_work: bool
    """Acknowledged work is waited for here; the run of an agent leaves it to a run of its own."""

    async def publish(self, record: R, number: int, answered: str) -> None:
        """Publish the events of a suspended record; `answered` is the id of the question before it, or ""."""
        ...

    async def child(self, child: Any, number: int) -> R:
        """Run the agent that is to answer the call, and return the record of what it said."""
        ...

    async def answer(self, frozen: Any, number: int) -> R:
        """Wait for the answer to a suspended call, resume it, and return the record."""
        ...


@dataclass(frozen=True, slots=True)
class Ended(Generic[R]):
    """The final record of a call."""

    record: R
    number: int
    """Of the step that gave it; 0 where the call was never suspended."""
    answered: str
    """Id of the question that was answered last; "" where none was asked."""


async def finish(record: R, steps: CallSteps[R]) -> Ended[R]:
    """Return the final record of a call that was executed, after its answers and the runs of agents."""
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


def _is_open(record: Mapping[str, Any], keeps_work: bool) -> bool:
    if record["status"] == "pending":
        return keeps_work and bool(record.get("frozen"))
    return bool(record["status"] == "suspended")


@dataclass(frozen=True, slots=True)
class NoRecord:
    """Why an activity of a call gave no record."""

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


async def answer_to(ctx: RunContext, op: str, frozen: Mapping[str, Any]) -> Signal | None:
    """Wait for the answer to a suspended call and return it; None when nobody gave one in time."""
    # Not until `expires_at`: the clock of the run may be ahead of the host's, which refuses late answers.
    left = max(_SHORTEST_S, frozen["expires_at"] - frozen["created_at"])
    return await ctx.wait(op, answer_name(op), timeout_s=left, about={"frozen": dict(frozen)})


def with_answered_id(event: dict[str, Json], id_: str) -> dict[str, Json]:
    """Add the id of the answered frozen call to the `tool_end` event of a call."""
    return {**event, "answered_id": id_} if event["type"] == "tool_end" else event
