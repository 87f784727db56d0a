"""A call that a person has approved, in every framework: stopped, slow, made again, while a store is away."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from tests.virtual_time import in_virtual_time
from toolgen.engines import InProcessEngine, RunStatus, WaitStatus
from toolgen.runtime import Runtime
from toolgen.stores import StoreError

from .approvals import FRAMEWORKS
from .bank import Bank
from .with_langgraph import GRAPHS, answered, begin, interruptions, payments, resumed

PAYMENT: Final[Mapping[str, Any]] = {"to": "baker", "amount": 3}
in_each_framework = pytest.mark.parametrize("framework", FRAMEWORKS)
KEEPS_CALLS: Final = [name for name in FRAMEWORKS if not name.startswith("FastMCP")]
"""The frameworks that make a call again under its id; a client of MCP makes another one."""


class Held(Bank):
    """Pays after an hour, or when the test lets it."""

    def __init__(self) -> None:
        super().__init__()
        self.began = asyncio.Event()
        self.cancelled = asyncio.Event()

    async def pay(self, to: str, amount: int) -> str:
        """Pay."""
        self.began.set()
        try:
            await asyncio.sleep(3_600)
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return await super().pay(to, amount)


@in_each_framework
@in_virtual_time
async def test_a_run_that_is_cancelled_cancels_the_call_that_was_approved(framework: str) -> None:
    bank = Held()
    async with Runtime(engine=InProcessEngine()) as runtime, asyncio.timeout(60):
        resume = await FRAMEWORKS[framework](await bank.offered(runtime), PAYMENT)
        run = asyncio.ensure_future(resume())
        await bank.began.wait()
        run.cancel()
        await asyncio.wait([run])
        await bank.cancelled.wait()
        if framework in KEEPS_CALLS and framework != "LangGraph":
            assert "may have run" in await resume()
        assert await runtime.suspensions.list() == ()
    assert bank.paid == []


@pytest.mark.parametrize("kind", GRAPHS)
@in_virtual_time
async def test_a_run_is_cancelled_in_which_another_call_still_asks(kind: str) -> None:
    """The question of a call beside the approved one interrupts no task but its own."""
    bank = Held()
    async with Runtime(engine=InProcessEngine()) as runtime, asyncio.timeout(60):
        snapshot = await bank.offered(runtime)
        graph = GRAPHS[kind](snapshot, InMemorySaver(), payments(("baker", 3), ("smith", 4)))
        [first, _] = interruptions(await begin(graph))
        run = asyncio.ensure_future(resumed(graph, {first.id: answered(first.value, {"approved": True})}))
        await bank.began.wait()
        for _ in range(100):  # until the other call has asked again
            await asyncio.sleep(0)
        run.cancel()
        await asyncio.wait([run])
        await bank.cancelled.wait()
    assert bank.paid == []


@in_each_framework
@in_virtual_time
async def test_an_approved_call_takes_as_long_as_it_takes(framework: str) -> None:
    bank = Held()
    async with Runtime(engine=InProcessEngine()) as runtime:
        resume = await FRAMEWORKS[framework](await bank.offered(runtime), PAYMENT)
        assert "3 paid to baker" in await resume()
    assert bank.paid == [("baker", 3)]


@in_each_framework
async def test_an_id_that_a_model_gives_again_in_another_turn_is_another_call(framework: str) -> None:
    bank = Bank()
    async with Runtime(engine=InProcessEngine()) as runtime:
        snapshot = await bank.offered(runtime)
        for amount in (3, 3, 7):
            resume = await FRAMEWORKS[framework](snapshot, {"to": "baker", "amount": amount})
            assert f"{amount} paid to baker" in await resume()
    assert bank.paid == [("baker", 3), ("baker", 3), ("baker", 7)]


@pytest.mark.parametrize("framework", KEEPS_CALLS)
async def test_a_run_that_is_resumed_twice_executes_the_approved_call_once(framework: str) -> None:
    """Each time from what the framework has kept, as after a second click or in another process."""
    bank = Bank()
    async with Runtime(engine=InProcessEngine()) as runtime:
        resume = await FRAMEWORKS[framework](await bank.offered(runtime), PAYMENT)
        for _ in range(2):
            assert "3 paid to baker" in await resume()
    assert bank.paid == [("baker", 3)]


class Away(InProcessEngine):
    """An engine one of whose reads fails."""

    def __init__(self, path: Path | None = None) -> None:
        super().__init__(path)
        self.until: int | None = None
        """Reads before the one that fails; None for no failure."""
        self.has_failed = False

    def _read(self) -> None:
        if self.until is not None:
            self.until -= 1
            if self.until < 0:
                self.until, self.has_failed = None, True
                raise StoreError("cannot be read", path=Path("/var/lib/shop/runs.db"), hint="try it again")

    async def status(self, run_id: str) -> RunStatus:
        self._read()
        return await super().status(run_id)

    async def settled(self, run_id: str) -> RunStatus:
        self._read()
        return await super().settled(run_id)

    async def wait_status(self, run_id: str, op: str) -> WaitStatus | None:
        self._read()
        return await super().wait_status(run_id, op)


@in_each_framework
async def test_a_read_that_fails_is_neither_an_answer_nor_a_result(framework: str) -> None:
    """Whichever read it is, of those after the approval: the run raises, and has the result when resumed."""
    before = 0
    while True:
        bank, engine = Bank(), Away()
        async with Runtime(engine=engine) as runtime:
            resume = await FRAMEWORKS[framework](await bank.offered(runtime), PAYMENT)
            engine.until = before
            [text] = await asyncio.gather(resume(), return_exceptions=True)
            if isinstance(text, BaseException):
                assert "cannot be read" in str(causes(text))
                assert framework in KEEPS_CALLS
                text = await resume()
            if framework in KEEPS_CALLS:
                assert "3 paid to baker" in text
                assert bank.paid == [("baker", 3)]
            elif engine.has_failed:
                assert "canceled" not in text
                assert "/var/lib" not in text
        if not engine.has_failed:
            break
        before += 1
    assert before > 0


def causes(error: BaseException) -> list[BaseException]:
    """Return an error and what it was raised for."""
    found = [error]
    while (cause := found[-1].__cause__ or found[-1].__context__) is not None:
        found.append(cause)
    return found
