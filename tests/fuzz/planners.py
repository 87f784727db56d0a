"""A planner that wants anything, and keeps what a model should not have been shown."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Iterator
from random import Random
from typing import Any, Final

from pydantic_core import to_jsonable_python

from tests.agents.tools import is_paired
from tests.fuzz.documents import mangled
from tests.runtime.raising import STANDARD, made
from toolgen.agents import (
    Await,
    CallTools,
    FinalResponse,
    FinalResult,
    HandOver,
    PlanInput,
    PlannedCall,
    PlannerError,
    PlannerUnavailableError,
)

from .tools import FOREVER_S, SECRET, TEXTS

_SPOILED: Final = (
    "", "{", "[]", "null", "5", '{"a": NaN}', '{"a": 1e400}', '{"a": "\ud800"}', '{"a":1,"a":2}', "\ud800",
)  # fmt: skip
"""Arguments that are those of no tool."""
_IDS: Final = ("", "", "", "c1", "c1", "c" * 300, "\ud800", "plan:0")
_NAMES: Final = ("", "no_such_tool", "add ", "\ud800", "n" * 500, "x.tools.add")


class Erratic:
    """A planner that wants anything, and sees what a model would see."""

    def __init__(self, chance: Random, *, is_limited: bool) -> None:
        self._chance, self._is_limited = chance, is_limited
        self.wrong: list[str] = []
        """What it should not have been shown."""
        self._ids: list[str] = []

    async def plan_start(self, given: PlanInput) -> Any:
        chance = self._chance
        self.wrong += wrong_with(given)
        self._ids = [call.id for message in given.messages for call in getattr(message, "calls", ())][-5:]
        await asyncio.sleep(chance.choice((0, 0, 0.002, 1)))
        for _ in range(chance.randrange(3)):
            self._report(given)
        kind = chance.random()
        if kind < 0.04 and self._is_limited:
            await asyncio.sleep(FOREVER_S)
        if kind < 0.06:
            raise made(chance.choice(STANDARD))
        if kind < 0.09:
            after = chance.choice((None, 0, 3.5, -1, math.nan, math.inf, 1e12))
            raise PlannerUnavailableError("busy", retry_after=after, most_attempts=chance.choice((None, 2)))
        if kind < 0.1:
            raise PlannerError("it will not")
        return self._wish(given, kind)

    plan_resume = plan_start

    def _wish(self, given: PlanInput, kind: float) -> Any:
        chance = self._chance
        text = chance.choice(TEXTS)
        if kind < 0.65:
            calls = tuple(self._call(given) for _ in range(chance.randrange(1, 6)))
            return CallTools(calls=calls, text=text, native=chance.choice((None, {"x": math.nan})))
        if kind < 0.74:
            return Await(
                kind=chance.choice(("clarification", "questions", "external", "confirmation")),
                question="Which?",
                schema=chance.choice((None, {"type": "integer"}, {"type": "object"}, {"type": "no"})),
                restrict_to_tool=chance.choice(("", "add", "no")),
            )
        if kind < 0.77:
            return HandOver(agent=chance.choice(("x.low", "x.no")), message=text)
        if kind < 0.8:
            results: list[Any] = ["found", "", 5, None, {"a": math.nan}, [SECRET.upper()], object()]
            return FinalResult(result=chance.choice(results), text=text)
        if kind < 0.83:
            odd: list[Any] = [
                None, "text", 5, CallTools(calls=()), CallTools(calls="add"), FinalResponse(text=None),  # type: ignore[arg-type]
                CallTools(calls=(PlannedCall(name="add", arguments=None),)),  # type: ignore[arg-type]
            ]  # fmt: skip
            return chance.choice(odd)
        return FinalResponse(text=text, is_truncated=chance.random() < 0.2)

    def _call(self, given: PlanInput) -> PlannedCall:
        chance = self._chance
        names = [spec.name for spec in given.tools] or ["add"]
        name = chance.choice(names) if chance.random() < 0.93 else chance.choice(_NAMES)
        arguments = json.dumps(ARGUMENTS.get(name, {}))
        spoiled = chance.random()
        if spoiled < 0.08:
            arguments = chance.choice(_SPOILED)
        elif spoiled < 0.14:
            arguments = mangled(arguments.encode(), chance).decode(errors="replace")
        elif name == "work":
            arguments = json.dumps(
                {"seconds": chance.choice((0, 0.01, 3, FOREVER_S if self._is_limited else 3))}
            )
        return PlannedCall(name=name, arguments=arguments, id=chance.choice((*_IDS, *self._ids)))

    def _report(self, given: PlanInput) -> None:
        chance, reports = self._chance, given.reports
        odd: Any = chance.choice((None, 5, {}, "\udcff"))
        match chance.randrange(6):
            case 0:
                reports.text(chance.choice(TEXTS))
            case 1:
                reports.thought(chance.choice(TEXTS))
            case 2:
                reports.arguments(chance.choice(_IDS), chance.choice(_NAMES), "{")
            case 3:
                reports.usage("m", 1, 1)
            case 4:
                chance.choice((reports.text, reports.thought, reports.restarted))(odd)
            case _:
                reports.restarted("again")


ARGUMENTS: Final[dict[str, Any]] = {
    "add": {"a": 1, "b": 2},
    "work": {"seconds": 0},
    "finish": {"text": "over"},
    "go": {"agent": "x.low"},
    "keep": {"name": "n"},
    "long": {"length": 50},
    "factory_reset": {"device_id": "d"},
    "update_firmware": {"device_id": "d", "version": "1.0.0"},
    "get_time_series": {"device_id": "d", "start": "2026-01-28T00:00:00Z", "end": "2026-01-29T00:00:00Z"},
}


def wrong_with(given: PlanInput) -> Iterator[str]:
    """Yield what a model should not be sent."""
    if not is_paired(given):
        yield f"calls without results: {given.messages}"
    text = json.dumps(to_jsonable_python(list(given.messages)), allow_nan=False)
    text += f"{given.retry_hints}{given.instructions}{given.closing}"
    if "gave no result" in text:
        yield f"a failure of the runtime: {text}"
    if SECRET in text:
        yield f"a secret: {text}"
    ids = [call.id for message in given.messages for call in getattr(message, "calls", ())]
    if len(ids) != len(set(ids)):
        yield f"ids that come twice: {ids}"
