"""Clients of runs who answer right and wrong, late, twice and at once, and speak, pause and cancel."""

from __future__ import annotations

import asyncio
import math
from contextlib import suppress
from random import Random
from typing import Any, Final

from toolgen.agents import RunHandle, RunOutput, agents_of
from toolgen.contract.errors import ToolgenError
from toolgen.runtime import Runtime, Suspended

_MOST_ANSWERS: Final = 40
"""Of one run; then it is canceled."""
_LONGEST_S: Final = 1e8
"""Of virtual time; what takes longer never ends."""
RIGHT: Final[dict[str, tuple[Any, ...]]] = {
    "confirmation": ({"approved": True}, {"approved": True}, {"approved": False, "message": "no"}),
    "credential": ({"available": True}, {"available": False}),
    "pending": ({"version": "2.0.0"}, {"error": "it broke"}),
    "input": ("ann", {"yes": True}, {"yes": False}),
    "clarification": ("this one", 5, {}),
}
WRONG: Final[tuple[Any, ...]] = (
    None, True, {}, [], "", 5, math.nan, "\ud800", {"approved": "yes"}, {"approved": None}, {"yes": 1},
    {"x": "y" * 5_000},
)  # fmt: skip


class Client:
    """Has one run, and does anything with it."""

    def __init__(self, chance: Random, runtime: Runtime, session_id: str) -> None:
        self._chance, self._runtime, self._session = chance, runtime, session_id

    async def drive(self, handle: RunHandle) -> RunOutput:
        """Bring a run to its end and return it, while somebody else meddles.

        Raises:
            TimeoutError: it does not end.
        """
        async with asyncio.timeout(_LONGEST_S):
            meddling = asyncio.create_task(self._meddle(handle))
            for _ in range(_MOST_ANSWERS):
                output = await handle.settled()
                if output.status != "waiting":
                    break
                await self._answer(handle, self._chance.choice(output.awaiting))
            else:
                await handle.cancel("enough")
            output = await handle.result()
            await meddling
        return output

    async def deliver(self, work: Suspended) -> None:
        """Deliver what goes on after its run, maybe twice."""
        for answer in self._chance.sample(RIGHT["pending"], self._chance.randrange(3)):
            with suppress(ToolgenError):
                await self._runtime.suspensions.answer(work.token, answer)

    async def finish(self, asked: Suspended) -> None:
        """End work that goes on by itself: deliver its result, or take it back."""
        with suppress(ToolgenError):
            if self._chance.random() < 0.2:
                await self._runtime.suspensions.cancel(asked.token, "nobody needs it")
            else:
                answer = self._chance.choice(RIGHT["pending"])
                await self._runtime.suspensions.answer(
                    asked.token, answer, wait_s=self._chance.choice((0, 30.0))
                )

    async def _answer(self, handle: RunHandle, asked: Suspended) -> None:
        """Do one thing about what is asked; two at once now and then."""
        times = 2 if self._chance.random() < 0.1 else 1
        steps = [self._step(handle, asked, self._chance.random()) for _ in range(times)]
        await asyncio.gather(*steps)

    async def _step(self, handle: RunHandle, asked: Suspended, kind: float) -> None:
        chance = self._chance
        with suppress(ToolgenError):  # as documented; anything else is a fault
            if kind < 0.03:
                await handle.cancel("enough")
            elif kind < 0.08:
                await self._speak(handle)
            elif asked.kind == "pause":
                await handle.resume(chance.choice(("", "go on")))
            elif kind < 0.13 and asked.token:
                await self._runtime.suspensions.cancel(asked.token, "nobody answers")
            elif kind < 0.25:
                await handle.answer(asked, chance.choice(WRONG))
            elif kind < 0.5 and asked.token:
                session = chance.choice((None, None, self._session, "another"))
                await self._runtime.suspensions.answer(asked.token, self._right(asked), session_id=session)
            else:
                await handle.answer(asked, self._right(asked))

    async def _meddle(self, handle: RunHandle) -> None:
        """Do things at times of its own, whatever the run does then."""
        chance = self._chance
        for _ in range(chance.choice((0, 0, 1, 3))):
            await asyncio.sleep(chance.choice((0, 0.001, 0.01, 1, 100)))
            with suppress(ToolgenError):
                match chance.randrange(5):
                    case 0:
                        await handle.cancel("too late")
                    case 1:
                        await (
                            agents_of(self._runtime)
                            .client("x.top")
                            .start("Me too.", session_id=self._session)
                        )
                    case 2:
                        await self._runtime.suspensions.list(self._session)
                    case _:
                        await self._speak(handle)

    async def _speak(self, handle: RunHandle) -> None:
        match self._chance.randrange(3):
            case 0:
                await handle.interrupt(self._chance.choice(("Hey.", "\ud800")))
            case 1:
                await handle.pause()
            case _:
                await handle.resume()

    def _right(self, asked: Suspended) -> Any:
        return self._chance.choice(RIGHT.get(asked.kind, RIGHT["clarification"]))
