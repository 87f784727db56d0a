"""`ctx.idempotency_key`: one for each call, and the same for a call that goes on or is made again."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from toolgen.calls.call import CallName
from toolgen.calls.functions.tools import func_tool
from toolgen.engines import InProcessEngine
from toolgen.runtime import BoundTool, CallMeta, ConfirmSpec, Runtime, StaticToolset, ToolContext, ToolResult

ANN: Final = CallMeta(session_id="s-ann", requested_by="ann")
MIRA: Final = CallMeta(session_id="s-mira", requested_by="mira")
NAME: Final = CallName(interface="langchain", call_id="call_0", checkpoint="thread-1/tools:1")
TOOLS: Final = ("pay", "put", "pay_approved", "put_approved")


class Till:
    """Pays, and keeps the key of each payment."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    async def pay(self, amount: int, ctx: ToolContext) -> str:
        """Pay; never twice."""
        self.keys.append(ctx.idempotency_key)
        return f"paid {amount}"

    async def put(self, amount: int, ctx: ToolContext) -> str:
        """Pay by a service that drops repetitions."""
        return await self.pay(amount, ctx)

    async def pay_approved(self, amount: int, ctx: ToolContext) -> str:
        """Pay after an approval."""
        return await self.pay(amount, ctx)

    async def put_approved(self, amount: int, ctx: ToolContext) -> str:
        """Pay after an approval, by a service that drops repetitions."""
        return await self.pay(amount, ctx)

    def runtime(self, engine: InProcessEngine | None) -> Runtime:
        """Return a runtime with the tools."""
        confirm = ConfirmSpec(hint="Pay {amount}?")
        tools = [
            func_tool(self.pay, toolset="till"),
            _repeatable(func_tool(self.put, toolset="till")),
            func_tool(self.pay_approved, toolset="till", confirm=confirm),
            _repeatable(func_tool(self.put_approved, toolset="till", confirm=confirm)),
        ]
        made = Runtime(engine=engine)
        made.tools.register(StaticToolset(name="till", bound=tuple(tools)))
        return made


def _repeatable(tool: BoundTool) -> BoundTool:
    return replace(tool, spec=replace(tool.spec, annotations={"idempotent": True}))


async def finished(runtime: Runtime, result: ToolResult) -> ToolResult:
    """Return the result of a call after an approval, where it waits for one."""
    if result.suspension is None:
        return result
    return await runtime.suspensions.answer(result.suspension.token, {"approved": True})


@pytest.mark.parametrize("tool", TOOLS)
async def test_calls_of_no_run_have_a_key_each_although_their_ids_are_one(
    engine: InProcessEngine, tool: str
) -> None:
    till = Till()
    runtime = till.runtime(engine)
    for meta in (ANN, MIRA, ANN):
        call = replace(meta, tool_call_id="call_0")
        assert (await finished(runtime, await runtime.call(tool, {"amount": 5}, call))).status == "ok"
    assert len(set(till.keys)) == 3
    assert min(map(len, till.keys)) >= 32


@pytest.mark.parametrize("tool", TOOLS)
async def test_a_named_call_has_the_key_of_its_name(engine: InProcessEngine, tool: str) -> None:
    till = Till()
    runtime = till.runtime(engine)
    names = [
        (NAME, ANN),
        (NAME, MIRA),
        (NAME, replace(ANN, session_id="s-2")),
        (replace(NAME, interface="mcp"), ANN),
        (replace(NAME, call_id="call_1"), ANN),
        (replace(NAME, checkpoint="thread-2/tools:1"), ANN),
    ]
    for name, meta in names:
        call = replace(meta, tool_call_id=name.call_id)
        assert (
            await finished(runtime, await runtime.call_once(name, tool, {"amount": 5}, call))
        ).status == "ok"
    assert len(set(till.keys)) == len(till.keys) == len(names)


async def test_a_named_call_that_may_run_twice_has_its_key_again(engine: InProcessEngine) -> None:
    till = Till()
    runtime = till.runtime(engine)
    for amount in (5, 5, 6, 5):
        result = await runtime.call_once(NAME, "put", {"amount": amount}, ANN)
        assert result.json == f'"paid {amount}"'.encode()
    first, again, other, third = till.keys
    assert first == again == third
    assert other != first


async def test_a_name_counts_for_the_key_where_no_engine_keeps_the_call() -> None:
    till = Till()
    for amount, meta in ((5, ANN), (5, ANN), (5, MIRA), (6, ANN)):
        runtime = till.runtime(None)  # another process
        assert (await runtime.call_once(NAME, "pay", {"amount": amount}, meta)).status == "ok"
    first, again, *others = till.keys
    assert first == again
    assert len({first, *others}) == 3


@pytest.mark.parametrize("tool", ["put", "put_approved"])
async def test_a_call_that_another_process_executes_again_has_its_key(tool: str, tmp_path: Path) -> None:
    begun, gate = asyncio.Event(), asyncio.Event()

    class Cut(Till):
        async def pay(self, amount: int, ctx: ToolContext) -> str:
            """Wait before the end of the first payment."""
            done = await super().pay(amount, ctx)
            begun.set()
            await gate.wait()
            return done

    async def approved(runtime: Runtime, tool: str) -> ToolResult:
        return await finished(runtime, await runtime.call_once(NAME, tool, {"amount": 5}, ANN))

    till = Cut()
    engine = InProcessEngine(tmp_path / "runs.db")
    async with till.runtime(engine) as runtime:
        cut = asyncio.ensure_future(approved(runtime, tool))
        await begun.wait()
        await engine.close()
    cut.cancel()
    gate.set()
    async with till.runtime(InProcessEngine(tmp_path / "runs.db")) as runtime:
        assert (await runtime.call_once(NAME, tool, {"amount": 5}, ANN)).json == b'"paid 5"'
    assert len(till.keys) == 2
    assert len(set(till.keys)) == 1


async def test_a_call_of_a_run_has_the_key_of_the_run_and_its_id(engine: InProcessEngine) -> None:
    till = Till()
    runtime = till.runtime(engine)
    for tool in TOOLS:
        call = replace(ANN, run_id="r-1", tool_call_id=f"c-{tool}")
        await finished(runtime, await runtime.call(tool, {"amount": 5}, call))
    assert till.keys == [f"r-1:c-{tool}" for tool in TOOLS]
