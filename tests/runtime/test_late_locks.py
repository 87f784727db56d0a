"""The lock of a call whose executor runs on after its end: it is held until the executor has ended."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from tests.runtime.clock import HOUR, LoopClock
from tests.virtual_time import VirtualTimeLoop
from toolgen.calls.errors import StuckLockError
from toolgen.calls.functions.tools import func_tool
from toolgen.contract.tasks import GRACE_S
from toolgen.runtime import BusyError, DeadlockError, Runtime, Scheduling, StaticToolset

from .crowds import is_idle

LATE_S = 60.0
"""For which calls wait for an executor that outlives its call."""
in_virtual_time = pytest.mark.asyncio(loop_factories=["virtual"])


class Account:
    """One account, whose payments are told as they begin and end."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.may_end = asyncio.Event()
        """Of payments that ignore their cancellation."""
        self.then: Callable[[], Any] | None = None
        """What a payment that was cancelled does before it ends."""

    async def pay(self, account: str, order: str) -> str:
        """Pay."""
        self.log.append(f"{order} begins")
        if order == "slow":
            while not self.may_end.is_set():
                try:
                    await self.may_end.wait()
                except asyncio.CancelledError:
                    if self.then is not None:
                        self.log.append(await self.then())
        self.log.append(f"{order} ends")
        return order


def serving(function: Callable[..., Any], **options: Any) -> Runtime:
    """Return a runtime with a sequential tool whose time is an hour."""
    host = Runtime(**options)
    tool = func_tool(function, toolset="x.tools", is_sequential=True, sequential_by="account", timeout=HOUR)
    host.tools.register(StaticToolset(name="x.tools", bound=(tool,)))
    return host


def paying(host: Runtime, order: str, account: str = "a") -> asyncio.Task[Any]:
    return asyncio.create_task(host.call("pay", {"account": account, "order": order}))


@in_virtual_time
async def test_no_call_runs_beside_a_task_that_ignores_its_cancellation() -> None:
    """Calls of other keys do; who waits goes on once the task has ended."""
    account = Account()
    host = serving(account.pay)
    slow, following = paying(host, "slow"), paying(host, "next")
    assert "did not respond within" in str((await slow).error)
    assert (await paying(host, "other", account="b")).status == "ok"
    await asyncio.sleep(LATE_S - 1)
    assert account.log == ["slow begins", "other begins", "other ends"]
    assert not following.done()
    account.may_end.set()
    assert (await following).status == "ok"
    assert account.log[3:] == ["slow ends", "next begins", "next ends"]
    assert is_idle(host)


@in_virtual_time
async def test_no_call_runs_beside_one_whose_caller_was_cancelled() -> None:
    account = Account()
    host = serving(account.pay)
    slow = paying(host, "slow")
    await asyncio.sleep(1)
    slow.cancel()
    following = paying(host, "next")
    await asyncio.sleep(GRACE_S + 1)
    assert slow.cancelled()
    assert account.log == ["slow begins"]
    account.may_end.set()
    await following
    assert account.log == ["slow begins", "slow ends", "next begins", "next ends"]
    assert is_idle(host)


@pytest.mark.asyncio(loop_factories=["real"])
@pytest.mark.parametrize("is_cancelled", [False, True])
async def test_no_call_runs_beside_a_thread_whose_call_is_over(is_cancelled: bool) -> None:
    """Its place is given back, and other calls get a thread."""
    log, began, may_end = list[str](), asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def pay(account: str, order: str) -> str:
        """Pay."""
        log.append(f"{order} begins")
        if order == "slow":
            loop.call_soon_threadsafe(began.set)
            may_end.wait()
        log.append(f"{order} ends")
        return order

    host = serving(pay, scheduling=Scheduling(max_threads=1))
    async with LoopClock() as clock:
        try:
            slow = paying(host, "slow")
            await began.wait()
            if is_cancelled:
                slow.cancel()
            else:
                await clock.advance(HOUR)
            await asyncio.wait({slow})
            assert slow.cancelled() == is_cancelled
            following = paying(host, "next")
            assert (await paying(host, "other", account="b")).status == "ok"
            assert log == ["slow begins", "other begins", "other ends"]
        finally:
            may_end.set()
        assert (await following).status == "ok"
    assert log[3:] == ["slow ends", "next begins", "next ends"]
    assert is_idle(host)
    await host.aclose()


@in_virtual_time
async def test_nobody_waits_for_long_for_an_executor_that_may_never_end() -> None:
    """Who waits, and who comes later, is told so and has not begun; calls of other keys run."""
    account = Account()
    host = serving(account.pay)
    slow, first = paying(host, "slow"), paying(host, "first")
    await slow
    async with asyncio.timeout(LATE_S + 1):
        refused = [await first, await paying(host, "second")]
    text = (
        "pay was not run: the executor of pay is still running after its call ended, and sequential "
        "calls that need its lock cannot run until it returns"
    )
    assert [(type(one.error), str(one.error)) for one in refused] == [(StuckLockError, text)] * 2
    assert (await paying(host, "other", account="b")).status == "ok"
    account.may_end.set()
    await asyncio.sleep(1)
    assert (await paying(host, "last")).status == "ok"
    assert account.log == [
        "slow begins", "other begins", "other ends", "slow ends", "last begins", "last ends"
    ]  # fmt: skip
    assert is_idle(host)


@in_virtual_time
async def test_a_late_executor_enters_its_own_lock() -> None:
    """Else it would wait for itself."""
    account = Account()

    async def pay_the_fee() -> str:
        account.may_end.set()
        result = await host.call("pay", {"account": "a", "order": "fee"})
        return str(result.result)

    account.then = pay_the_fee
    host = serving(account.pay)
    slow, following = paying(host, "slow"), paying(host, "next")
    async with asyncio.timeout(3 * HOUR):
        await asyncio.gather(slow, following)
    assert account.log == [
        "slow begins", "fee begins", "fee ends", "fee", "slow ends", "next begins", "next ends"
    ]  # fmt: skip
    assert is_idle(host)


@in_virtual_time
async def test_a_late_executor_and_a_call_that_wait_for_each_other_are_refused() -> None:
    """One of two whose locks the other one holds, though the call of one of them is over."""

    async def pay(account: str, order: str) -> str:
        """Pay, and from another account."""
        if not order:
            return "done"
        wanted = asyncio.create_task(asyncio.sleep(20 if order == "b" else HOUR + 40))
        while not wanted.done():
            with suppress(asyncio.CancelledError):
                await asyncio.shield(wanted)
        result = await host.call("pay", {"account": order, "order": ""})
        errors.put_nowait(result.error)
        return str(result.status)

    errors = asyncio.Queue[object]()
    host = serving(pay)
    late = asyncio.create_task(host.call("pay", {"account": "b", "order": "a"}))
    await asyncio.sleep(HOUR + 10)
    assert late.done()
    other = asyncio.create_task(host.call("pay", {"account": "a", "order": "b"}))
    async with asyncio.timeout(3 * HOUR):
        await other
        said = [await errors.get(), await errors.get()]
    assert [type(error) for error in said if error is not None] == [DeadlockError]
    assert is_idle(host)


@in_virtual_time
async def test_who_waits_for_a_late_executor_counts_in_the_queue_and_may_give_up() -> None:
    account = Account()
    host = serving(account.pay, scheduling=Scheduling(max_queued=2))
    await paying(host, "slow")
    first = paying(host, "first")
    second = paying(host, "second")
    await asyncio.sleep(1)
    assert isinstance((await paying(host, "third")).error, BusyError)
    first.cancel()
    await asyncio.wait({first})
    account.may_end.set()
    assert (await second).status == "ok"
    assert account.log == ["slow begins", "slow ends", "second begins", "second ends"]
    assert is_idle(host)


@in_virtual_time
async def test_a_late_executor_does_not_keep_its_runtime_from_closing() -> None:
    account = Account()
    async with asyncio.timeout(3 * HOUR):
        async with serving(account.pay) as host:
            await paying(host, "slow")
    account.may_end.set()


def test_a_late_executor_does_not_keep_its_runtime_from_another_event_loop() -> None:
    """Its lock is one of its own loop, which need not be closed."""

    async def pay(order: str) -> str:
        return str((await paying(host, order)).status)

    async def end() -> None:
        account.may_end.set()
        await asyncio.sleep(1)

    account = Account()
    host = serving(account.pay)
    first, second = VirtualTimeLoop(), VirtualTimeLoop()
    try:
        assert first.run_until_complete(pay("slow")) == "unknown"
        assert second.run_until_complete(pay("again")) == "ok"
        first.run_until_complete(end())
        assert first.run_until_complete(pay("last")) == "ok"
    finally:
        first.close()
        second.close()
    assert account.log[-2:] == ["last begins", "last ends"]
    assert is_idle(host)
