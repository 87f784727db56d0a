"""The state as a dictionary: read and written by keys, kept with the result, dropped with an error."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.calls.functions.type_codec import TypeCodec
from toolgen.calls.specs import LongRunningSpec
from toolgen.capabilities import MemoryStateStore, SqliteStateStore, StateCapability, StateStore
from toolgen.engines import InProcessEngine
from toolgen.runtime import (
    Answer,
    CallEndedError,
    CallMeta,
    Continue,
    Hook,
    Pending,
    RetryHint,
    Runtime,
    SyncToolContext,
    ToolCall,
    ToolContext,
    ToolError,
    ToolModel,
    ToolOutcome,
    ToolResult,
    Verdict,
)

ANN = CallMeta(session_id="s", turn_id="t", labels={"user": "ann"})


@pytest.fixture(params=["memory", "sqlite"])
def states(request: pytest.FixtureRequest, tmp_path: Path) -> StateStore:
    return MemoryStateStore() if request.param == "memory" else SqliteStateStore(tmp_path / "state.db")


def host(states: StateStore, *functions: Callable[..., object], **options: Any) -> Runtime:
    made = Runtime(capabilities=[StateCapability(states)], **options)
    made.tools.register(function_toolset("x.tools", functions))
    return made


async def called(states: StateStore, function: Callable[..., object]) -> ToolResult:
    return await host(states, function).call(function.__name__, {}, ANN)


async def test_a_synchronous_function_uses_the_state_as_a_dictionary(states: StateStore) -> None:
    def uses(ctx: SyncToolContext) -> None:
        state = ctx.state
        state["user:theme"] = "dark"
        state["app:visits"] = 1
        state["temp:draft"] = {"a": [1]}
        state["gone"] = None
        assert (state["user:theme"], state["temp:draft"], state["gone"]) == ("dark", {"a": [1]}, None)
        assert "gone" in state
        del state["gone"]
        assert "gone" not in state
        assert (state.get("gone"), state.get("gone", 7)) == (None, 7)
        for missing in (lambda: state["gone"], lambda: state.__delitem__("gone")):
            with pytest.raises(KeyError, match="gone"):
                missing()
        with pytest.raises(ValueError, match="has an unknown scope; the scopes are app, user, session, temp"):
            state["x:theme"]
        with pytest.raises(TypeError, match="not iterable"):
            list(state)  # type: ignore[call-overload]  # the mistake

    result = await called(states, uses)
    assert result.status == "ok", result.json
    assert await states.load("user", "ann") == {"theme": "dark"}
    assert await states.load("app", "app") == {"visits": 1}
    assert await states.load("session", "s") == {}


async def test_an_asynchronous_function_writes_by_keys_and_awaits_what_it_reads(states: StateStore) -> None:
    async def uses(ctx: ToolContext) -> None:
        ctx.state["theme"] = "dark"
        assert await ctx.state.get("theme") == "dark"
        ctx.state["gone"] = 1
        del ctx.state["gone"]
        assert await ctx.state.get("gone", "none") == "none"
        for read in (lambda: ctx.state["theme"], lambda: "theme" in ctx.state):
            with pytest.raises(TypeError, match=r"reads the state with `await ctx\.state\.get\('theme'\)`"):
                read()  # type: ignore[no-untyped-call]

    result = await called(states, uses)
    assert result.status == "ok", result.json
    assert await states.load("session", "s") == {"theme": "dark"}


@pytest.mark.parametrize("error", [ToolError("sold out"), RuntimeError("broken")], ids=repr)
async def test_an_error_drops_what_was_written_before_it(states: StateStore, error: Exception) -> None:
    def fails(ctx: SyncToolContext) -> None:
        ctx.state["cart"] = ["milk"]
        raise error

    assert (await called(states, fails)).status == "error"
    assert await states.load("session", "s") == {}


class Greets(Hook):
    async def before_tool(self, call: ToolCall, payload: Any, ctx: ToolContext) -> Verdict:
        ctx.state.append("log", "hook")
        return Continue()


@pytest.mark.parametrize("hooks", [(), (Greets(),)], ids=["alone", "hooked"])
@pytest.mark.parametrize("is_sync", [True, False])
async def test_an_attempt_that_is_repeated_leaves_nothing(
    states: StateStore, hooks: tuple[Hook, ...], is_sync: bool
) -> None:
    """What hooks wrote before the first attempt stays."""
    attempts: list[int] = []

    def writes(state: Any) -> int:
        attempts.append(1)
        state.append("log", len(attempts))
        state["temp:last"] = state[f"attempt-{len(attempts)}"] = len(attempts)
        if len(attempts) < 3:
            hint = RetryHint(reason="rate_limited", tool="x.tools.work", retry_after=0.001)
            raise ToolError("busy", is_retryable=True, retry_hint=hint)
        return len(attempts)

    def work(ctx: SyncToolContext) -> int:
        return writes(ctx.state)

    async def work_in_the_loop(ctx: ToolContext) -> int:
        return writes(ctx.state)

    function = work if is_sync else work_in_the_loop
    tool = func_tool(function, name="work", toolset="x.tools", annotations={"idempotent": True})
    runtime = Runtime(capabilities=[StateCapability(states)], hooks=hooks)
    runtime.tools.register(function_toolset("x.tools", [tool]))
    assert (await runtime.call("work", {}, ANN)).result == 3
    log = ["hook", 3] if hooks else [3]
    assert await states.load("session", "s") == {"log": log, "attempt-3": 3}


async def test_a_call_that_is_answered_writes_again_and_once(states: StateStore) -> None:
    """It is executed from its beginning; what it wrote before it asked is dropped."""

    def asks(ctx: SyncToolContext) -> Any:
        ctx.state["runs"] = ctx.state["runs"] + 1 if "runs" in ctx.state else 1
        ctx.state.append("log", "run")
        return ctx.state["runs"] if ctx.answer else ToolOutcome.ask("How many?", int)

    runtime = host(states, asks, engine=InProcessEngine())
    async with runtime:
        asked = await runtime.call("asks", {}, ANN)
        assert asked.suspension is not None
        assert await states.load("session", "s") == {}
        done = await runtime.suspensions.answer(asked.suspension.token, 3, session_id="s")
    assert done.result == 1
    assert await states.load("session", "s") == {"runs": 1, "log": ["run"]}


class Ack(ToolModel):
    job: str


@pytest.mark.parametrize("ack", [None, Ack(job="job-1")], ids=["silent", "acknowledged"])
async def test_a_long_running_function_keeps_its_state_when_its_work_begins(
    states: StateStore, ack: Ack | None
) -> None:
    """It is not executed again; what it wrote is how the work finds its call."""

    def orders(ctx: SyncToolContext) -> str | Pending[Ack] | Pending[None]:
        ctx.state["job"] = "job-1"
        ctx.state.add("runs", 1)
        return ToolOutcome.pending("job-1") if ack is None else ToolOutcome.pending("job-1", ack)

    facts = LongRunningSpec(ack=None if ack is None else TypeCodec(Ack, "Ack"))
    tool = func_tool(orders, toolset="x.tools", long_running=facts)
    runtime = Runtime(capabilities=[StateCapability(states)], engine=InProcessEngine())
    runtime.tools.register(function_toolset("x.tools", [tool]))
    async with runtime:
        begun = await runtime.call("orders", {}, ANN)
        assert begun.suspension is not None
        assert await states.load("session", "s") == {"job": "job-1", "runs": 1}
        done = await runtime.suspensions.answer(begun.suspension.token, "shipped", session_id="s")
    assert done.result == "shipped"
    assert await states.load("session", "s") == {"job": "job-1", "runs": 1}


async def test_threads_of_a_function_write_to_the_state_of_its_call(states: StateStore) -> None:
    def counts(ctx: SyncToolContext) -> None:
        def work(number: int) -> None:
            ctx.state[f"worker-{number}"] = number
            ctx.state.add("count", 1)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert (await called(states, counts)).status == "ok"
    stored = await states.load("session", "s")
    assert stored == {"count": 8, **{f"worker-{number}": number for number in range(8)}}


class Recovers(Hook):
    """Gives a result to calls that failed, by one of its methods."""

    def __init__(self, method: str) -> None:
        self._method = method

    async def before_tool(self, call: ToolCall, payload: Any, ctx: ToolContext) -> Verdict:
        ctx.state["before"] = 1
        return Continue()

    async def on_tool_error(self, call: ToolCall, error: ToolError, ctx: ToolContext) -> Verdict:
        return self._answer(ctx) if self._method == "on_tool_error" else Continue()

    async def after_tool(self, call: ToolCall, result: ToolResult, ctx: ToolContext) -> Verdict:
        return self._answer(ctx) if result.status == "error" else Continue()

    def _answer(self, ctx: ToolContext) -> Answer:
        ctx.state["hook"] = 1
        return Answer(result="recovered")


@pytest.mark.parametrize("method", ["on_tool_error", "after_tool"])
async def test_what_a_failed_function_wrote_is_dropped_though_a_hook_gives_a_result(
    states: StateStore, method: str
) -> None:
    def fails(ctx: SyncToolContext) -> str:
        ctx.state["cart"] = {"eggs": 1}
        raise ToolError("sold out")

    async def misfits(ctx: ToolContext) -> str:
        ctx.state["cart"] = {"eggs": 1}
        return 5  # type: ignore[return-value]  # what it tests

    for function in (fails, misfits):
        runtime = host(states, function, hooks=[Recovers(method)])
        result = await runtime.call(function.__name__, {}, ANN)
        assert (result.status, result.json) == ("ok", b'"recovered"')
    assert await states.load("session", "s") == {"before": 1, "hook": 1}


@pytest.mark.asyncio(loop_factories=["real"])
async def test_a_thread_that_was_left_writes_nothing_into_a_call_that_goes_on(
    states: StateStore,
) -> None:
    goes_on, done = threading.Event(), threading.Event()

    def hangs(ctx: SyncToolContext) -> str:
        try:
            state = ctx.state  # on a busy machine, the time is over before this
            assert goes_on.wait(30)
            state["late"] = 1
        except CallEndedError:
            done.set()
        return "late"

    class Saves(Hook):
        async def on_tool_error(self, call: ToolCall, error: ToolError, ctx: ToolContext) -> Verdict:
            goes_on.set()
            assert await asyncio.to_thread(done.wait, 30)
            return Answer(result="saved")

    tool = func_tool(hangs, toolset="x.tools", timeout=0.01, annotations={"read_only": True})
    runtime = Runtime(capabilities=[StateCapability(states)], hooks=[Saves()])
    runtime.tools.register(function_toolset("x.tools", [tool]))
    assert (await runtime.call("hangs", {}, ANN)).json == b'"saved"'
    assert await states.load("session", "s") == {}


async def test_what_is_written_after_the_end_of_a_call_is_an_error(states: StateStore) -> None:
    written: list[Any] = []

    def leaves(ctx: SyncToolContext) -> None:
        written.append(ctx.state)

    async def leaves_too(ctx: ToolContext) -> None:
        written.append(ctx.state)

    for function in (leaves, leaves_too):
        assert (await called(states, function)).status == "ok"
    for state in written:
        with pytest.raises(CallEndedError, match="the change of 'late' is lost"):
            state["late"] = 1
    assert await states.load("session", "s") == {}


class Changes:
    """Ways to change a value in place, and whether the state has the change afterwards."""

    def reads(self, state: Any) -> None:
        state["cart"]["milk"] = 2

    def gets(self, state: Any) -> None:
        state.get("cart")["milk"] = 2

    def changes_what_it_set(self, state: Any) -> None:
        cart = {"eggs": 1}
        state["cart"] = cart
        cart["milk"] = 2

    def writes_no_json(self, state: Any) -> None:
        state["cart"]["milk"] = object()

    def reads_twice(self, state: Any) -> None:
        cart = state["cart"]
        assert state["cart"] == cart
        cart["milk"] = 2


@pytest.mark.parametrize("change", [name for name in vars(Changes) if not name.startswith("_")])
async def test_a_value_that_is_changed_in_place_is_reported_and_not_kept(
    states: StateStore, change: str, caplog: pytest.LogCaptureFixture
) -> None:
    def shops(ctx: SyncToolContext) -> None:
        getattr(Changes(), change)(ctx.state)

    runtime = host(states, shops)
    await seed(states)
    with caplog.at_level(logging.WARNING):
        assert (await runtime.call("shops", {}, ANN)).status == "ok"
    assert await states.load("session", "s") == {"cart": {"eggs": 1}}
    assert caplog.messages == [
        "x.tools.shops changed the value of 'cart' in place; the change is not stored: "
        "set the key to the new value"
    ]


async def seed(states: StateStore) -> None:
    def puts(ctx: SyncToolContext) -> None:
        ctx.state["cart"] = {"eggs": 1}

    assert (await called(states, puts)).status == "ok"


async def test_a_value_that_is_set_again_or_left_alone_is_not_reported(
    states: StateStore, caplog: pytest.LogCaptureFixture
) -> None:
    def shops(ctx: SyncToolContext) -> None:
        cart = ctx.state["cart"]
        cart["milk"] = 2
        ctx.state["cart"] = cart
        assert ctx.state["session:cart"] == {"eggs": 1, "milk": 2}

    async def drops(ctx: ToolContext) -> None:
        cart: Any = await ctx.state.get("cart")
        cart.clear()
        ctx.state.delete("session:cart")

    await seed(states)
    for function in (shops, drops):
        assert (await called(states, function)).status == "ok"
    assert caplog.messages == []
    assert await states.load("session", "s") == {}


async def test_temporary_values_are_copies_too(states: StateStore) -> None:
    """A call that fails leaves nothing in the values of its turn."""

    def begins(ctx: SyncToolContext) -> None:
        ctx.state["temp:cart"] = {"eggs": 1}

    def fails(ctx: SyncToolContext) -> None:
        ctx.state["temp:cart"]["milk"] = 2
        raise ToolError("sold out")

    async def looks(ctx: ToolContext) -> Any:
        return await ctx.state.get("temp:cart")

    runtime = host(states, begins, fails, looks)
    results = [await runtime.call(name, {}, ANN) for name in ("begins", "fails", "looks")]
    assert results[-1].json == b'{"eggs":1}'


async def test_a_function_reads_what_others_stored_meanwhile(states: StateStore) -> None:
    """Each read is of the newest values, by keys as by `get`."""

    reads, goes_on = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def waits(ctx: SyncToolContext) -> Any:
        before = "cart" in ctx.state
        loop.call_soon_threadsafe(reads.set)
        assert goes_on.wait(30)
        return [before, ctx.state["cart"]]

    waiting = asyncio.create_task(called(states, waits))
    await reads.wait()
    await seed(states)
    goes_on.set()
    assert (await waiting).json == b'[false,{"eggs":1}]'
