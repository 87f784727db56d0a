"""Direct calls that are executed when their runtime is closed have some time to end."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from tests.runtime.bank import META, Bank
from toolgen.engines import InProcessEngine
from toolgen.runtime import Runtime, ToolResult
from toolgen.runtime.waiting.call_names import CallName
from toolgen.runtime.waiting.closing import CLOSING_S

NAME: Final = CallName(door="test", call_id="c1")
YES: Final[Any] = {"approved": True}
HOWS: Final = ("waits", "left", "delivered")
pytestmark = pytest.mark.asyncio(loop_factories=["virtual"])


def served(bank: Bank, engine: InProcessEngine) -> Runtime:
    runtime = Runtime(engine=engine)
    runtime.register(bank.toolset())
    return runtime


async def begun(runtime: Runtime, bank: Bank, how: str) -> asyncio.Task[ToolResult] | None:
    """Begin a payment: its caller waits, is gone, or has only handed over the approval of it."""
    tool = "pay_approved" if how == "delivered" else "pay"
    made = asyncio.ensure_future(
        runtime.call_once(replace(NAME, is_detached=how == "left"), tool, {"amount": 5}, META)
    )
    if how == "delivered":
        asked = (await made).suspension
        assert asked is not None
        assert (await runtime.deliver(asked.token, YES, wait_s=0)).status == "pending"
    await bank.holding.wait()
    if how == "left":
        made.cancel()
    return made if how == "waits" else None


async def later(bank: Bank, engine: InProcessEngine, how: str) -> ToolResult:
    """Return the result of the call in the next process."""
    tool = "pay_approved" if how == "delivered" else "pay"
    runtime = served(bank, engine)
    result = await runtime.call_once(NAME, tool, {"amount": 5}, META)
    await engine.close()
    return result


@pytest.mark.parametrize("how", HOWS)
async def test_a_call_that_ends_in_time_has_its_result(tmp_path: Any, how: str) -> None:
    bank = Bank(hold=asyncio.Event())
    assert bank.hold is not None
    async with served(bank, InProcessEngine(tmp_path / "runs.db")) as runtime:
        made = await begun(runtime, bank, how)
        asyncio.get_running_loop().call_later(CLOSING_S - 1, bank.hold.set)
    if made is not None:
        assert (await made).status == "ok"
    assert (await later(bank, InProcessEngine(tmp_path / "runs.db"), how)).status == "ok"
    assert len(bank.paid) == 1


@pytest.mark.parametrize("how", HOWS)
async def test_a_call_that_does_not_is_cut_off(
    tmp_path: Any, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    bank, loop = Bank(hold=asyncio.Event()), asyncio.get_running_loop()
    async with served(bank, InProcessEngine(tmp_path / "runs.db")) as runtime:
        made = await begun(runtime, bank, how)
        closes = loop.time()
    assert CLOSING_S <= loop.time() - closes <= CLOSING_S + 2
    if made is not None:
        assert (await made).status == "unknown"
    assert (await later(bank, InProcessEngine(tmp_path / "runs.db"), how)).status == "unknown"
    assert len(bank.paid) == 1
    assert "is cut off; its outcome is unknown" in caplog.text
    assert [one for one in caplog.records if one.exc_info or one.levelno > logging.WARNING] == []


async def test_what_waits_or_has_no_run_keeps_nobody_waiting(engine: InProcessEngine) -> None:
    bank, loop = Bank(hold=asyncio.Event()), asyncio.get_running_loop()
    async with served(bank, engine) as runtime:
        await runtime.call_once(NAME, "pay_approved", {"amount": 5}, META)
        plain = asyncio.ensure_future(runtime.call("pay", {"amount": 5}, META))
        await bank.holding.wait()
        closes = loop.time()
    assert loop.time() - closes < CLOSING_S
    plain.cancel()


@pytest.mark.asyncio(loop_factories=["real"])  # of files, whose connections are closed in threads
async def test_a_file_that_cannot_be_used_is_closed_all_the_same(tmp_path: Path) -> None:
    engine = InProcessEngine(tmp_path / "runs.db")
    runtime = served(Bank(), engine)
    await runtime.__aenter__()
    with closing(sqlite3.connect(tmp_path / "runs.db")) as other:
        other.execute("DROP TABLE run")
    await runtime.aclose()
    assert not engine.is_worker


async def test_who_is_cancelled_while_calls_end_closes_the_engine(engine: InProcessEngine) -> None:
    bank = Bank(hold=asyncio.Event())
    runtime = served(bank, engine)
    made = await begun(runtime, bank, "waits")
    closes = asyncio.ensure_future(runtime.aclose())
    await asyncio.sleep(CLOSING_S / 2)
    closes.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closes
    assert not engine.is_worker
    assert made is not None
    assert (await made).status == "unknown"
