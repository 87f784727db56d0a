"""A runtime and its event loops, and limits that let nothing run."""

from __future__ import annotations

import asyncio
import gc
from collections import Counter

import pytest

from tests.virtual_time import VirtualTimeLoop
from toolgen.runtime import Scheduling, ToolResult

from .crowds import HOUR, Crowd, calls_of, inner, is_idle, serving, statuses


def test_a_runtime_goes_on_in_another_event_loop_when_its_own_has_ended() -> None:
    async def stay() -> None:
        """Stay."""
        await asyncio.sleep(HOUR)

    async def leave_calls() -> None:
        for _ in range(3):
            tasks.add(asyncio.create_task(host.call("stay", {})))
        await asyncio.sleep(1)

    async def count() -> Counter[str]:
        return statuses(await host.call_all(calls_of("inner", 5)))

    tasks = set[asyncio.Task[ToolResult]]()
    host = serving(inner, stay, sequential="inner stay", scheduling=Scheduling(max_calls=2))
    for work in (leave_calls, count, count):
        with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
            runner.run(work())
    assert is_idle(host)


@pytest.mark.exhaustive
def test_a_call_that_an_event_loop_has_left_behind_releases_no_lock_of_the_next_one() -> None:
    """An event loop that was closed cancels nothing: its calls end when nobody refers to them any more."""
    crowd, left = Crowd(), list[asyncio.Task[ToolResult]]()

    async def alone(seconds: int) -> None:
        """Stay alone."""
        await crowd.stay(seconds)

    async def leave_a_call() -> None:
        left.append(asyncio.create_task(host.call("alone", {"seconds": int(HOUR)})))
        await asyncio.sleep(1)

    async def go_on() -> list[str]:
        first = asyncio.create_task(host.call("alone", {"seconds": 5}))
        await asyncio.sleep(1)
        crowd.now = crowd.most = 1
        left.clear()
        gc.collect()
        others = (host.call("alone", {"seconds": 1}) for _ in range(2))
        return [result.status for result in await asyncio.gather(first, *others)]

    host = serving(alone, sequential="alone")
    before = VirtualTimeLoop()
    before.run_until_complete(leave_a_call())
    before.close()
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        assert runner.run(go_on()) == ["ok"] * 3
    assert crowd.most == 1


def test_limits_that_let_nothing_run_are_refused() -> None:
    for wrong in ({"max_calls": 0}, {"max_calls_per_run": 0}, {"max_threads": 0}, {"max_retries": -1}):
        with pytest.raises(ValueError, match="must be at least"):
            Scheduling(**wrong)
    with pytest.raises(ValueError, match="tool_timeout_s is 0; it must be more than 0"):
        Scheduling(tool_timeout_s=0)


def test_limits_that_are_no_numbers_are_refused_by_their_names() -> None:
    for name, value in {
        "max_calls": "3",
        "max_calls_per_run": None,
        "max_queued": 1.5,
        "max_retries": True,
    }.items():
        with pytest.raises(TypeError, match=f"^{name} is {value!r}; it must be a whole number"):
            Scheduling(**{name: value})  # type: ignore[arg-type]  # on purpose
    with pytest.raises(TypeError, match="stage_timeout_s is '30'; it must be a number of seconds"):
        Scheduling(stage_timeout_s="30")  # type: ignore[arg-type]  # on purpose
    assert Scheduling(max_calls_per_tool=None).max_calls_per_tool is None
