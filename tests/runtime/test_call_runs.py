"""Calls that begin in a run of their own, under an id that their door gives: once, whoever comes again."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from toolgen.calls.call import arguments_json
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.engines import InProcessEngine
from toolgen.events.hub import Events
from toolgen.events.records import Event, ToolEnd
from toolgen.runtime import (
    CallMeta,
    ConfirmSpec,
    DeclaredError,
    Pending,
    Runtime,
    ToolContext,
    ToolError,
    ToolOutcome,
    ToolResult,
    Unfinished,
)
from toolgen.runtime.functions import LongRunningSpec

META = CallMeta(session_id="s", tool_call_id="c")


class Desk:
    """Tools that count how often they run."""

    def __init__(self) -> None:
        self.did: Counter[str] = Counter()
        self.begun = asyncio.Event()
        self.gate = asyncio.Event()

    async def pay(self, amount: int) -> str:
        """Pay."""
        self.did["pay"] += 1
        return f"{amount} paid"

    async def refuse(self) -> str:
        """Refuse."""
        raise ToolError("there is no money")

    async def ask(self, ctx: ToolContext) -> str | Unfinished:
        """Ask for a name."""
        self.did["ask"] += 1
        return f"hello {ctx.answer}" if ctx.answer else ToolOutcome.ask("Which name?")

    async def order(self) -> str | Pending[str]:
        """Order."""
        self.did["order"] += 1
        return ToolOutcome.pending("job-1", "ordered")

    async def hold(self) -> str:
        """Wait for the gate."""
        self.did["hold"] += 1
        self.begun.set()
        await self.gate.wait()
        return "through"


@asynccontextmanager
async def opened(desk: Desk, file: Path | None = None, **options: Any) -> AsyncIterator[Runtime]:
    runtime = Runtime(engine=InProcessEngine(file), **options)
    text = func_tool(desk.refuse, toolset="x.desk").spec.result
    tools = [
        func_tool(desk.pay, toolset="x.desk"),
        func_tool(desk.refuse, toolset="x.desk"),
        func_tool(desk.ask, toolset="x.desk"),
        func_tool(desk.order, toolset="x.desk", long_running=LongRunningSpec(ack=text)),
        func_tool(desk.hold, toolset="x.desk"),
        func_tool(desk.pay, toolset="x.desk", name="pay_asking", confirm=ConfirmSpec(hint="Pay {amount}?")),
    ]
    runtime.tools.register(function_toolset("x.desk", tools))
    async with runtime, asyncio.timeout(30):
        yield runtime


async def execute(
    runtime: Runtime, name: str, arguments: Any = b"{}", run_id: str = "call_1", *, is_detached: bool = False
) -> ToolResult:
    tool = runtime._directory.by_name.get(name)
    assert tool is not None
    payload = arguments_json(arguments)
    return await runtime.assembly.calls.execute(tool, payload, META, run_id, is_detached=is_detached)


async def test_a_call_is_executed_once_for_its_id() -> None:
    desk, told = Desk(), list[Event]()
    hub = Events()
    async with hub.on(told.append), opened(desk, events=hub) as runtime:
        first = await execute(runtime, "pay", {"amount": 5})
        again = await execute(runtime, "pay", {"amount": 5})
        other = await execute(runtime, "pay", {"amount": 5}, "call_2")
    assert (first.status, first.result, again.result, other.result) == ("ok", "5 paid", "5 paid", "5 paid")
    assert (again.status, again.json) == ("ok", first.json)
    assert desk.did == {"pay": 2}
    assert Counter(event.type for event in told) == {"tool_start": 2, "tool_end": 2}


async def test_a_detached_call_that_goes_on_is_joined_and_outlives_its_caller() -> None:
    desk = Desk()
    async with opened(desk) as runtime:
        callers = [asyncio.create_task(execute(runtime, "hold", is_detached=True)) for _ in range(3)]
        await desk.begun.wait()
        callers[0].cancel()
        desk.gate.set()
        ended = await asyncio.gather(*callers, return_exceptions=True)
    assert isinstance(ended[0], asyncio.CancelledError)
    assert [one.status for one in ended[1:] if isinstance(one, ToolResult)] == ["ok", "ok"]
    assert desk.did == {"hold": 1}


async def test_a_call_that_asks_is_suspended_for_whoever_joins_it() -> None:
    desk = Desk()
    async with opened(desk) as runtime:
        cases: list[tuple[str, Any, Any, str]] = [
            ("ask", {}, "Bo", "hello Bo"),
            ("pay_asking", {"amount": 7}, {"approved": True}, "7 paid"),
        ]
        for name, arguments, answer, result in cases:
            first = await execute(runtime, name, arguments, f"call_{name}")
            again = await execute(runtime, name, arguments, f"call_{name}")
            assert (first.status, first.suspensions) == ("suspended", again.suspensions)
            assert first.suspension is not None
            ended = await runtime.suspensions.answer(first.suspension.token, answer)
            after = await execute(runtime, name, arguments, f"call_{name}")
            assert (ended.status, ended.result) == ("ok", result)
            assert (after.status, after.json, after.suspensions) == ("ok", ended.json, ())
    assert desk.did == {"ask": 2, "pay": 1}


async def test_work_that_was_acknowledged_is_pending_for_whoever_joins_it() -> None:
    desk = Desk()
    async with opened(desk) as runtime:
        first = await execute(runtime, "order")
        again = await execute(runtime, "order")
        assert (first.status, first.json, again.json) == ("pending", b'"ordered"', b'"ordered"')
        assert first.suspension is not None
        assert first.suspensions == again.suspensions
        await runtime.suspensions.answer(first.suspension.token, "here it is")
        assert (await execute(runtime, "order")).json == b'"here it is"'
    assert desk.did == {"order": 1}


async def test_a_failure_is_kept_like_a_result() -> None:
    desk = Desk()
    async with opened(desk) as runtime:
        first, again = await execute(runtime, "refuse"), await execute(runtime, "refuse")
        wrong = await execute(runtime, "pay", b'{"amount": "x"}', "call_2")
        kept = await execute(runtime, "pay", b'{"amount": "x"}', "call_2")
    assert (first.status, first.json, again.json) == ("error", b'{"error":"there is no money"}', first.json)
    assert again.error is not None
    assert not isinstance(again.error, DeclaredError)
    assert again.error.message == "there is no money"
    assert wrong.retry_hint is not None
    assert kept.retry_hint == wrong.retry_hint
    assert kept.json == wrong.json
    assert not desk.did


async def test_what_had_begun_when_its_process_ended_is_unknown(tmp_path: Path) -> None:
    desk = Desk()
    async with opened(desk, tmp_path / "runs.db") as runtime:
        caller = asyncio.create_task(execute(runtime, "hold"))
        await desk.begun.wait()
        caller.cancel()
    async with opened(desk, tmp_path / "runs.db") as runtime:
        joined = await execute(runtime, "hold")
        assert (joined.status, joined.retry_hint) == ("unknown", None)
        log = await runtime.runs.events("call_1")
        assert [event.status for event in log if isinstance(event, ToolEnd)] == ["unknown"]
        assert await runtime.runs.events("call_1", after=1) == log[1:]
        assert [(event.run_id, event.seq) for event in log] == [
            ("call_1", seq) for seq in range(1, len(log) + 1)
        ]
    assert desk.did == {"hold": 1}


async def test_a_canceled_run_has_the_result_of_its_log() -> None:
    desk = Desk()
    async with opened(desk) as runtime:
        caller = asyncio.create_task(execute(runtime, "hold"))
        await desk.begun.wait()
        await runtime.runs.cancel("call_1", "enough")
        assert (await caller).status == "unknown"
