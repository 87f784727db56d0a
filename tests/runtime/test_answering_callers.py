"""Callers that answer their own call, or make it again after it was answered: who of them cancels it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.runtime.bank import META, Bank
from tests.runtime.test_ledger import YES, named, question_of, served, waits
from toolgen.engines import InProcessEngine
from toolgen.runtime import Runtime, Suspended, ToolResult
from toolgen.stores import StoreError

Call = Callable[[Runtime, Suspended], Awaitable[ToolResult]]


async def answering(runtime: Runtime, asked: Suspended) -> ToolResult:
    return await runtime.suspensions.answer_as_caller(asked.token, YES, session_id="s")


async def making_again(runtime: Runtime, asked: Suspended) -> ToolResult:
    return await runtime.call_once(named("c1"), "pay_approved", {"amount": 5}, META)


async def making_again_detached(runtime: Runtime, asked: Suspended) -> ToolResult:
    return await runtime.suspensions.answer_as_caller(asked.token, YES, is_detached=lambda: True)


async def answering_for_another(runtime: Runtime, asked: Suspended) -> ToolResult:
    return await runtime.suspensions.answer(asked.token, YES)


async def asked_of(runtime: Runtime) -> Suspended:
    return waits(await runtime.call_once(named("c1"), "pay_approved", {"amount": 5}, META))


async def cancelled(call: asyncio.Task[ToolResult]) -> None:
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


def begun(call: Awaitable[ToolResult]) -> asyncio.Task[ToolResult]:
    return asyncio.ensure_future(call)


@pytest.mark.parametrize(
    ("calls", "is_cancelled"),
    [
        ([answering], True),
        ([answering, answering], True),
        ([answering, making_again], True),
        ([answering_for_another, making_again], True),
        ([making_again_detached], False),
        ([answering_for_another], False),
    ],
)
async def test_an_approved_call_is_cancelled_with_the_last_of_its_callers(
    engine: InProcessEngine, calls: list[Call], is_cancelled: bool
) -> None:
    bank = Bank(hold=asyncio.Event())
    runtime = served(bank, engine)
    asked = await asked_of(runtime)
    made = [begun(call(runtime, asked)) for call in calls[:1]]
    await bank.holding.wait()
    made += [begun(call(runtime, asked)) for call in calls[1:]]
    for _ in range(50):
        await asyncio.sleep(0)
    [run] = await engine.list_runs()
    for call in made:
        assert (await engine.status(run.run_id)).state == "running"
        await cancelled(call)
    assert (await engine.status(run.run_id)).state == ("canceled" if is_cancelled else "running")
    assert bank.hold is not None
    bank.hold.set()
    again = await making_again(runtime, asked)
    assert again.status == ("unknown" if is_cancelled else "ok")
    assert bank.paid == [("pay_approved", 5)]


@pytest.mark.parametrize("steps", range(1, 20))
async def test_a_caller_that_is_cancelled_while_its_answer_is_given_cancels_the_call(
    engine: InProcessEngine, steps: int
) -> None:
    """Also where a time limit within the answer ends in the same step."""
    runtime = served(Bank(hold=asyncio.Event()), engine)
    call = begun(answering(runtime, await asked_of(runtime)))
    for _ in range(steps):
        await asyncio.sleep(0)
    await cancelled(call)
    [run] = await engine.list_runs()
    assert (await engine.status(run.run_id)).state == "canceled"


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("again", [answering, making_again])
async def test_an_approved_call_goes_on_for_another_process(tmp_path: Path, first: int, again: Call) -> None:
    """Both have come back after the approval; whichever is cancelled, the other one gets the result."""
    bank, path = Bank(hold=asyncio.Event()), tmp_path / "runs.db"
    engines = InProcessEngine(path), InProcessEngine(path, worker=False)
    async with served(bank, engines[0]) as worker, served(bank, engines[1]) as client, asyncio.timeout(30):
        asked = await asked_of(worker)
        calls = [begun(answering(client, asked))]
        await bank.holding.wait()
        calls.append(begun(again(worker, asked)))
        [run] = await engines[0].list_runs()
        while await engines[0].accepted_answer(run.run_id, "joined:2") is None:  # noqa: ASYNC110  # of another task
            await asyncio.sleep(0.001)
        await cancelled(calls.pop(first))
        assert bank.hold is not None
        bank.hold.set()
        result = await calls[0]
    assert (result.json, bank.paid) == (b'"pay_approved 5"', [("pay_approved", 5)])


@pytest.mark.parametrize("again", [answering, making_again])
async def test_another_process_cancels_what_was_asked_in_one_that_is_gone(
    tmp_path: Path, again: Call
) -> None:
    bank, path = Bank(hold=asyncio.Event()), tmp_path / "runs.db"
    async with served(bank, InProcessEngine(path)) as runtime:
        asked = await asked_of(runtime)
    async with served(bank, InProcessEngine(path)) as runtime, asyncio.timeout(30):
        if again is making_again:
            await runtime.suspensions.answer(asked.token, YES, wait_s=0)
        call = begun(again(runtime, asked))
        await bank.holding.wait()
        for _ in range(50):
            await asyncio.sleep(0)
        await cancelled(call)
        assert (await making_again(runtime, asked)).status == "unknown"


async def test_a_question_stays_open_whose_caller_is_cancelled(engine: InProcessEngine) -> None:
    bank = Bank()
    runtime = served(bank, engine)
    asked = await asked_of(runtime)
    call = begun(making_again(runtime, asked))
    await asyncio.sleep(0)
    await cancelled(call)
    assert [one.id for one in await runtime.suspensions.list()] == [asked.id]


class _Noting(InProcessEngine):
    """Remembers which runs were cancelled."""

    def __init__(self) -> None:
        super().__init__()
        self.cancelled: list[str] = []

    async def cancel(self, run_id: str, *, reason: str = "") -> None:
        self.cancelled.append(run_id)
        await super().cancel(run_id, reason=reason)


@pytest.mark.parametrize("again", [answering, making_again])
def test_the_end_of_the_event_loop_is_no_cancellation_of_an_approved_call(again: Call) -> None:
    bank, engine = Bank(hold=asyncio.Event()), _Noting()

    async def main() -> None:
        runtime = served(bank, engine)
        asked = await asked_of(runtime)
        await runtime.suspensions.answer(asked.token, YES, wait_s=0)
        await bank.holding.wait()
        left.append(begun(again(runtime, asked)))
        for _ in range(50):
            await asyncio.sleep(0)

    left: list[asyncio.Task[ToolResult]] = []
    asyncio.run(main())
    assert left[0].cancelled()
    assert engine.cancelled == []


class _Away(InProcessEngine):
    """An engine whose reads of a status fail when the test says so."""

    is_away = False

    async def status(self, run_id: str) -> object:  # type: ignore[override]  # as it is
        if self.is_away:
            raise StoreError("cannot be read", path=Path("runs.db"), hint="try it again")
        return await super().status(run_id)


async def test_a_read_that_fails_is_raised_and_changes_nothing() -> None:
    bank, engine = Bank(), _Away()
    runtime = served(bank, engine)
    asked = await asked_of(runtime)
    engine.is_away = True
    with pytest.raises(StoreError):
        await question_of(runtime, named("c1"), "pay_approved")
    with pytest.raises(StoreError):
        await making_again(runtime, asked)
    with pytest.raises(StoreError):
        await runtime.call_once(named("c2"), "pay", {"amount": 5}, META)
    engine.is_away = False
    assert await question_of(runtime, named("c1"), "pay_approved") == asked
    assert bank.paid == []
    assert (await answering(runtime, asked)).status == "ok"
