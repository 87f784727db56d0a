"""How much a run may do: calls, failures, steps, and what it may say when that is spent."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import pytest

from tests.agents.tools import (
    Bench,
    agent,
    answers,
    calling,
    is_paired,
    ran,
    running,
    texts,
    work,
)
from tests.virtual_time import now
from toolgen.agents import (
    Await,
    FinalResult,
    HandOver,
    PlanInput,
    PlannerError,
    PlanResult,
    RunPolicy,
    ScriptedPlanner,
    ScriptStep,
    agents_of,
)
from toolgen.agents.loop.loop import agent_loop
from toolgen.calls.functions.tools import func_tool
from toolgen.engines import InProcessEngine, Loop
from toolgen.runtime import StaticToolset, ToolError

ADD = ("add", {"a": 1, "b": 2})

DID: list[str] = []


async def do(what: str) -> str:
    """Do."""
    DID.append(what)
    if what == "fail":
        raise ToolError("it failed")
    return what


def counted(*, is_bookkeeping: bool) -> Any:
    name = "note" if is_bookkeeping else "do"
    return func_tool(do, name=name, toolset="x.done", is_bookkeeping=is_bookkeeping)


DONE = StaticToolset(name="x.done", bound=(counted(is_bookkeeping=False), counted(is_bookkeeping=True)))


def closing(given: PlanInput) -> str:
    return f"{given.closing}: {len(given.tools)}"


async def test_a_batch_is_run_whole_or_not_at_all() -> None:
    DID.clear()
    steps: list[ScriptStep] = [
        calling(("do", {"what": "a"}), ("note", {"what": "n"}), ("do", {})),
        calling(("note", {"what": "m"})),
        calling(("note", {"what": "no"}), ("do", {"what": "no"})),
        closing,
    ]
    planner = ScriptedPlanner(steps)
    found = await ran(planner, RunPolicy(max_tool_calls=2), toolsets=(DONE,))
    assert (found.output.text, found.output.stop, found.output.tool_calls) == ("tool_cap: 0", "tool_cap", 2)
    assert sorted(DID) == ["a", "m", "n"]
    assert (
        answers(planner.inputs[3])
        == ['{"error":"not run: the batch has 1 calls, and the run may make 0 more of 2"}'] * 2
    )


@pytest.mark.parametrize(
    "step",
    [
        calling(ADD),
        Await(kind="clarification", question="May I?"),
        HandOver(agent="x.other"),
    ],
)
async def test_at_a_limit_only_an_answer_is_taken(step: PlanResult) -> None:
    found = await ran(ScriptedPlanner([calling(ADD), step]), RunPolicy(max_tool_calls=0))
    assert (found.output.status, found.output.stop) == ("failed", "tool_cap")
    assert found.output.error == "the run ended by its tool_cap, and its planner gave no final answer"
    assert found.of("run_completed")[0].status == "failed"


async def test_what_fails_is_counted_by_batches() -> None:
    fail, go = ("do", {"what": "fail"}), ("do", {"what": "a"})
    planner = ScriptedPlanner(
        [calling(fail, fail), calling(go, fail), calling(fail), calling("nope"), closing]
    )
    found = await ran(planner, RunPolicy(max_consecutive_failed_tool_calls=2), toolsets=(DONE,))
    assert (found.output.text, found.output.stop, found.output.tool_calls) == (
        "failure_cap: 0",
        "failure_cap",
        6,
    )


async def test_an_answer_that_is_typed_ends_a_run_at_its_limit() -> None:
    steps: list[ScriptStep] = [
        calling(ADD, text="Let me see."),
        FinalResult(result=[1], text="one"),
    ]
    found = await ran(ScriptedPlanner(steps), RunPolicy(max_tool_calls=0))
    assert (found.output.result, found.output.text, found.output.stop) == ([1], "one", "tool_cap")
    assert [event.text for event in found.of("assistant_reply")] == ["Let me see.", "one"]


SUM = ("add", {"a": 1, "b": 1})


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


@pytest.mark.parametrize("closing", [calling(SUM), Await(kind="clarification", question="And?"), None])
async def test_a_closing_turn_gives_an_answer_or_the_run_has_failed(closing: Any) -> None:
    def fails(given: PlanInput) -> PlanResult:
        raise PlannerError("no key")

    script = [calling(SUM, SUM), closing or fails]
    found = await ran(ScriptedPlanner(script), RunPolicy(max_tool_calls=1))
    assert (found.output.status, found.output.stop) == ("failed", "tool_cap")
    assert "tool_cap" in found.output.error
    assert [event.phase for event in found.of("run_phase")][-1] == "synthesizing"


class ThreeSteps(InProcessEngine):
    """An engine whose runs have three steps."""

    def register(self, *, loops: Mapping[str, Loop], **more: Any) -> None:
        super().register(loops={name: partial(agent_loop, most_steps=3) for name in loops}, **more)


async def test_steps_are_limited_for_those_whose_policy_says_nothing() -> None:
    planner = ScriptedPlanner([calling(SUM), calling(SUM), calling(SUM), lambda given: given.closing])
    found = await ran(planner, options={"engine": ThreeSteps(clock=now)})
    assert found.output.text == "step_cap"


async def test_policies_are_overridden_for_a_run_and_for_an_agent() -> None:
    planner = ScriptedPlanner([calling(ADD), "done"])
    async with running(agent("x.agent", planner, policy=RunPolicy(max_tool_calls=5))) as (runtime, _):
        client = agents_of(runtime).client("x.agent")
        none = RunPolicy(max_tool_calls=0)
        assert (await client.one_shot("Go.", policy=none)).stop == "tool_cap"
        agents_of(runtime).override_policy("x.agent", none)
        assert (await client.one_shot("Go.")).stop == "tool_cap"
        agents_of(runtime).override_policy("x.agent", None)
        assert (await client.one_shot("Go.")).stop == "final"


async def test_the_policy_of_one_run_is_that_run() -> None:
    bench = Bench()
    limits: list[ScriptStep] = [calling(("work", {"name": "w"})), lambda given: given.closing or "free"]
    async with running(agent("x.agent", ScriptedPlanner(limits), bench.toolset)) as (runtime, engine):
        client = agents_of(runtime).client("x.agent")
        capped = await client.one_shot("Go.", policy=RunPolicy(max_tool_calls=0))
        free = await client.one_shot("Go.")
        await engine.replay(capped.run_id)
    assert (capped.text, free.text, bench.did) == ("tool_cap", "free", ["w begins", "w ends"])


@pytest.mark.parametrize("made", [101, 10_000])
async def test_of_a_message_with_too_many_calls_none_is_run(made: int) -> None:
    """Each call costs turns, events and a place in the conversation, also where it is refused."""
    DID.clear()
    many = calling(*[("do", {"what": "much"})] * made)
    few = calling(*[("do", {"what": "little"})] * 100)
    planner = ScriptedPlanner([many, few, "done"])
    found = await ran(planner, toolsets=(DONE,))
    assert (found.output.text, found.output.tool_calls) == ("done", 100)
    assert DID == ["little"] * 100
    assert len(found.of("tool_start")) == 100
    told = f"none of {made} calls was run; make at most 100 in one message"
    assert told in texts(planner.inputs[1])
    assert is_paired(planner.inputs[2])


async def test_a_policy_that_allows_more_calls_allows_them_in_one_message() -> None:
    DID.clear()
    many = [calling(*[("do", {"what": "much"})] * number) for number in (151, 150)]
    found = await ran(
        ScriptedPlanner([*many, "done"]), toolsets=(DONE,), policy=RunPolicy(max_tool_calls=150)
    )
    assert (found.output.text, DID) == ("done", ["much"] * 150)


async def test_a_model_that_goes_on_making_too_many_calls_fails() -> None:
    DID.clear()
    found = await ran(ScriptedPlanner([calling(*[("do", {"what": "much"})] * 101)] * 2), toolsets=(DONE,))
    assert (found.output.status, DID) == ("failed", [])
    assert "make at most 100 in one message" in str(found.output.error)
