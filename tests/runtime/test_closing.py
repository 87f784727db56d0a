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

from tests.agents.tools import agent
from tests.runtime.bank import META, Bank
from toolgen.agents import ScriptedPlanner, agents_of
from toolgen.calls.call import CallName
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.engines import EngineClosedError, InProcessEngine
from toolgen.runtime import Runtime, RuntimeClosedError, ToolCall, ToolContext, ToolResult
from toolgen.waiting.call_runs import CLOSING_S

NAME: Final = CallName(interface="test", call_id="c1")
YES: Final[Any] = {"approved": True}
HOWS: Final = ("waits", "left", "delivered")
pytestmark = pytest.mark.asyncio(loop_factories=["virtual"])


def served(bank: Bank, engine: InProcessEngine) -> Runtime:
    runtime = Runtime(engine=engine)
    runtime.tools.register(bank.toolset())
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
        assert (await runtime.suspensions.answer(asked.token, YES, wait_s=0)).status == "running"
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
    assert "was cut off; its outcome is unknown" in caplog.text
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


class FailingEngine(InProcessEngine):
    """An engine of a host that cannot be closed."""

    async def close(self) -> None:
        await super().close()
        raise ConnectionError("the server does not answer")


class Connection:
    """A toolset that has to be closed."""

    is_open = False

    def __init__(self, name: str) -> None:
        self.name = name

    async def __aenter__(self) -> Connection:
        self.is_open = True
        return self

    async def __aexit__(self, *args: object) -> None:
        self.is_open = False

    async def tools(self, context: object) -> tuple[()]:
        return ()


async def test_every_part_is_closed_though_one_cannot_be() -> None:
    runtime = Runtime(engine=FailingEngine())
    connections = Connection("x.host"), Connection("x.of_agent")
    runtime.tools.add_toolset(connections[0])
    agents_of(runtime).register(agent("x.agent", ScriptedPlanner([]), dynamic=(connections[1],)))
    with pytest.raises(ConnectionError):
        async with runtime:
            assert all(one.is_open for one in connections)
    assert not any(one.is_open for one in connections)


async def test_what_a_drained_engine_never_begins_keeps_nobody_waiting(engine: InProcessEngine) -> None:
    bank, loop = Bank(), asyncio.get_running_loop()
    async with served(bank, engine) as runtime:
        assert await engine.drain(1)
        made = asyncio.ensure_future(runtime.call_once(NAME, "pay", {"amount": 5}, META))
        await asyncio.sleep(1)
        closes = loop.time()
    assert loop.time() - closes < 1
    assert (await made).status == "unknown"
    assert bank.paid == []


async def test_no_call_begins_while_a_runtime_is_closed_or_after(engine: InProcessEngine) -> None:
    """Such a call was cut off, and one that came after the end of the engine started it again."""
    bank = Bank(hold=asyncio.Event())
    runtime = served(bank, engine)
    await runtime.__aenter__()
    asked = (
        await runtime.call_once(replace(NAME, call_id="c2"), "pay_approved", {"amount": 6}, META)
    ).suspension
    assert asked is not None
    made = await begun(runtime, bank, "waits")
    closes = asyncio.ensure_future(runtime.aclose())
    await asyncio.sleep(1)
    calls = [ToolCall(tool="read", payload_json=b'{"amount": 7}', meta=META)] * 2
    for refused in (await runtime.call("read", {"amount": 7}, META), *await runtime.call_all(calls)):
        assert isinstance(refused.error, RuntimeClosedError)
        assert b'"code":"closed"' in refused.json
    for is_over in (False, True):
        if is_over:
            assert bank.hold is not None
            bank.hold.set()
            await closes
        for tool in ("pay", "read"):
            named = await runtime.call_once(replace(NAME, call_id="c3"), tool, {"amount": 7}, META)
            assert isinstance(named.error, RuntimeClosedError)
        asking = await runtime.call("pay_approved", {"amount": 7}, META)
        assert isinstance(asking.error, RuntimeClosedError)
        with pytest.raises(EngineClosedError):
            await runtime.suspensions.answer(asked.token, YES)
    assert bank.paid == [("pay", 5)]
    assert not engine.is_worker
    assert made is not None
    assert (await made).status == "ok"
    async with runtime:
        assert (await runtime.call("read", {"amount": 7}, META)).status == "ok"


async def test_a_call_that_runs_while_its_runtime_is_closed_makes_further_calls(
    engine: InProcessEngine,
) -> None:
    gate = asyncio.Event()

    async def outer(ctx: ToolContext) -> str:
        """Call another tool."""
        await gate.wait()
        by_name = await runtime.call_once(replace(NAME, call_id="c2"), "inner", {}, META)
        (together,) = await runtime.call_all([ToolCall(tool="inner", payload_json=b"{}")])
        return f"{(await runtime.call('inner', {})).result} {together.result} {by_name.result}"

    async def inner() -> str:
        """Do the work."""
        return "done"

    runtime = Runtime(engine=engine)
    runtime.tools.register(function_toolset("x.t", [func_tool(one, toolset="x.t") for one in (outer, inner)]))
    async with runtime:
        made = asyncio.ensure_future(runtime.call_once(NAME, "outer", {}, META))
        await asyncio.sleep(1)
        asyncio.get_running_loop().call_later(1, gate.set)
    assert (await made).result == "done done done"
