"""How long a run, its plannings and its calls may take, and what people take of it."""

from __future__ import annotations

import asyncio
import gc
import threading
from typing import Any

import pytest

from tests.agents.tools import (
    Bench,
    answers,
    calling,
    first_answer,
    keeping,
    parked,
    ran,
    until,
    work,
)
from tests.virtual_time import now
from toolgen.agents import (
    Await,
    FinalResponse,
    PlanInput,
    PlanResult,
    RunHandle,
    RunPolicy,
    ScriptedPlanner,
    ScriptStep,
)
from toolgen.agents.loop.limits import LimitCounter
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.capabilities import MemoryStateStore, StateCapability
from toolgen.contract.tasks import GRACE_S
from toolgen.events.records import ToolEnd
from toolgen.runtime import (
    Runtime,
    Scheduling,
    StaticToolset,
    ToolContext,
)

ADD = ("add", {"a": 1, "b": 2})


async def test_the_time_of_a_run_ends_its_tools_and_its_plannings() -> None:
    planner = ScriptedPlanner([calling("hang", ADD), lambda given: f"{given.closing} {answers(given)}"])
    found = await ran(planner, RunPolicy(time_budget=0.125))
    assert found.output.text == (
        "time_budget ['{\"unknown\":\"its result was not kept; it may have run\"}', '3']"
    )
    found = await ran(ScriptedPlanner([_slow, "late"]), RunPolicy(time_budget=0.125))
    assert (found.output.text, found.output.stop) == ("late", "time_budget")


async def _slow(given: PlanInput) -> FinalResponse:
    await asyncio.sleep(30)
    return FinalResponse(text="never")


SUM = ("add", {"a": 1, "b": 1})


async def slow(given: PlanInput) -> PlanResult:
    await asyncio.sleep(3600)
    return FinalResponse(text="never")


async def test_a_planner_is_asked_again_within_the_time_of_the_run() -> None:
    tried: list[int] = []

    def flaky(given: PlanInput) -> FinalResponse:
        tried.append(given.step)
        if len(tried) == 1:
            raise OSError("the provider is down")
        return FinalResponse(text="at last")

    found = await ran(ScriptedPlanner([flaky]), RunPolicy(time_budget=2))
    assert (found.output.text, tried) == ("at last", [0, 0])


@pytest.mark.parametrize("plan_timeout", [None, 0.08, 5.0])
async def test_a_planner_that_hangs_costs_no_more_than_the_time_of_the_run(
    plan_timeout: float | None,
) -> None:
    began = now()
    planner = ScriptedPlanner([slow, lambda given: given.closing])
    found = await ran(planner, RunPolicy(time_budget=0.1, plan_timeout=plan_timeout))
    assert found.output.text == "time_budget"
    assert now() - began == pytest.approx(0.1, abs=0.02)


async def test_a_planner_that_hangs_is_asked_three_times() -> None:
    planner = ScriptedPlanner([slow])
    found = await ran(planner, RunPolicy(plan_timeout=0.02))
    assert (found.output.status, len(planner.inputs)) == ("failed", 3)
    assert found.output.error == "the planner failed: no answer within 0.02 seconds (3 attempts in 0 s)"


async def test_a_timeout_of_the_planners_own_is_a_failure_like_others() -> None:
    async def times_out(given: PlanInput) -> PlanResult:
        raise TimeoutError("the provider is slow")

    planner = ScriptedPlanner([times_out])
    found = await ran(planner, RunPolicy(time_budget=5))
    assert (found.output.status, found.output.stop, len(planner.inputs)) == ("failed", "failed", 3)
    assert found.output.error == (
        "the planner failed: it raised TimeoutError, and the log has the details (3 attempts in 0 s)"
    )


async def test_a_closing_turn_that_hangs_ends_the_run() -> None:
    """After a minute, where the policy gives no time for it."""
    began = now()
    found = await ran(ScriptedPlanner([calling(SUM), slow]), RunPolicy(max_tool_calls=0))
    assert (found.output.status, found.output.stop) == ("failed", "tool_cap")
    assert now() - began == pytest.approx(60, abs=0.02)


@pytest.mark.parametrize(("own", "limit"), [(0.03, "0.03"), (None, "0.06")])
async def test_the_design_knows_the_time_of_a_tool_better_than_the_policy(
    own: float | None, limit: str
) -> None:
    bench = Bench()
    facts: Any = {} if own is None else {"timeout": own}
    toolset = StaticToolset(name="x.bench", bound=(func_tool(bench.work, toolset="x.bench", **facts),))
    planner = ScriptedPlanner([calling(work("a", 9)), first_answer])
    options = {"scheduling": Scheduling(tool_timeout_s=9.0)}
    found = await ran(planner, RunPolicy(tool_timeout=0.06), toolsets=(toolset,), options=options)
    assert (
        found.output.text == f'{{"unknown":"work did not respond within {limit} seconds; it may have run"}}'
    )
    assert bench.did == ["a begins", "a cancelled"]
    assert planner.inputs[1].retry_hints == ()


async def test_calls_that_never_had_a_place_end_with_the_run() -> None:
    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        await until(lambda: bench.did)
        await handle.cancel()
        gc.collect(1)  # a coroutine that nobody awaited is a warning here, and warnings are errors

    bench = Bench()
    planner = ScriptedPlanner([calling(work("a", 9), work("b"), work("c"))])
    found = await ran(
        planner, toolsets=(bench.toolset,), drive=drive, options={"scheduling": Scheduling(max_calls=1)}
    )
    gc.collect(1)
    assert found.output.status == "canceled"
    assert (bench.did[0], "b begins" in bench.did) == ("a begins", False)
    ends: list[Any] = found.of("tool_end")
    assert [event.status for event in ends] == ["unknown", "error", "error"]
    assert {event.error["message"] for event in ends[1:]} == {"work was not run: the run ended before"}


async def test_who_ignores_its_cancellation_holds_up_no_run() -> None:
    tries: list[str] = []

    async def deaf() -> None:
        for _ in range(3):
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                tries.append("cancelled")

    async def stay() -> str:
        """Stay."""
        await deaf()
        return "stayed"

    async def planner(given: PlanInput) -> PlanResult:
        await deaf()
        return FinalResponse(text="late")

    toolset = function_toolset("x.deaf", [stay])
    script: list[ScriptStep] = [calling("stay"), lambda given: f"{given.closing}: {answers(given)[0]}"]
    began = now()
    found = await ran(ScriptedPlanner(script), RunPolicy(time_budget=0.1), toolsets=(toolset,))
    told = '{"unknown":"its result was not kept; it may have run"}'
    assert found.output.text == f"time_budget: {told}"
    closing: list[ScriptStep] = [planner, lambda given: given.closing]
    found = await ran(ScriptedPlanner(closing), RunPolicy(time_budget=0.1))
    assert found.output.text == "time_budget"
    assert tries == ["cancelled", "cancelled"]
    assert now() - began == pytest.approx(2 * (0.1 + 2 * GRACE_S), abs=0.02)  # two runs, each with its grace


async def test_waits_that_overlap_count_once_in_a_replay_too() -> None:
    """The call that asks first stands last, so that a replay comes to its wait in another order."""
    bench = Bench()

    batch = calling(("ask", {"name": "late", "seconds": 0.05}), ("ask", {"name": "early"}))
    planner = ScriptedPlanner([batch, lambda given: str(answers(given))])

    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        await parked(handle)
        (early,) = (await handle.output()).awaiting
        assert early.question == "early?"
        await handle.answer(early, "1")
        (late,) = (await handle.settled()).awaiting
        await asyncio.sleep(0.05)
        await handle.answer(late, "2")

    found = await ran(planner, toolsets=(bench.toolset,), drive=drive, options=keeping())
    assert found.output.text == "['\"late: 2\"', '\"early: 1\"']"
    assert bench.did == ["early heard 1", "late heard 2"]


@pytest.mark.parametrize(
    ("waits", "sum_s"),
    [
        ([(0, 10), (20, 25)], 15),
        ([(20, 25), (0, 10)], 15),
        ([(0, 10), (5, 15), (14, 16)], 16),
        ([(14, 16), (0, 10), (5, 15)], 16),
        ([(0, 1), (1, 2)], 2),
        ([(3, 3), (5, 4)], 0),
        ([(0, 10), (2, 3)], 10),
    ],
)
def test_time_is_waited_once(waits: list[tuple[float, float]], sum_s: float) -> None:
    progress = LimitCounter(now=0, policy=RUN | {"time_budget": 20.0})
    for began, ended in waits:
        progress.add_wait(began, ended)
    assert progress.waited_s == sum_s
    assert progress.time_left(30) == max(0.01, 20 - (30 - sum_s))


RUN: dict[str, Any] = {"time_budget": None, "max_consecutive_failed_tool_calls": None}


async def test_after_a_wait_there_is_the_time_that_was_left() -> None:
    bench = Bench()

    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        (asked,) = (await handle.settled()).awaiting
        await asyncio.sleep(0.25)
        await handle.answer(asked, "now")

    script: list[ScriptStep] = [
        calling(("ask", {"name": "a"})),
        calling(work("b", 9)),
        lambda given: given.closing,
    ]
    began = now()
    found = await ran(
        ScriptedPlanner(script),
        RunPolicy(time_budget=0.15),
        toolsets=(bench.toolset,),
        drive=drive,
        options=keeping(),
    )
    assert found.output.text == "time_budget"
    assert bench.did == ["a heard now", "b begins", "b cancelled"]
    assert now() - began == pytest.approx(0.4, abs=0.02)


async def test_the_tool_says_how_long_it_may_take() -> None:
    async def nap(seconds: float) -> str:
        """Sleep."""
        await asyncio.sleep(seconds)
        return "rested"

    tools = [
        func_tool(nap, name="short", toolset="x.naps", timeout=0.02),
        func_tool(nap, name="long", toolset="x.naps", timeout=5.0),
        func_tool(nap, name="free", toolset="x.naps"),
    ]
    toolset = StaticToolset(name="x.naps", bound=tuple(tools))
    calls = calling(*[(tool.spec.name, {"seconds": 0.06}) for tool in tools])
    planner = ScriptedPlanner([calls, lambda given: " | ".join(answers(given))])
    found = await ran(planner, RunPolicy(tool_timeout=0.03), toolsets=(toolset,))
    assert found.output.text.split(" | ") == [
        '{"unknown":"short did not respond within 0.02 seconds; it may have run"}',
        '"rested"',
        '{"unknown":"free did not respond within 0.03 seconds; it may have run"}',
    ]
    assert planner.inputs[1].retry_hints == ()


class Slow:
    """Hangs for as many plannings as it is told, and says how often it was asked."""

    def __init__(self, hangs: int) -> None:
        self.asked = 0
        self._hangs = hangs

    async def plan_start(self, given: PlanInput) -> PlanResult:
        self.asked += 1
        if self.asked <= self._hangs:
            await asyncio.sleep(30)
        return FinalResponse(text=f"{self.asked} {given.closing}".strip())

    plan_resume = plan_start


async def test_a_planning_that_hangs_is_begun_again() -> None:
    planner = Slow(1)
    found = await ran(planner, RunPolicy(plan_timeout=0.03))
    assert (found.output.text, planner.asked) == ("2", 2)


async def test_a_planner_that_hangs_at_the_limit_too_has_failed() -> None:
    found = await ran(Slow(9), RunPolicy(plan_timeout=0.03, time_budget=0.02))
    assert (found.output.status, found.output.stop) == ("failed", "time_budget")
    assert found.output.error.startswith("the run ended by its time_budget: no answer within")


async def test_a_tool_in_a_thread_is_left_behind() -> None:
    released = threading.Event()

    def blocks() -> str:
        """Block where nobody can wake it."""
        released.wait()
        return "late"

    planner = ScriptedPlanner([calling("blocks"), first_answer])
    try:
        found = await ran(
            planner, RunPolicy(time_budget=0.125), toolsets=(function_toolset("x.t", [blocks]),)
        )
    finally:
        released.set()
    assert found.output.text == '{"unknown":"its result was not kept; it may have run"}'
    (ended,) = found.of("tool_end")
    assert (ended.status, ended.error) == ("unknown", {"message": "its result was not kept; it may have run"})


async def test_the_time_of_people_is_not_the_time_of_the_run() -> None:
    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        for _ in range(2):
            output = await handle.settled()
            await asyncio.sleep(60)
            for awaiting in output.awaiting:
                await handle.answer(awaiting, "Bo")

    planner = ScriptedPlanner(
        [
            calling("ask", "ask", ADD),
            Await(kind="clarification", question="And?"),
            calling("hang"),
            lambda given: f"{given.closing} {first_answer(given)}",
        ]
    )
    options: dict[str, Any] = {}
    found = await ran(planner, RunPolicy(time_budget=0.125), drive=drive, options=options)
    assert found.output.stop == "time_budget"
    assert found.output.text == 'time_budget {"unknown":"its result was not kept; it may have run"}'


async def keep(name: str, ctx: ToolContext, seconds: float = 0.0) -> str:
    """Keep a name."""
    state: Any = ctx.state
    state.append("names", name)
    state.set("last", name)
    await asyncio.sleep(seconds)
    return name


async def idle(seconds: float = 0.0) -> str:
    """Do nothing."""
    await asyncio.sleep(seconds)
    return ""


def keeps(name: str, seconds: float) -> tuple[str, dict[str, Any]]:
    return "keep", {"name": name, "seconds": seconds}


async def test_a_call_whose_time_is_over_holds_up_nobody() -> None:
    """One that hangs to the end of the run's time, and one whose sibling it is."""
    store = MemoryStateStore()
    toolset = function_toolset("x.state", [keep, idle])
    planner = ScriptedPlanner(
        [calling(keeps("a", 0.0), ("idle", {"seconds": 9})), lambda given: given.closing]
    )
    options = {"capabilities": [StateCapability(store)]}
    found = await asyncio.wait_for(
        ran(planner, RunPolicy(time_budget=0.125), toolsets=(toolset,), options=options), 2
    )
    assert found.output.text == "time_budget"
    ends = [event for event in found.events if isinstance(event, ToolEnd)]
    assert {event.tool_call_id for event in ends} == {"call_0_0", "call_0_1"}
