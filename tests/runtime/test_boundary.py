"""Whatever author code raises ends its own call, and nothing else: no task, no thread, no event loop."""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
import logging
from collections.abc import Sequence
from typing import Any

import pytest

from tests.runtime.raising import STANDARD, leaving_nothing, made
from tests.runtime.tools import META, SITE, Listing, much, nothing, runtime, spec
from tests.selection import first
from toolgen.contract.boundary import Contained
from toolgen.events.hub import Events
from toolgen.events.records import ToolEnd
from toolgen.runtime import (
    Allow,
    Answer,
    Continue,
    Hook,
    ToolCall,
)

TOOL = "assistant.devices.list_devices"
CALL = ToolCall(tool=TOOL, payload_json=SITE, meta=META)
MATRIX = list(itertools.product((True, False), (None, 3600.0), (True, False)))
"""Asynchronous or not, with a time limit or none, sequential or not."""


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    """Format no tracebacks: there are thousands."""
    caplog.set_level(logging.CRITICAL)


class Raising:
    """An executor that raises one exception after the other, in the one form or the other."""

    def __init__(self, kinds: Sequence[type[BaseException]], *, is_async: bool) -> None:
        self._left = list(kinds)
        self.list_devices = self._waits if is_async else self._blocks

    def _blocks(self, payload: Any, ctx: Any) -> Any:
        raise made(self._left.pop(0))

    async def _waits(self, payload: Any, ctx: Any) -> Any:
        await asyncio.sleep(0)
        raise made(self._left.pop(0))


@pytest.mark.parametrize(("is_async", "seconds", "is_sequential"), first(MATRIX, 3))
async def test_every_exception_of_a_tool_is_its_result(
    is_async: bool, seconds: float | None, is_sequential: bool
) -> None:
    facts = spec(timeout=seconds, is_sequential=is_sequential)
    async with leaving_nothing(), runtime(Raising(STANDARD, is_async=is_async), facts) as host:
        for kind in STANDARD:
            result = await asyncio.wait_for(host.call(TOOL, SITE, META), 30)
            assert (result.status, b"secret" in result.json) == ("error", False), kind
        assert host.stuck_threads == {}


@pytest.mark.parametrize(("is_async", "seconds", "is_sequential"), first(MATRIX, 2))
async def test_calls_at_once_have_each_its_result(
    is_async: bool, seconds: float | None, is_sequential: bool
) -> None:
    facts = spec(timeout=seconds, is_sequential=is_sequential)
    async with leaving_nothing(), runtime(Raising(STANDARD, is_async=is_async), facts) as host:
        results = await asyncio.wait_for(host.call_all([CALL] * len(STANDARD)), 60)
        assert [result.status for result in results] == ["error"] * len(STANDARD)


async def test_every_exception_is_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """Those too that cannot even say what they are."""
    caplog.set_level(logging.ERROR)
    host = runtime(Raising(STANDARD, is_async=True))
    for kind in STANDARD:
        assert (await host.call(TOOL, SITE, META)).status == "error", kind
    assert caplog.text.count(f"tool {TOOL} failed [") == len(STANDARD)
    assert "StrayExceptionError: it raised SystemExit, which is not an Exception" in caplog.text


@pytest.mark.parametrize(("is_async", "seconds", "is_sequential"), MATRIX)
def test_an_interrupt_is_never_kept_from_the_process(
    is_async: bool, seconds: float | None, is_sequential: bool
) -> None:
    async def main() -> None:
        executor = Raising([KeyboardInterrupt], is_async=is_async)
        await runtime(executor, spec(timeout=seconds, is_sequential=is_sequential)).call(TOOL, SITE, META)

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(main())


class Staged(Hook):
    """A host whose code raises in one of its stages."""

    name = "artifacts"
    fills = frozenset({"session_label"})

    def __init__(self, stage: str) -> None:
        self.stage = stage
        self.raised: BaseException = ValueError()
        self.list_devices = self._in_thread if stage == "open in a thread" else self._execute
        self.preview_list_devices = self._waits if stage == "preview, asynchronous" else self._preview

    def at(self, *stages: str) -> None:
        if self.stage in stages:
            raise self.raised

    async def before_tool(self, call: Any, payload: Any, ctx: Any) -> Any:
        self.at("before_tool")
        return Continue()

    async def after_tool(self, call: Any, result: Any, ctx: Any) -> Any:
        self.at("after_tool")
        return Continue()

    async def on_tool_error(self, call: Any, error: Any, ctx: Any) -> Any:
        self.at("on_tool_error")
        return Continue()

    async def decide(self, call: Any, spec: Any, preview: str) -> Any:
        self.at("decide")
        return Allow()

    def _preview(self, payload: Any) -> str:
        self.at("preview")
        return ""

    async def _waits(self, payload: Any) -> str:
        await asyncio.sleep(0)
        self.at("preview, asynchronous")
        return ""

    async def intercept(self, call: Any, payload: Any) -> None:
        self.at("intercept")
        vars(payload)["session_label"] = "x"

    async def _execute(self, payload: Any, ctx: Any) -> Any:
        if self.stage == "on_tool_error":
            raise ValueError
        ctx.artifacts.use()
        return much()

    def _in_thread(self, payload: Any, ctx: Any) -> Any:
        ctx.artifacts.use()
        return nothing()

    def open(self, call: Any) -> Staged:
        self.at("open", "open in a thread")
        return self

    def use(self) -> None:
        pass

    async def save_overflow(self, document: bytes) -> str:
        self.at("save_overflow")
        return "artifact:x"

    async def close(self, opened: Any) -> None:
        self.at("close")


KEEPING = ("close", "save_overflow")
"""What happens to a result that is there already; it stays, and the log has the failure."""
STAGES = (
    "before_tool", "after_tool", "on_tool_error", "decide", "preview", "preview, asynchronous", "intercept",
    "open", "open in a thread", *KEEPING,
)  # fmt: skip


@pytest.mark.exhaustive
@pytest.mark.parametrize("stage", first(STAGES, 4))
async def test_every_exception_of_the_hosts_own_code_ends_its_call(stage: str) -> None:
    host = Staged(stage)
    facts = spec(max_result_bytes=100) if stage == "save_overflow" else spec()
    injecting = dataclasses.replace(facts, injected=("session_label",))
    made_of = {"hooks": [host], "interceptors": [host], "policy": host, "capabilities": [host]}
    async with leaving_nothing(), runtime(host, injecting, **made_of) as serving:
        for kind in STANDARD:
            host.raised = made(kind)
            for results in ([await serving.call(TOOL, SITE, META)], await serving.call_all([CALL])):
                (result,) = results
                assert result.status == ("ok" if stage in KEEPING else "error"), kind
                assert b"secret" not in result.json


async def test_an_exception_from_a_future_ends_the_call_that_has_a_task_of_its_own() -> None:
    """asyncio throws it into the task, which closes every coroutine on its way."""

    async def awaits(payload: Any, ctx: Any) -> Any:
        broken: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        broken.set_exception(GeneratorExit("secret"))
        await broken

    async with leaving_nothing():
        limited = await runtime(Listing(awaits), spec(timeout=3600.0)).call(TOOL, SITE, META)
        first, second = await runtime(Listing(awaits)).call_all([CALL, CALL])
    assert {one.status for one in (limited, first, second)} == {"error"}


async def test_a_tool_that_cancels_its_own_task_ends_its_call() -> None:
    async def cancels(payload: Any, ctx: Any) -> Any:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)

    events = Events()
    told = events.subscribe(types=["tool_end"])
    async with leaving_nothing():
        limited = await runtime(Listing(cancels), spec(timeout=3600.0)).call(TOOL, SITE, META)
        first, second = await runtime(Listing(cancels), events=events).call_all([CALL, CALL])
    assert {one.status for one in (limited, first, second)} == {"error"}
    events.close()
    assert len([event async for event in told]) == 2


async def test_what_cancels_its_own_task_may_have_run() -> None:
    """A call at once has the result that its end reports."""

    async def cancels(payload: Any, ctx: Any) -> Any:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)

    events = Events()
    told = events.subscribe(types=["tool_end"])
    host = runtime(Listing(cancels), spec(annotations={}), events=events)
    (result,) = await host.call_all([CALL])
    events.close()
    (end,) = [event async for event in told]
    assert isinstance(end, ToolEnd)
    assert result.status == end.status == "unknown"
    assert b"may have run" in result.json


async def test_a_tool_that_cancels_its_own_task_and_returns_has_its_result() -> None:
    """Such a task ends without a result, also where it ends in its first step."""

    async def cancels(payload: Any, ctx: Any) -> Any:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        return nothing()

    async with leaving_nothing():
        limited = await runtime(Listing(cancels), spec(timeout=3600.0)).call(TOOL, SITE, META)
    assert limited.status == "ok"


async def test_the_task_of_an_executor_is_of_the_factory_of_the_host() -> None:
    """Tracers follow tasks so."""

    def factory(loop: asyncio.AbstractEventLoop, work: Any, **options: Any) -> asyncio.Task[Any]:
        task = asyncio.Task(work, loop=loop, **options)
        made.append(task)
        return task

    async def runs(payload: Any, ctx: Any) -> Any:
        ran.append(asyncio.current_task())
        return nothing()

    made, ran = list[Any](), list[Any]()
    asyncio.get_running_loop().set_task_factory(factory)
    await runtime(Listing(runs), spec(timeout=3600.0)).call(TOOL, SITE, META)
    assert made == ran


@pytest.mark.parametrize("seconds", [None, 3600.0])
@pytest.mark.parametrize("group", [False, True])
async def test_the_cancellation_of_the_caller_leaves(seconds: float | None, group: bool) -> None:
    """As it is, and in what a task group of another library makes of it."""
    began = asyncio.Event()

    async def long(payload: Any, ctx: Any) -> Any:
        began.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError as error:
            if group:
                raise BaseExceptionGroup("cancelled", [error, ValueError()]) from None
            raise

    async with leaving_nothing():
        calling_it = asyncio.create_task(runtime(Listing(long), spec(timeout=seconds)).call(TOOL, SITE, META))
        await began.wait()
        calling_it.cancel()
        with pytest.raises(asyncio.CancelledError) as raised:
            await calling_it
    assert raised.value.__cause__ is not raised.value, "whoever follows the causes comes to an end"


async def test_a_call_that_is_closed_runs_nothing_more() -> None:
    """A coroutine that nobody drives to its end is closed by whoever drops it."""

    class Seeing(Hook):
        async def on_tool_error(self, call: Any, error: Any, ctx: Any) -> Any:
            seen.append(error)
            return Answer(result=nothing())

    async def suspends(payload: Any, ctx: Any) -> Any:
        await asyncio.sleep(0)

    seen: list[Any] = []
    call = runtime(Listing(suspends), hooks=[Seeing()]).call(TOOL, SITE, META)
    call.send(None)
    call.close()
    assert seen == []


async def test_an_interrupt_in_a_task_group_leaves_too() -> None:
    with pytest.raises(KeyboardInterrupt), Contained():
        raise BaseExceptionGroup("both", [ValueError(), KeyboardInterrupt()])
