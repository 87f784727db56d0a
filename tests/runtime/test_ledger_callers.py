"""Several callers of one named call: other calls of its name, cancelled callers, results that are lost."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.bank import META, Bank
from tests.runtime.test_ledger import named, served
from tests.selection import first
from toolgen.calls.call import CallNameError
from toolgen.contract.json_value import Json
from toolgen.engines import InProcessEngine, Receipt
from toolgen.runtime import Runtime, Scheduling, ToolResult
from toolgen.stores import StoreLockedError


def begun(*calls: Coroutine[Any, Any, ToolResult]) -> list[asyncio.Task[ToolResult]]:
    return [asyncio.ensure_future(call) for call in calls]


async def cancelled(call: asyncio.Task[ToolResult]) -> None:
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


# Other calls of the name, at the same time.

CALLS = [("pay", 5), ("pay", 6), ("pay_asking", 5), ("pay_approved", 5), ("look", 5), ("look", 6)]


@pytest.mark.parametrize(("first", "second"), first(list(itertools.permutations(CALLS, 2)), 6))
async def test_of_two_calls_of_one_name_at_once_one_is_made(
    engine: InProcessEngine, first: tuple[str, int], second: tuple[str, int]
) -> None:
    """Neither gets the result or the question of the other, and no tool runs for a call of another one."""
    bank = Bank()
    runtime = served(bank, engine)
    made = [first, second]
    results = await asyncio.gather(
        *(runtime.call_once(named("c1"), tool, {"amount": amount}, META) for tool, amount in made)
    )
    refused = [place for place, one in enumerate(results) if isinstance(one.error, CallNameError)]
    assert len(refused) == 1
    [place] = {0, 1} - set(refused)
    (tool, amount), result = made[place], results[place]
    assert result.tool == f"bank.accounts.{tool}"
    if tool == "pay":
        assert (result.json, bank.paid) == (f'"pay {amount}"'.encode(), [("pay", amount)])
    else:
        assert result.suspension is not None
        assert (result.suspension.tool, dict(result.suspension.arguments)) == (
            result.tool,
            {"amount": amount},
        )
        assert bank.paid == []


# Callers that are cancelled.


@pytest.mark.parametrize("first", [0, 1])
async def test_a_call_that_was_joined_goes_on_for_who_still_waits(
    engine: InProcessEngine, first: int
) -> None:
    bank = Bank(hold=asyncio.Event())
    runtime = served(bank, engine)
    calls = begun(*(runtime.call_once(named("c1"), "pay", {"amount": 5}, META) for _ in range(2)))
    await bank.holding.wait()
    await cancelled(calls.pop(first))
    assert bank.hold is not None
    bank.hold.set()
    assert ((await calls[0]).json, bank.paid) == (b'"pay 5"', [("pay", 5)])


@pytest.mark.parametrize("first", [0, 1])
async def test_a_call_for_which_nobody_waits_any_more_is_cancelled(
    engine: InProcessEngine, first: int
) -> None:
    bank = Bank(hold=asyncio.Event())
    runtime = served(bank, engine)
    calls = begun(*(runtime.call_once(named("c1"), "pay", {"amount": 5}, META) for _ in range(2)))
    await bank.holding.wait()
    for call in (calls.pop(first), calls[0]):
        await cancelled(call)
    assert [run.state for run in await engine.list_runs()] == ["canceled"]
    again = await runtime.call_once(named("c1"), "pay", {"amount": 5}, META)
    assert (again.status, bank.paid) == ("unknown", [("pay", 5)])


@pytest.mark.parametrize("comes_again", [False, True])
@pytest.mark.parametrize("creator", [0, 1])
async def test_a_call_that_another_process_has_joined_goes_on(
    tmp_path: Path, creator: int, comes_again: bool
) -> None:
    """Who began it is cancelled, the worker or a client; the other one gets its result, whenever it comes."""
    bank, path = Bank(hold=asyncio.Event()), tmp_path / "runs.db"
    engines = InProcessEngine(path), InProcessEngine(path, worker=False)
    async with served(bank, engines[0]) as worker, served(bank, engines[1]) as client, asyncio.timeout(30):
        runtimes = [worker, client]
        first, other = runtimes.pop(creator), runtimes[0]
        calls = begun(first.call_once(named("c1"), "pay", {"amount": 5}, META))
        await bank.holding.wait()
        calls += begun(other.call_once(named("c1"), "pay", {"amount": 5}, META))
        (run,) = await engines[0].list_runs()
        while await engines[0].accepted_answer(run.run_id, "joined") is None:  # noqa: ASYNC110  # of another task
            await asyncio.sleep(0.001)
        await cancelled(calls[0])
        if comes_again:
            await cancelled(calls[1])
            calls += begun(other.call_once(named("c1"), "pay", {"amount": 5}, META))
        assert bank.hold is not None
        bank.hold.set()
        result = await calls[-1]
    assert (result.json, bank.paid) == (b'"pay 5"', [("pay", 5)])


async def test_a_call_that_was_cancelled_before_it_began_is_made_again(engine: InProcessEngine) -> None:
    """It has no result that could be kept."""
    bank = Bank(hold=asyncio.Event())
    runtime = Runtime(engine=engine, scheduling=Scheduling(max_calls=1))
    runtime.tools.register(bank.toolset())
    [holder] = begun(runtime.call("pay", {"amount": 1}, META))
    await bank.holding.wait()
    [call] = begun(runtime.call_once(named("c1"), "pay", {"amount": 5}, META))
    while not await engine.list_runs():  # noqa: ASYNC110  # of another task
        await asyncio.sleep(0)
    await cancelled(call)
    assert bank.hold is not None
    bank.hold.set()
    await holder
    again = await runtime.call_once(named("c1"), "pay", {"amount": 5}, META)
    assert (again.json, bank.paid) == (b'"pay 5"', [("pay", 1), ("pay", 5)])


async def test_a_call_for_which_there_was_no_room_is_made_again(engine: InProcessEngine) -> None:
    bank = Bank(hold=asyncio.Event())
    runtime = Runtime(engine=engine, scheduling=Scheduling(max_calls=1, max_queued=0))
    runtime.tools.register(bank.toolset())
    [holder] = begun(runtime.call("pay", {"amount": 1}, META))
    await bank.holding.wait()
    for _ in range(2):
        busy = await runtime.call_once(named("c1"), "pay", {"amount": 5}, META)
        assert (busy.status, b'"code":"busy"' in busy.json) == ("error", True)
    assert bank.hold is not None
    bank.hold.set()
    await holder
    results = [await runtime.call_once(named("c1"), "pay", {"amount": 5}, META) for _ in range(2)]
    assert ([one.json for one in results], bank.paid) == ([b'"pay 5"'] * 2, [("pay", 1), ("pay", 5)])


# An engine that fails while a call runs.


@pytest.mark.parametrize(("tool", "status"), [("pay", "unknown")])
async def test_a_call_whose_result_cannot_be_read_is_unknown_where_it_has_begun(
    engine: InProcessEngine, tool: str, status: str
) -> None:
    """The runtime is closed, or its file fails; the executor goes on meanwhile."""
    bank = Bank(hold=asyncio.Event())
    runtime = served(bank, engine)
    [call] = begun(runtime.call_once(replace(named("c1"), is_detached=True), tool, {"amount": 5}, META))
    await bank.holding.wait()
    await engine.close()
    result = await call
    assert (result.status, result.retry_hint, bank.paid) == (status, None, [("pay", 5)])


class _Unjoined(InProcessEngine):
    """A client that cannot say that it has joined a run."""

    async def answer(self, run_id: str, op: str, payload: Json, *, key: str, session: str = "") -> Receipt:
        raise StoreLockedError("is locked", path=Path("runs.db"), hint="try it again")


async def test_a_call_that_cannot_be_joined_has_no_result(tmp_path: Path) -> None:
    """Another process executes it, and a result would be about the store and not about the call."""
    bank, path = Bank(hold=asyncio.Event()), tmp_path / "runs.db"
    engines = InProcessEngine(path), _Unjoined(path, worker=False)
    async with served(bank, engines[0]) as worker, served(bank, engines[1]) as client, asyncio.timeout(30):
        [call] = begun(worker.call_once(named("c1"), "pay", {"amount": 5}, META))
        await bank.holding.wait()
        with pytest.raises(StoreLockedError):
            await client.call_once(named("c1"), "pay", {"amount": 5}, META)
        assert bank.hold is not None
        bank.hold.set()
        assert ((await call).json, bank.paid) == (b'"pay 5"', [("pay", 5)])


async def test_a_caller_that_is_cancelled_while_the_engine_closes_is_cancelled(
    engine: InProcessEngine,
) -> None:
    bank = Bank(hold=asyncio.Event())
    runtime = served(bank, engine)
    [call] = begun(runtime.call_once(named("c1"), "pay", {"amount": 5}, META))
    await bank.holding.wait()
    closing = asyncio.ensure_future(engine.close())
    await asyncio.sleep(0)
    await cancelled(call)
    await closing
