"""Opens turns of a conversation with later results of its work. Pure, like the loops."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from toolgen.contract.json_value import Json
from toolgen.engines.context import RunContext
from toolgen.engines.errors import PayloadTooLargeError

OPEN_TURN: Final = "open_turn"
"""Activity that starts the turn of a conversation that receives a result of pending work."""
TURN_FREE: Final = "turn_free"
"""Signal that no turn of the conversation is running."""
_FIRST_PAUSE_S: Final = 1.0
_LONGEST_PAUSE_S: Final = 60.0
"""Maximum seconds between two attempts to start the turn while the conversation is busy and no `TURN_FREE`
arrives. The pause starts at `_FIRST_PAUSE_S` and doubles."""


def in_conversation(facts: Mapping[str, object] | None) -> bool:
    """Return whether results of work go to the conversation of the run that made the call."""
    return bool(facts and (facts["in_conversation"] or facts.get("conversation")))


async def nothing() -> None:
    """Do nothing: results of a call outside a conversation open no turn."""


async def open_turn(ctx: RunContext, op: str, argument: dict[str, Any]) -> None:
    """Start a turn of the conversation with a result, as soon as no other turn is running.

    The end of the other turn sends `TURN_FREE`; if it is in another process, a pause ends the wait.
    """
    pause, number = _FIRST_PAUSE_S, 0
    prefix = "pause" if op == OPEN_TURN else f"pause:{op}"
    while True:
        try:
            state = await ctx.start(f"{op}:{number}", OPEN_TURN, argument)
        except PayloadTooLargeError as error:  # only here are the result and the call in one argument
            if "outcome" not in argument:  # an intermediate result, which is already in the log
                return
            argument = {**argument, "outcome": _without_result_text(argument["outcome"], error)}
            state = await ctx.start(f"{op}:{number}", OPEN_TURN, argument)
        if state != "busy":
            return
        await ctx.wait(f"{prefix}:{number}", TURN_FREE, timeout_s=pause)
        pause, number = min(pause * 2, _LONGEST_PAUSE_S), number + 1


def _without_result_text(outcome: Mapping[str, Json], error: PayloadTooLargeError) -> Json:
    """Return an outcome that states why its result was omitted."""
    result: Json = {"error": f"its result was omitted: {error.message}"}
    names = ("tool", "tool_call_id", "status")
    return {**{name: outcome[name] for name in names}, "result": result, "events": []}
