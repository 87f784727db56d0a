"""The limits of runs where they meet: time that is waited, spent by children, lost to a failing planner."""

from __future__ import annotations

import asyncio
import gc
from dataclasses import replace
from typing import Any

import pytest

from tests.runtime.agent_tools import Bench, exported, is_paired, parked, until
from tests.runtime.run_tools import TOOLS, agent, answers, calling, first_answer, ran, running
from tests.virtual_time import in_virtual_time, now
from toolgen.agents import (
    Await,
    FinalResponse,
    FinalResult,
    PlanInput,
    PlannerError,
    PlanResult,
    RunHandle,
    RunPolicy,
    ScriptedPlanner,
    ScriptStep,
    agents_of,
)
from toolgen.agents.activities import releasing
from toolgen.agents.loop import loop
from toolgen.agents.loop import planning as loop_planning
from toolgen.agents.loop.progress import Progress
from toolgen.runtime import Runtime, StaticToolset
from toolgen.runtime.native import NativeTool
from toolgen.runtime.toolsets.functions import func_tool, function_toolset
from toolgen.runtime.waiting.suspension import MemorySuspensionStore

ADD = ("add", {"a": 1, "b": 1})


def work(name: str, seconds: float = 0.0) -> tuple[str, dict[str, Any]]:
    return "work", {"name": name, "seconds": seconds}


async def slow(given: PlanInput) -> PlanResult:
    await asyncio.sleep(30)
    return FinalResponse(text="never")


# Calls.


async def test_bookkeeping_tools_of_a_batch_over_the_cap_do_not_run_either() -> None:
    bench = Bench()
    note = func_tool(bench.through, name="note", toolset="x.bench", is_bookkeeping=True)
    toolset = StaticToolset(name="x.bench", bound=(func_tool(bench.work, toolset="x.bench"), note))
    planner = ScriptedPlanner([calling(work("a"), "note", work("b")), lambda given: given.closing])
    found = await ran(planner, RunPolicy(max_tool_calls=1), toolsets=(toolset,))
    assert (found.output.text, found.output.tool_calls, bench.did) == ("tool_cap", 0, [])
    assert [event.status for event in found.of("tool_end")] == ["error"] * 3
    assert is_paired(planner.inputs[1])


async def test_calls_that_are_refused_cost_nothing_and_unknown_tools_do() -> None:
    bench = Bench()
    tagged = func_tool(bench.work, toolset="x.bench", tags=("open",))
    toolset = StaticToolset(
        name="x.bench", bound=(tagged, func_tool(bench.through, toolset="x.bench", tags=("shut",)))
    )
    planner = ScriptedPlanner([calling("through", "nope", work("a")), "done"])
    found = await ran(planner, RunPolicy(max_tool_calls=2), toolsets=(toolset,), allowed_tags=["open"])
    assert found.output.text == "done"
    assert answers(planner.inputs[1])[0] == '{"error":"not run: this run may not use through"}'
    assert (bench.did, found.output.tool_calls) == (["a begins", "a ends"], 1)


@pytest.mark.parametrize(
    ("facts", "count"),
    [
        ({}, 1),
        ({"denied_tags": ["shut"]}, 1),
        ({"allowed_tags": ["open"]}, 0),
        ({"restrict_to_tool": "add"}, 0),
    ],
)
async def test_a_provider_runs_no_tool_that_the_run_may_not_use(facts: dict[str, Any], count: int) -> None:
    """Nobody else could stop it."""
    search = NativeTool(id="x.sums.search", provider="anthropic", kind="web_search")
    toolset = replace(TOOLS, native=(search,))
    planner = ScriptedPlanner([calling("boom", "boom"), "done"])
    await ran(planner, RunPolicy(max_tool_calls=1), toolsets=(toolset,), **facts)
    first, last = planner.inputs
    assert (len(first.native), len(last.native)) == (count, 0 if last.closing else count)


@pytest.mark.parametrize("closing", [calling(ADD), Await(kind="clarification", question="And?"), None])
async def test_a_closing_turn_gives_an_answer_or_the_run_has_failed(closing: Any) -> None:
    def fails(given: PlanInput) -> PlanResult:
        raise PlannerError("no key")

    script = [calling(ADD, ADD), closing or fails]
    found = await ran(ScriptedPlanner(script), RunPolicy(max_tool_calls=1))
    assert (found.output.status, found.output.stop) == ("failed", "tool_cap")
    assert "tool_cap" in found.output.error
    assert [event.phase for event in found.of("run_phase")][-1] == "synthesizing"


async def test_steps_are_limited_for_those_whose_policy_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "_MOST_STEPS", 3)
    planner = ScriptedPlanner([calling(ADD), calling(ADD), calling(ADD), lambda given: given.closing])
    assert (await ran(planner)).output.text == "step_cap"


# Plannings.


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
@in_virtual_time
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
        "the planner failed: it raised TimeoutError, which the log has (3 attempts in 0 s)"
    )


@in_virtual_time
async def test_a_closing_turn_that_hangs_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop_planning, "_CLOSING_S", 0.05)
    began = now()
    found = await ran(ScriptedPlanner([calling(ADD), slow]), RunPolicy(max_tool_calls=0))
    assert (found.output.status, found.output.stop) == ("failed", "tool_cap")
    assert now() - began == pytest.approx(0.05, abs=0.02)


# Tools.


@pytest.mark.parametrize(("own", "limit"), [(0.03, "0.03"), (None, "0.06")])
async def test_the_design_knows_the_time_of_a_tool_better_than_the_policy(
    own: float | None, limit: str
) -> None:
    bench = Bench()
    facts: Any = {} if own is None else {"timeout": own}
    toolset = StaticToolset(name="x.bench", bound=(func_tool(bench.work, toolset="x.bench", **facts),))
    planner = ScriptedPlanner([calling(work("a", 9)), first_answer])
    found = await ran(
        planner, RunPolicy(tool_timeout=0.06), toolsets=(toolset,), options={"tool_timeout": 9.0}
    )
    assert found.output.text == f'{{"error":"work gave no answer within {limit} seconds"}}'
    assert bench.did == ["a begins", "a cancelled"]
    (hint,) = planner.inputs[1].retry_hints
    assert (hint.reason, hint.tool) == ("timeout", "x.bench.work")


async def test_calls_that_never_had_a_place_end_with_the_run() -> None:
    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        await until(lambda: bench.did)
        await handle.cancel()
        gc.collect()  # a coroutine that nobody awaited is a warning here, and warnings are errors

    bench = Bench()
    planner = ScriptedPlanner([calling(work("a", 9), work("b"), work("c"))])
    found = await ran(planner, toolsets=(bench.toolset,), drive=drive, options={"max_parallel": 1})
    gc.collect()
    assert found.output.status == "canceled"
    assert (bench.did[0], "b begins" in bench.did) == ("a begins", False)
    assert [event.status for event in found.of("tool_end")] == ["error"] * 3


async def test_a_batch_that_half_fails_ends_no_run() -> None:
    planner = ScriptedPlanner(
        [calling("boom"), calling("boom", ADD), calling("boom"), calling("nope", "boom"), "I stop."]
    )
    found = await ran(planner, RunPolicy(max_consecutive_failed_tool_calls=2))
    assert (found.output.stop, len(planner.inputs)) == ("failure_cap", 5)


@in_virtual_time
async def test_who_ignores_its_cancellation_holds_up_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(releasing, "_GRACE_S", 0.02)
    tries: list[str] = []

    async def deaf() -> None:
        for _ in range(30):
            try:
                await asyncio.sleep(0.05)
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
    told = '{"error":"stay did not end within the time of the run"}'
    assert found.output.text == f"time_budget: {told}"
    closing: list[ScriptStep] = [planner, lambda given: given.closing]
    found = await ran(ScriptedPlanner(closing), RunPolicy(time_budget=0.1))
    assert found.output.text == "time_budget"
    assert tries == ["cancelled", "cancelled"]
    assert now() - began == pytest.approx(0.24, abs=0.02)  # two runs, each with its grace


# Waiting.


def keeping() -> dict[str, Any]:
    return {"suspensions": MemorySuspensionStore()}


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
    progress = Progress(now=0, policy=RUN | {"time_budget": 20.0})
    for began, ended in waits:
        progress.waited(began, ended)
    assert progress.waited_s == sum_s
    assert progress.time_left(30) == max(0.01, 20 - (30 - sum_s))


RUN: dict[str, Any] = {"time_budget": None, "max_consecutive_failed_tool_calls": None}


@in_virtual_time
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


# Children.


@in_virtual_time
async def test_a_child_has_what_is_left_and_its_answer_comes_through() -> None:
    """The child ends when the time of its parent is over; what it found is not lost."""
    low = ScriptedPlanner([slow, '"what I know"'])
    top = ScriptedPlanner([calling("look"), lambda given: f"{given.closing}: {answers(given)[0]}"])
    policy = RunPolicy(time_budget=0.15)
    async with running(
        agent("x.low", low, policy=RunPolicy(time_budget=60)),
        agent("x.top", top, exported("x.lows", "x.low"), policy=policy),
    ) as (runtime, engine):
        began = now()
        output = await agents_of(runtime).client("x.top").one_shot("Go.")
        took = now() - began
        child = await agents_of(runtime).snapshot(f"{output.run_id}/child:call_0_0")
        assert await engine.replay(output.run_id) == (await engine.status(output.run_id)).output
    assert took == pytest.approx(0.15, abs=0.02)
    assert child.stop == "time_budget"
    assert output.text == 'time_budget: "what I know"'


async def test_a_typed_answer_is_repaired_once() -> None:
    def count() -> int:
        """Count."""
        return 0

    cases: list[tuple[list[ScriptStep], str | None]] = [
        (["three", FinalResult(result=3)], "3"),
        (["three", calling(ADD), "4.5", "4"], "4"),
        ([FinalResult(result="x"), "nothing"], None),
    ]
    for said, text in cases:
        low, top = ScriptedPlanner(said), ScriptedPlanner([calling("look"), first_answer])
        async with running(
            agent("x.low", low), agent("x.top", top, exported("x.lows", "x.low", returns=count))
        ) as (runtime, engine):
            output = await agents_of(runtime).client("x.top").one_shot("Go.")
            await engine.replay(output.run_id)
            await engine.replay(f"{output.run_id}/child:call_0_0")
        if text is not None:
            assert output.text == text
            continue
        (hint,) = top.inputs[1].retry_hints
        assert hint.reason == "malformed_response"
        assert output.text.startswith('{"error":"look failed: the final result does not fit')
