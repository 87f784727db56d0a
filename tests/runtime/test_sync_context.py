"""What a synchronous executor finds at its context: the same capabilities, without coroutines."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.clock import HOUR, LoopClock
from tests.runtime.tools import META, SITE, nothing, runtime, spec
from toolgen.calls.functions.tools import function_toolset
from toolgen.calls.steps.bridge import Bridge, Wait
from toolgen.capabilities import (
    ArtifactsCapability,
    ArtifactStore,
    CallScope,
    MemoryArtifactStore,
    MemoryStateStore,
    SqliteArtifactStore,
    SqliteStateStore,
    StateCapability,
    StateStore,
    StoredArtifact,
)
from toolgen.contract.json_value import Json
from toolgen.engines import InProcessEngine
from toolgen.events.hub import Events
from toolgen.runtime import (
    CallEndedError,
    CallMeta,
    Continue,
    Hook,
    Key,
    Runtime,
    SyncToolContext,
    ToolCall,
    ToolContext,
    ToolOutcome,
    ToolResult,
    Verdict,
)

TOOL = "assistant.devices.list_devices"
ANN = CallMeta(session_id="s", turn_id="t", tool_call_id="c", labels={"user": "ann"})
ASKED: contextvars.ContextVar[str] = contextvars.ContextVar("ASKED")


class Blocking:
    """An executor of one tool, which is not asynchronous."""

    def __init__(self, does: Callable[[SyncToolContext], Any]) -> None:
        self._does = does

    def list_devices(self, payload: Any, ctx: SyncToolContext) -> Any:
        found = self._does(ctx)
        return nothing() if found is None else found


@pytest.fixture(params=["memory", "sqlite"])
def states(request: pytest.FixtureRequest, tmp_path: Path) -> StateStore:
    return MemoryStateStore() if request.param == "memory" else SqliteStateStore(tmp_path / "state.db")


@pytest.fixture(params=["memory", "sqlite"])
def artifacts(request: pytest.FixtureRequest, tmp_path: Path) -> ArtifactStore:
    return MemoryArtifactStore() if request.param == "memory" else SqliteArtifactStore(tmp_path / "a.db")


async def test_a_synchronous_tool_reads_what_is_stored(states: StateStore) -> None:
    def sign_in(name: str, ctx: SyncToolContext) -> str:
        """Sign in."""
        if ctx.state.get("user:name"):
            return f"{ctx.state.get('user:name')} is signed in"
        ctx.state.set("user:name", name)
        ctx.state.add("app:visits", 1)
        ctx.state.append("names", name)
        ctx.state.set("gone", 1)
        ctx.state.delete("gone")
        kept = [ctx.state.get(key, "none") for key in ("user:name", "app:visits", "names", "gone")]
        return f"{kept}"

    host = Runtime(capabilities=[StateCapability(states)])
    host.tools.register(function_toolset("x.tools", [sign_in]))
    first = await host.call("sign_in", {"name": "Ann"}, ANN)
    assert first.result == "['Ann', 1, ['Ann'], 'none']"
    assert (await host.call("sign_in", {"name": "Bo"}, ANN)).result == "Ann is signed in"
    assert await states.load("app", "app") == {"visits": 1}


async def test_a_synchronous_tool_keeps_files(artifacts: ArtifactStore) -> None:
    def draws(ctx: SyncToolContext) -> None:
        first = ctx.artifacts.save("plan.png", b"1", "image/png", {"floor": 1})
        ctx.artifacts.save("plan.png", b"22")
        loaded: StoredArtifact = ctx.artifacts.load("plan.png", first.version)
        assert (loaded.data, loaded.info.metadata) == (b"1", {"floor": 1})
        assert [one.version for one in ctx.artifacts.versions("plan.png")] == [1, 2]
        assert [one.name for one in ctx.artifacts.list()] == ["plan.png"]
        assert ctx.artifacts.list("user") == ()

    host = runtime(Blocking(draws), capabilities=[ArtifactsCapability(artifacts)])
    assert (await host.call(TOOL, SITE, ANN)).status == "ok"


async def test_a_hook_and_a_synchronous_tool_share_the_call() -> None:
    count: Key[int] = Key("count")

    class Counting(Hook):
        async def before_tool(self, call: ToolCall, payload: Any, ctx: ToolContext) -> Verdict:
            ctx.values[count] = 1
            ctx.state.set("seen", "by the hook")
            return Continue()

        async def after_tool(self, call: ToolCall, result: ToolResult, ctx: ToolContext) -> Verdict:
            seen.append((ctx.values[count], await ctx.state.get("seen")))
            return Continue()

    def counts(ctx: SyncToolContext) -> None:
        seen.append((ctx.values[count], ctx.state.get("seen")))
        ctx.values[count] += 1
        ctx.state.set("seen", "by the tool")
        ctx.actions.transfer("x.other")

    seen: list[tuple[int, Any]] = []
    host = runtime(Blocking(counts), hooks=[Counting()], capabilities=[StateCapability(MemoryStateStore())])
    result = await host.call(TOOL, SITE, ANN)
    assert seen == [(1, "by the hook"), (2, "by the tool")]
    assert result.actions is not None
    assert result.actions.transfer_to == "x.other"


async def test_a_synchronous_tool_knows_its_call() -> None:
    def looks(ctx: SyncToolContext) -> None:
        assert (ctx.meta, ctx.tool, ctx.answer) == (META, TOOL, None)
        assert ctx.idempotency_key == "r:c1"
        assert ctx.deadline is not None
        assert ctx.time_left is not None
        assert 0 < ctx.time_left <= HOUR
        assert repr(ctx) == f"SyncToolContext(tool={TOOL!r}, tool_call_id='c1')"
        ctx.progress(0.5, "half")
        ctx.stream("a piece")

    events = Events()
    told = events.subscribe(types=["tool_update", "tool_output_delta"])
    host = runtime(Blocking(looks), spec(timeout=HOUR), events=events)
    assert (await host.call(TOOL, SITE, META)).status == "ok"
    events.close()
    assert [event.type async for event in told] == ["tool_update", "tool_output_delta"]


async def test_a_synchronous_tool_gets_the_answers_of_a_person() -> None:
    def asks(ctx: SyncToolContext) -> Any:
        given.append(ctx.answer)
        if ctx.answered(int, "How many?") is None:
            return ToolOutcome.ask("How many?", int)
        return None if ctx.approved("Sure?") else ToolOutcome.approval("Sure?")

    given: list[Any] = []
    host = runtime(Blocking(asks), engine=InProcessEngine())
    result = await host.call(TOOL, SITE, META)
    answers: tuple[Json, ...] = (3, {"approved": True})
    for answer in answers:
        assert result.suspension is not None
        result = await host.suspensions.answer(result.suspension.token, answer)
    assert result.status == "ok"
    assert given == [None, 3, {"approved": True}]


async def test_a_capability_that_the_host_does_not_have_is_named() -> None:
    def looks(ctx: SyncToolContext) -> None:
        for name in ("state", "artifacts", "clock"):
            with pytest.raises(AttributeError, match=f"no '{name}': this runtime provides none"):
                getattr(ctx, name)
        with pytest.raises(AttributeError, match="no 'clock': this runtime provides none"):
            ctx.capability(CLOCK)

    assert (await runtime(Blocking(looks)).call(TOOL, SITE, META)).status == "ok"


# The host's own capabilities.


class Weather:
    """Asynchronous."""

    async def now(self, place: str) -> str:
        await asyncio.sleep(0)
        return f"rain in {place}, says {ASKED.get()}"


class SyncWeather:
    def __init__(self, weather: Weather, wait: Wait) -> None:
        self._weather = weather
        self._wait = wait

    def now(self, place: str) -> str:
        return self._wait(self._weather.now, place)


class WeatherCapability:
    name = "weather"

    def open(self, call: CallScope) -> Weather:
        return Weather()

    def for_thread(self, opened: Weather, wait: Wait) -> SyncWeather:
        return SyncWeather(opened, wait)

    async def close(self, opened: Any) -> None:
        closed.append(opened)


class Clock:
    """The same for both forms."""

    name = "clock"

    def open(self, call: CallScope) -> Callable[[], str]:
        return lambda: "12:00"

    async def close(self, opened: Any) -> None:
        pass


closed: list[Any] = []
WEATHER: Key[Weather] = Key("weather")
SYNC_WEATHER: Key[SyncWeather] = Key("weather")
CLOCK: Key[Callable[[], str]] = Key("clock")


async def test_a_host_gives_each_form_its_own_object() -> None:
    async def waits(ctx: ToolContext) -> str:
        """Ask."""
        return f"{await ctx.capability(WEATHER).now('Ulm')} at {ctx.capability(CLOCK)()}"

    def blocks(ctx: SyncToolContext) -> str:
        """Ask."""
        weather = ctx.capability(SYNC_WEATHER)
        assert weather is ctx.capability(SYNC_WEATHER)
        return f"{weather.now('Ulm')} at {ctx.capability(CLOCK)()}"

    host = Runtime(capabilities=[WeatherCapability(), Clock()])
    host.tools.register(function_toolset("x.tools", [waits, blocks]))
    ASKED.set("Ann")
    closed.clear()
    for tool in ("waits", "blocks"):
        assert (await host.call(tool, {}, META)).result == "rain in Ulm, says Ann at 12:00"
    assert [type(opened[0][0]) for opened in closed] == [Weather, Weather]


# The end of a call.


class Slow:
    """A store that is asked and does not answer."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.cancelled = asyncio.Event()

    async def load(self, scope: Any, owner: str) -> Any:
        self.asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.cancelled.set()

    async def apply(self, scope: Any, owner: str, changes: Any) -> None:
        raise AssertionError("nothing was changed")


class Reading:
    """Reads the state in a thread, and keeps what comes of it."""

    def __init__(self) -> None:
        self.raised: list[BaseException] = []
        self.ended = threading.Event()

    def __call__(self, ctx: SyncToolContext) -> None:
        state = ctx.state
        for use in (
            lambda: state.get("x"),
            lambda: ctx.state,
            lambda: ctx.progress(1.0),
            lambda: ctx.stream("x"),
            lambda: ctx.capability(CLOCK),
        ):
            try:
                use()
            except CallEndedError as error:
                self.raised.append(error)
        self.ended.set()

    async def until_ended(self) -> list[BaseException]:
        assert await asyncio.to_thread(self.ended.wait, 30)
        return self.raised


@asynccontextmanager
async def reading() -> AsyncIterator[tuple[Runtime, Slow]]:
    store, reads = Slow(), Reading()
    capabilities = [StateCapability(store), Clock()]
    async with runtime(Blocking(reads), spec(timeout=HOUR), capabilities=capabilities) as host:
        yield host, store
        assert len(await reads.until_ended()) == 5
        await store.cancelled.wait()


async def test_a_thread_that_waits_is_woken_when_the_time_is_over() -> None:
    async with LoopClock() as clock, reading() as (host, store):
        calling = asyncio.create_task(host.call(TOOL, SITE, ANN))
        await store.asked.wait()
        await clock.advance(HOUR)
        result = await calling
        assert result.retry_hint is not None
        assert result.retry_hint.reason == "timeout"


async def test_a_thread_that_waits_is_woken_when_the_caller_is_gone() -> None:
    async with reading() as (host, store):
        calling = asyncio.create_task(host.call(TOOL, SITE, ANN))
        await store.asked.wait()
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling


def test_a_thread_that_waits_is_woken_when_the_event_loop_ends() -> None:
    store: list[Slow] = []
    reads = Reading()

    async def main() -> None:
        store.append(Slow())
        host = runtime(Blocking(reads), capabilities=[StateCapability(store[0]), Clock()])
        calling = asyncio.create_task(host.call(TOOL, SITE, ANN))
        await store[0].asked.wait()
        assert not calling.done()

    asyncio.run(main())
    assert reads.ended.wait(30)
    assert len(reads.raised) == 5


async def test_a_store_that_raises_raises_in_the_thread() -> None:
    class Broken(Slow):
        async def load(self, scope: Any, owner: str) -> Any:
            raise errors.pop()

    def reads(ctx: SyncToolContext) -> None:
        with pytest.raises(OSError, match="full"):
            ctx.state.get("x")
        for _ in range(2):
            with pytest.raises(
                RuntimeError, match=r"it raised (SystemExit|CancelledError), which is not an Exception"
            ):
                ctx.state.get("x")

    errors: list[BaseException] = [asyncio.CancelledError(), SystemExit(), OSError("full")]
    host = runtime(Blocking(reads), capabilities=[StateCapability(Broken())])
    assert (await host.call(TOOL, SITE, ANN)).status == "ok"
    assert errors == []


async def test_a_thread_with_an_event_loop_of_its_own_does_not_wait() -> None:
    """It would wait for ever where that is the loop of the call."""

    def reads(ctx: SyncToolContext) -> None:
        async def inner() -> None:
            ctx.state.get("x")

        with pytest.raises(RuntimeError, match="in a thread that runs an event loop"):
            asyncio.run(inner())

    host = runtime(Blocking(reads), capabilities=[StateCapability(MemoryStateStore())])
    assert (await host.call(TOOL, SITE, ANN)).status == "ok"
    with Bridge() as bridge, pytest.raises(RuntimeError, match="in a thread that runs an event loop"):
        bridge.wait(asyncio.sleep, 0)
