"""What is done in an episode, made of its seed: conversations, their turns, and the calls of each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, TypeAlias

from .tools import DELEGATE, LIMIT_S

Round: TypeAlias = list[tuple[str, dict[str, Any]]]
"""Calls that are made at once: tool and arguments."""
_WEIGHTS: Final = {
    "look_up": 3,
    "put": 3,
    "pay": 4,
    "pay_in_thread": 2,
    "pay_in_turn": 2,
    "hurry": 1,
    "hurry_in_thread": 1,
    "reject": 1,
    "wipe": 3,
    "ask": 3,
    "order": 1,
    "await_delivery": 2,
    DELEGATE: 2,
}
_ASKING: Final = ("wipe", "ask", "await_delivery")
"""Tools that somebody answers before their call ends."""
_HURRIED: Final = ("hurry", "hurry_in_thread")
_BUDGET_S: Final = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What a person says once, and what becomes of it."""

    run_id: str
    message: str
    """The rounds of calls as JSON; the planner does what it says."""
    cancel_after_s: float | None = None
    """Seconds after which the client cancels the run."""
    time_budget_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Turns of one session, one after the other."""

    session: str
    turns: tuple[Turn, ...]
    is_ended: bool = False
    """The client ends the session in the middle of its last turn."""
    calls: Round = field(default_factory=list)
    """Calls that the client makes itself, in a session beside it."""

    @property
    def beside(self) -> str:
        """The session of the calls."""
        return f"{self.session}-direct"


def conversations(seed: int, count: int, turns: int) -> tuple[Conversation, ...]:
    """Return the conversations of an episode."""
    return tuple(_conversation(Random(f"{seed}/{number}"), number, turns) for number in range(count))


def _conversation(chance: Random, number: int, turns: int) -> Conversation:
    made = tuple(_turn(chance, f"r{number}-{turn}") for turn in range(turns))
    calls: Round = [
        (tool, {"name": f"d{number}.{tool}", "ms": chance.randrange(60)})
        for tool in _ASKING
        if chance.random() < 0.3
    ]
    if chance.random() < 0.3:
        asking: Round = [(tool, {"name": f"d{number}.0.{tool}", "ms": 20}) for tool in _ASKING]
        calls.append((DELEGATE, {"rounds": json.dumps([asking])}))
    return Conversation(session=f"s{number}", turns=made, is_ended=chance.random() < 0.1, calls=calls)


def _turn(chance: Random, run_id: str) -> Turn:
    fate = chance.random()
    return Turn(
        run_id=run_id,
        message=json.dumps({"rounds": _rounds(chance, run_id, most=3)}),
        cancel_after_s=chance.uniform(0, 0.3) if fate < 0.12 else None,
        time_budget_s=_BUDGET_S if fate > 0.9 else None,
    )


def _rounds(chance: Random, name: str, most: int) -> list[Round]:
    return [
        [_call(chance, f"{name}.{number}.{one}", most) for one in range(chance.randrange(1, 4))]
        for number in range(chance.randrange(1, most + 1))
    ]


def _call(chance: Random, name: str, most: int) -> tuple[str, dict[str, Any]]:
    tools: Sequence[str] = [tool for tool in _WEIGHTS if tool != DELEGATE or most > 1]
    tool = chance.choices(tools, [_WEIGHTS[tool] for tool in tools])[0]
    if tool == DELEGATE:
        return tool, {"rounds": json.dumps(_rounds(chance, name, most=1))}
    longest = round(2500 * LIMIT_S) if tool in _HURRIED else 60
    return tool, {"name": name, "ms": chance.choice((0, 0, chance.randrange(60), longest))}
