"""When executors run: limits, turns, locks, calls within calls, and the end of what cannot begin."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from toolgen.calls.errors import EventLoopError
from toolgen.calls.toolsets.functions import func_tool
from toolgen.runtime import (
    BusyError,
    CallMeta,
    Continue,
    DeadlockError,
    Hook,
    RegistrationError,
    RetryHint,
    Runtime,
    Scheduling,
    StaticToolset,
    SyncToolContext,
    ToolCall,
    ToolContext,
    ToolError,
    ToolResult,
    Verdict,
)

pytestmark = pytest.mark.asyncio(loop_factories=["virtual"])
HOUR = 3600.0


def serving(*functions: Callable[..., Any], sequential: str = "", **options: Any) -> Runtime:
    """Return a runtime of these functions; the names in `sequential` are those of sequential tools."""
    host = Runtime(**options)
    tools = [func_tool(one, toolset="x.tools", is_sequential=one.__name__ in sequential) for one in functions]
    host.tools.register(StaticToolset(name="x.tools", bound=tuple(tools)))
    return host


def calls_of(tool: str, count: int, **facts: Any) -> list[ToolCall]:
    return [ToolCall(tool=tool, payload_json=b"{}", meta=CallMeta(**facts)) for _ in range(count)]


def statuses(results: tuple[ToolResult, ...]) -> Counter[str]:
    return Counter(result.status for result in results)


def is_idle(host: Runtime) -> bool:
    return host._services.scheduler.is_idle


class Crowd:
    """Counts how many calls run at once."""

    def __init__(self) -> None:
        self.now = self.most = 0

    async def stay(self, seconds: int = 1) -> None:
        """Stay for a second."""
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(seconds)
        self.now -= 1


# Calls within calls.


async def inner() -> None:
    """Do it."""
    await asyncio.sleep(0.01)


@pytest.mark.parametrize("tool_timeout", [None, HOUR])
async def test_tools_that_make_calls_at_once_do_not_use_up_the_slots(tool_timeout: float | None) -> None:
    async def outer() -> str:
        """Make calls."""
        await asyncio.sleep(0.01)
        return str(statuses(await host.call_all(calls_of("inner", 3))))

    host = serving(inner, outer, scheduling=Scheduling(max_calls=4, tool_timeout_s=tool_timeout))
    async with asyncio.timeout(HOUR / 2):
        results = await host.call_all(calls_of("outer", 40))
    assert {result.result for result in results} == {"Counter({'ok': 3})"}
    assert is_idle(host)


async def test_calls_within_calls_end_at_any_depth() -> None:
    async def deeper(left: int) -> int:
        """Go deeper."""
        if not left:
            return 1
        call = ToolCall(tool="deeper", payload_json=b'{"left": %d}' % (left - 1))
        return sum([result.result for result in await host.call_all([call] * 3)])

    limits = Scheduling(max_calls=1, max_calls_per_run=1, max_calls_per_session=1, max_calls_per_tool=1)
    host = serving(deeper, scheduling=limits)
    async with asyncio.timeout(HOUR):
        result = await host.call("deeper", {"left": 5}, CallMeta(run_id="r", session_id="s"))
    assert result.result == 3**5
    assert is_idle(host)


async def test_a_sequential_tool_may_call_itself_and_others() -> None:
    """One at a time among its own calls, too."""
    crowd = Crowd()

    async def alone() -> None:
        """Stay alone."""
        await crowd.stay()

    async def first() -> str:
        """Call the others."""
        return str(statuses(await host.call_all(calls_of("alone", 3))))

    host = serving(alone, first, sequential="alone first")
    async with asyncio.timeout(HOUR):
        results = await host.call_all([*calls_of("first", 2), *calls_of("alone", 2)])
    assert [result.result for result in results] == ["Counter({'ok': 3})"] * 2 + [None] * 2
    assert crowd.most == 1
    assert is_idle(host)


async def test_a_task_that_outlives_its_call_is_no_part_of_it() -> None:
    """What it calls waits for the lock that the call of before no longer holds, like everybody."""
    crowd, tasks = Crowd(), list[asyncio.Task[ToolResult]]()

    async def alone() -> None:
        """Stay alone."""
        await crowd.stay()

    async def late() -> ToolResult:
        await asyncio.sleep(0.5)
        return await host.call("alone", {})

    async def leave() -> None:
        """Leave a task behind."""
        tasks.append(asyncio.create_task(late()))

    host = serving(alone, leave, sequential="alone leave")
    await host.call("leave", {})
    await asyncio.gather(*(host.call("alone", {}) for _ in range(3)), *tasks)
    assert (await tasks[0]).status == "ok"
    assert crowd.most == 1
    assert is_idle(host)


async def test_calls_that_wait_beside_a_caller_that_ends_go_on() -> None:
    crowd, tasks = Crowd(), list[asyncio.Task[ToolResult]]()

    async def alone() -> None:
        """Stay alone."""
        await crowd.stay()

    async def leave() -> None:
        """Leave calls behind, of which one waits for the other."""
        tasks.extend(asyncio.create_task(host.call("alone", {})) for _ in range(3))
        await asyncio.sleep(0.1)

    host = serving(alone, leave, sequential="alone leave")
    async with asyncio.timeout(HOUR):
        await asyncio.gather(host.call("leave", {}), host.call("alone", {}))
        results = await asyncio.gather(*tasks)
    assert statuses(tuple(results)) == {"ok": 3}
    assert crowd.most == 1
    assert is_idle(host)


# Limits and turns.


@pytest.mark.parametrize(
    ("limits", "facts", "most"),
    [
        ({}, {}, 16),
        ({}, {"run_id": "r"}, 16),
        ({"max_calls": 5}, {}, 5),
        ({"max_calls_per_run": 3}, {"run_id": "r"}, 3),
        ({"max_calls_per_run": 50}, {"run_id": "r"}, 40),
        ({"max_calls_per_session": 2}, {"session_id": "s"}, 2),
        ({"max_calls_per_tool": 7}, {}, 7),
    ],
)
async def test_each_limit_is_held(limits: dict[str, int], facts: dict[str, str], most: int) -> None:
    crowd = Crowd()

    async def stay() -> None:
        """Stay."""
        await crowd.stay()

    host = serving(stay, scheduling=Scheduling(**limits))
    assert statuses(await host.call_all(calls_of("stay", 40, **facts))) == {"ok": 40}
    assert crowd.most == most
    assert is_idle(host)


async def test_child_runs_count_with_the_run_above() -> None:
    crowd = Crowd()

    async def stay() -> None:
        """Stay."""
        await crowd.stay()

    host = serving(stay, scheduling=Scheduling(max_calls_per_run=3))
    metas = [CallMeta(run_id=run_id) for run_id in ("r", "r/child:a", "r/child:a/child:b", "r/child:c")]
    await asyncio.gather(*(host.call("stay", {}, meta) for meta in metas * 5))
    assert crowd.most == 3


async def test_sessions_and_runs_have_limits_of_their_own() -> None:
    crowd = Crowd()

    async def stay() -> None:
        """Stay."""
        await crowd.stay()

    host = serving(stay)
    metas = [CallMeta(run_id=f"r{number}") for number in range(10)]
    await asyncio.gather(*(host.call("stay", {}, meta) for meta in metas * 20))
    assert crowd.most == 160


@pytest.mark.exhaustive
async def test_a_run_with_many_calls_delays_another_by_its_share() -> None:
    """With one slot and two runs, every second call is the other's, whatever waits already."""
    order = list[str]()

    async def say(who: str) -> None:
        """Say who calls."""
        order.append(who)
        await asyncio.sleep(0)

    host = serving(say, scheduling=Scheduling(max_calls=1))
    many = [host.call("say", {"who": "many"}, CallMeta(run_id="many")) for _ in range(2_000)]
    others = [
        host.call("say", {"who": f"few{number % 2}"}, CallMeta(run_id=f"few{number % 2}"))
        for number in range(20)
    ]
    await asyncio.gather(*many, *others)
    assert sorted(order[1:31]) == ["few0"] * 10 + ["few1"] * 10 + ["many"] * 10


async def test_sequential_calls_take_turns_by_runs_too() -> None:
    order = list[str]()

    async def say(who: str) -> None:
        """Say who calls."""
        order.append(who)
        await asyncio.sleep(0)

    host = serving(say, sequential="say")
    many = [host.call("say", {"who": "many"}, CallMeta(run_id="many")) for _ in range(500)]
    few = [host.call("say", {"who": "few"}, CallMeta(run_id="few")) for _ in range(5)]
    await asyncio.gather(*many, *few)
    assert order[1:11].count("few") == 5


async def test_who_waits_for_too_many_is_told_so_and_has_not_begun() -> None:
    ran = Counter[str]()

    async def stay(who: str) -> None:
        """Stay."""
        ran[who] += 1
        await asyncio.sleep(1)

    def calls(who: str, count: int) -> list[asyncio.Task[ToolResult]]:
        one = CallMeta(run_id=who)
        return [asyncio.create_task(host.call("stay", {"who": who}, one)) for _ in range(count)]

    host = serving(stay, scheduling=Scheduling(max_calls=1, max_queued=10))
    flood, others = calls("flood", 100), calls("a", 3) + calls("b", 1)
    flooded, answered = await asyncio.gather(*flood), await asyncio.gather(*others)
    assert statuses(tuple(flooded)) == {"ok": 1 + 5, "error": 94}
    refused = next(result for result in flooded if result.error is not None)
    assert isinstance(refused.error, BusyError)
    assert refused.json.endswith(b'"code":"busy","retryable":true}')
    assert str(refused.error) == (
        "stay was not run: too many calls wait already: 5, of which 5 of the same run; the limit is "
        "max_queued=10 of Runtime(scheduling=Scheduling(…)), and a run takes no more places than it leaves"
    )
    assert refused.retry_hint is not None
    assert refused.retry_hint.reason == "tool_unavailable"
    assert statuses(tuple(answered)) == {"ok": 4}
    assert ran == {"flood": 6, "a": 3, "b": 1}
    assert is_idle(host)


async def test_hooks_hold_no_slot() -> None:
    waiting = Crowd()

    class Slow(Hook):
        async def before_tool(self, call: ToolCall, payload: object, ctx: ToolContext) -> Verdict:
            await waiting.stay()
            return Continue()

    host = serving(inner, hooks=[Slow()], scheduling=Scheduling(max_calls=1))
    assert statuses(await host.call_all(calls_of("inner", 30))) == {"ok": 30}
    assert waiting.most == 30


async def test_the_time_of_a_tool_begins_when_it_is_admitted() -> None:
    left = list[float | None]()

    async def stay(ctx: ToolContext) -> None:
        """Stay."""
        left.append(ctx.time_left)
        await asyncio.sleep(8)

    host = serving(stay, scheduling=Scheduling(max_calls=1, tool_timeout_s=10.0))
    assert statuses(await host.call_all(calls_of("stay", 5))) == {"ok": 5}
    assert left == [10.0] * 5


async def test_cancelled_calls_leave_nothing_behind() -> None:
    async def stay() -> None:
        """Stay."""
        await asyncio.sleep(1)

    for limits in (Scheduling(max_calls=2), Scheduling(max_calls_per_run=2, max_calls_per_tool=1)):
        for names in ("", "stay"):
            host = serving(stay, sequential=names, scheduling=limits)
            tasks = [
                asyncio.create_task(host.call("stay", {}, CallMeta(run_id=f"r{i % 3}"))) for i in range(30)
            ]
            for number, task in enumerate(tasks):
                if number % 4:
                    await asyncio.sleep(0.1)
                    task.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
            assert sum(isinstance(one, ToolResult) for one in ended) >= 8
            assert is_idle(host)


# What sequential calls have in common.


@pytest.mark.parametrize(
    ("by", "metas", "most"),
    [
        ("", [CallMeta(session_id="a"), CallMeta(session_id="b")], 1),
        ("session", [CallMeta(session_id="a"), CallMeta(session_id="b")], 2),
        ("session", [CallMeta(run_id="1"), CallMeta(run_id="2"), CallMeta()], 3),
        ("device", [CallMeta(session_id="a"), CallMeta(session_id="b")], 3),
    ],
)
async def test_sequential_calls_take_turns_with_those_of_the_same(
    by: str, metas: list[CallMeta], most: int
) -> None:
    together, by_device, others = Crowd(), {name: Crowd() for name in "xyz"}, Crowd()

    async def restart(device: str = "x") -> None:
        """Restart a device."""
        await asyncio.gather(together.stay(), by_device[device].stay())

    async def update(device: str = "x") -> None:
        """Update a device."""
        await restart(device)

    async def elsewhere(device: str = "x") -> None:
        """Be of another toolset, and on its own."""
        await others.stay()

    host, facts = Runtime(), {"is_sequential": True, "sequential_by": by}
    for name, functions in (("x.tools", (restart, update)), ("x.others", (elsewhere,))):
        tools = tuple(func_tool(one, toolset=name, **facts) for one in functions)  # type: ignore[arg-type]
        host.tools.register(StaticToolset(name=name, bound=tools))
    calls = [
        host.call(tool, {"device": device}, meta)
        for meta in metas
        for device in "xyz"
        for tool in ("restart", "update", "elsewhere")
    ]
    await asyncio.gather(*calls, host.call("restart", {}, metas[0]))
    assert together.most == most
    if by == "device":
        assert {crowd.most for crowd in by_device.values()} == {1}
        assert others.most == 3
    assert is_idle(host)


async def test_two_runs_that_wait_for_each_other_end_with_the_names_of_both_tools() -> None:
    async def lock(device: str, then: str = "") -> str:
        """Lock a device, and another."""
        await asyncio.sleep(1)
        return await next_of(then)

    async def hold(device: str, then: str = "") -> str:
        """Hold a device, and another."""
        await asyncio.sleep(1)
        return await next_of(then)

    async def next_of(device: str) -> str:
        result = await host.call("lock" if device == "a" else "hold", {"device": device}) if device else None
        return str(result and result.error)

    host = Runtime()
    tools = [
        func_tool(one, toolset="x.tools", is_sequential=True, sequential_by="device") for one in (lock, hold)
    ]
    host.tools.register(StaticToolset(name="x.tools", bound=tuple(tools)))
    async with asyncio.timeout(HOUR):
        first, second = await asyncio.gather(
            host.call("lock", {"device": "a", "then": "b"}, CallMeta(run_id="1")),
            host.call("hold", {"device": "b", "then": "a"}, CallMeta(run_id="2")),
        )
    refused = (
        "lock was not run: it would have to wait for x.tools.lock, "
        "which waits for x.tools.hold, and that for x.tools.lock"
    )
    assert {first.result, second.result} == {"None", refused}
    assert is_idle(host)


async def test_a_call_that_would_close_a_circle_may_be_made_again() -> None:
    async def lock(device: str, then: str = "") -> str:
        """Lock a device, and another."""
        await asyncio.sleep(1)
        if not then:
            return "done"
        result = await host.call("lock", {"device": then})
        assert result.error is None or isinstance(result.error, DeadlockError)
        return str(result.result or result.json)

    host = Runtime()
    tool = func_tool(lock, toolset="x.tools", is_sequential=True, sequential_by="device")
    host.tools.register(StaticToolset(name="x.tools", bound=(tool,)))
    pairs = [("a", "b"), ("b", "c"), ("c", "a")]
    results = await asyncio.gather(*(host.call("lock", {"device": one, "then": two}) for one, two in pairs))
    said = Counter(str(result.result) for result in results)
    assert said["done"] == 2
    assert sum(count for text, count in said.items() if '"code":"deadlock","retryable":true' in text) == 1
    assert is_idle(host)


async def test_what_sequential_calls_have_in_common_is_an_argument() -> None:
    for by, is_sequential in (("gone", True), ("device", False)):
        tool = func_tool(found, toolset="x.tools", is_sequential=is_sequential, sequential_by=by)
        with pytest.raises(RegistrationError, match="sequential"):
            Runtime().tools.register(StaticToolset(name="x.tools", bound=(tool,)))


async def found(device: str) -> str:
    """Find a device."""
    return device


# Attempts.


class Failing:
    """Fails with a hint, and works in the end."""

    def __init__(self, *pauses: float | None) -> None:
        self._pauses = list(pauses)
        self.began = list[float]()

    async def __call__(self) -> str:
        """Try."""
        self.began.append(asyncio.get_running_loop().time())
        if not self._pauses:
            return "ok"
        pause = self._pauses.pop(0)
        hint = RetryHint(reason="rate_limited", tool="try", retry_after=pause)
        raise ToolError("later", retry_hint=hint, is_retryable=True)

    @property
    def pauses(self) -> list[float]:
        return [after - before for before, after in zip(self.began, self.began[1:], strict=False)]


@pytest.mark.parametrize(
    ("asked", "limit", "waited"),
    [
        ((2.0, 3.0), None, [2.0, 3.0]),
        ((5.0,), None, [5.0]),
        ((5.5,), None, []),
        ((HOUR,), None, []),
        ((float("inf"),), None, []),
        ((float("nan"),), None, []),
        ((None, None), None, [0.1, 0.2]),
        ((None, -1.0), None, [0.1, 0.0]),
        ((2.0, 2.0), 3.0, [2.0]),
        ((4.0,), 3.0, []),
    ],
)
async def test_an_executor_may_ask_for_a_pause_within_its_time(
    asked: tuple[float | None, ...], limit: float | None, waited: list[float]
) -> None:
    """For at most five seconds; else who made the call gets the hint at once."""
    failing = Failing(*asked)
    host = Runtime(scheduling=Scheduling(tool_timeout_s=limit))
    tool = func_tool(failing, name="try", toolset="x.tools", annotations={"idempotent": True})
    host.tools.register(StaticToolset(name="x.tools", bound=(tool,)))
    result = await host.call("try", {})
    assert failing.pauses == pytest.approx(waited)
    if len(waited) < len(asked):
        assert result.retry_hint is not None
        assert str(result.retry_hint.retry_after) == str(asked[len(waited)])
    else:
        assert result.status == "ok"


async def test_a_call_that_pauses_holds_no_slot() -> None:
    failing = Failing(4.0)
    host = Runtime(scheduling=Scheduling(max_calls=1))
    tool = func_tool(failing, name="try", toolset="x.tools", annotations={"idempotent": True})
    host.tools.register(StaticToolset(name="x.tools", bound=(tool, func_tool(inner, toolset="x.tools"))))
    trying = asyncio.create_task(host.call("try", {}))
    await asyncio.sleep(1)
    async with asyncio.timeout(1):
        assert (await host.call("inner", {})).status == "ok"
    assert (await trying).status == "ok"
    assert is_idle(host)


# Event loops.


async def test_a_second_event_loop_is_refused_while_the_first_one_runs() -> None:
    crowd = Crowd()

    async def alone() -> None:
        """Stay alone."""
        await crowd.stay()

    host = serving(alone, inner, sequential="alone")

    def elsewhere() -> list[str]:
        found = []
        for make in (lambda: host.call("inner", {}), lambda: host.call_all(calls_of("inner", 2))):
            with asyncio.Runner() as runner:
                try:
                    runner.run(make())
                except EventLoopError as error:
                    found.append(error.message)
        return found

    first = asyncio.create_task(host.call_all(calls_of("alone", 3)))
    await asyncio.sleep(0.1)
    refused = await asyncio.to_thread(elsewhere)
    assert [message.partition(",")[0] for message in refused] == [
        "the runtime belongs to another event loop"
    ] * 2
    assert statuses(await first) == {"ok": 3}
    assert crowd.most == 1


@pytest.mark.asyncio(loop_factories=["real"])
async def test_other_threads_hand_over() -> None:
    host, loop = serving(inner), asyncio.get_running_loop()
    await host.call("inner", {})

    def elsewhere() -> str:
        return asyncio.run_coroutine_threadsafe(host.call("inner", {}), loop).result().status

    assert await asyncio.to_thread(elsewhere) == "ok"


# Synchronous tools.


@pytest.mark.asyncio(loop_factories=["real"])
@pytest.mark.parametrize("threads", [1, 8])
async def test_synchronous_tools_that_call_synchronous_tools_do_not_use_up_the_threads(threads: int) -> None:
    def deeper(left: int, ctx: SyncToolContext) -> int:
        """Go deeper, in a thread."""
        return 0 if not left else 1 + ctx.wait(host.call, "deeper", {"left": left - 1}).result

    host = serving(deeper, scheduling=Scheduling(max_threads=threads))
    call = ToolCall(tool="deeper", payload_json=b'{"left": 4}')
    results = await host.call_all([call] * 3 * threads)
    assert [result.result for result in results] == [4] * 3 * threads
    assert is_idle(host)
    host._services.execution.close()
