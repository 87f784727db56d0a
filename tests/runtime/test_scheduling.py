"""When executors run: limits, calls within calls, and the end of what cannot begin."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from tests.runtime.crowds import HOUR, Crowd, calls_of, inner, is_idle, serving, statuses
from toolgen.calls.errors import EventLoopError
from toolgen.runtime import (
    BusyError,
    CallMeta,
    Continue,
    Hook,
    Scheduling,
    SyncToolContext,
    ToolCall,
    ToolContext,
    ToolResult,
    Verdict,
)

pytestmark = pytest.mark.asyncio(loop_factories=["virtual"])


# Calls within calls.


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
        "stay was not run: too many calls are queued: 5, 5 of them from the same run; the limit is "
        "max_queued=10 in Runtime(scheduling=Scheduling(…)), and one run can use at most half of the "
        "places that other runs leave"
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
    assert [message.partition("\n")[0] for message in refused] == [
        "the runtime is used by another event loop that is still running"
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
