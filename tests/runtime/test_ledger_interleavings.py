"""Random interleavings of named calls, their answers and the ends of processes."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import pytest

from tests.runtime.bank import META, Bank
from tests.selection import first
from toolgen.calls.call import CallName, CallNameError
from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import Json
from toolgen.engines import InProcessEngine
from toolgen.runtime import Runtime, ToolResult
from toolgen.waiting.errors import SuspensionError

TOOLS: Final = ("pay", "pay_approved", "pay_asking", "look")
ONCE: Final = TOOLS[:3]
_STEPS: Final = 60


class Peer:
    """Makes named calls in a random order, over processes that end, and checks each result."""

    def __init__(self, seed: int, file: Path) -> None:
        self.random = random.Random(seed)
        self.file = file
        self.banks = [Bank(turns=5)]
        self.runtime = self._open()
        self.calls = [(tool, 10 * n + place) for place, tool in enumerate(TOOLS) for n in range(1, 4)]
        self.ended: dict[int, tuple[str, bytes]] = {}
        """By amount, which is unique, the result that the peer has read."""
        self.asked: dict[int, str] = {}
        """By amount, the open question."""
        self.answers: Counter[str] = Counter()
        self.going_on: set[asyncio.Task[None]] = set()

    def _open(self) -> Runtime:
        runtime = Runtime(engine=InProcessEngine(self.file))
        runtime.tools.register(self.banks[-1].toolset())
        return runtime

    async def play(self) -> None:
        """Take random steps, and then make each call until it has its result."""
        await self.runtime.__aenter__()
        steps = [self.call] * 5 + [self.answer] * 4 + [self.other]
        for _ in range(_STEPS):
            if self.random.random() < 0.1:
                await self.end()
            self.going_on.add(asyncio.ensure_future(self.within_process(self.random.choice(steps))))
            if self.random.random() < 0.5:
                await self.settle()
        await self.settle()
        while len(self.ended) < len(self.calls):
            for tool, amount in self.calls:
                await self.make(tool, amount)
            await self.answer()
        await self.runtime.aclose()

    async def settle(self) -> None:
        tasks, self.going_on = self.going_on, set()
        await asyncio.gather(*tasks)

    async def within_process(self, step: Callable[[], Awaitable[None]]) -> None:
        """Take a step that the end of its process may end."""
        runtime = self.runtime
        try:
            await step()
        except ToolgenError:
            if runtime is self.runtime:
                raise

    async def call(self) -> None:
        """Make any call."""
        await self.make(*self.random.choice(self.calls))

    async def make(self, tool: str, amount: int) -> None:
        """Make a call, again or for the first time."""
        runtime = self.runtime
        name = CallName(interface="test", call_id=f"c{amount}", is_detached=True)
        result = await runtime.call_once(name, tool, {"amount": amount}, META)
        if runtime is self.runtime:
            self.check(amount, result)

    def check(self, amount: int, result: ToolResult) -> None:
        if result.status == "suspended":
            assert result.suspension is not None
            assert amount not in self.ended, "an ended call asks nothing"
            known = self.asked.setdefault(amount, result.suspension.id)
            if known != result.suspension.id:
                assert self.answers[known] > 0, "a question stays until it is answered"
                self.asked[amount] = result.suspension.id
            return
        assert result.status in ("ok", "denied", "unknown"), result.json
        kept = self.ended.setdefault(amount, (result.status, result.json))
        assert kept == (result.status, result.json), "a result is kept"

    async def answer(self) -> None:
        """Answer an open question, whichever."""
        runtime = self.runtime
        waiting = await runtime.suspensions.list()
        if not waiting:
            return
        asked = self.random.choice(waiting)
        answer: Json = {"approved": self.random.random() < 0.7} if asked.kind == "confirmation" else "here"
        self.answers[asked.id] += 1
        try:
            await runtime.suspensions.answer(asked.token, answer, wait_s=self.random.choice([0, None]))
        except SuspensionError:  # somebody was faster
            return

    async def other(self) -> None:
        """Make a call with the name of another one, which executes nothing."""
        tool, amount = self.random.choice(self.calls)
        runtime, wrong = self.runtime, "pay" if tool != "pay" else "pay_approved"
        name = CallName(interface="test", call_id=f"c{amount}", is_detached=True)
        if amount not in self.ended and amount not in self.asked:
            return
        result = await runtime.call_once(name, wrong, {"amount": amount + 1000}, META)
        if runtime is self.runtime:
            assert isinstance(result.error, CallNameError)

    async def end(self) -> None:
        """End the process, with what executes in it, and begin another one on the same file."""
        await asyncio.sleep(0)  # each step has begun, in this process
        before = self.runtime
        self.banks.append(Bank(turns=self.random.choice([0, 5, 50])))
        self.runtime = self._open()
        await before.aclose()
        await self.settle()
        await self.runtime.__aenter__()


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", first(range(2)))
async def test_each_call_runs_once_at_most_and_is_asked_until_it_is_answered(
    seed: int, tmp_path: Path
) -> None:
    await check_interleaving(seed, tmp_path / "runs.db")


async def check_interleaving(seed: int, file: Path) -> None:
    """Play one random order of steps, and check what was paid."""
    peer = Peer(seed, file)
    async with asyncio.timeout(60):
        await peer.play()
    paid: Counter[Any] = sum((Counter(bank.paid) for bank in peer.banks), Counter())
    for tool, amount in peer.calls:
        status, document = peer.ended[amount]
        times = paid[tool, amount]
        assert times <= 1 or tool not in ONCE
        if status == "ok":
            assert (times >= 1, document) == (True, f'"{tool} {amount}"'.encode())
        if status == "denied":
            assert times == 0
    assert set(paid) <= set(peer.calls)
