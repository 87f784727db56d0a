"""Limits of runs at their edges: caps that meet, time that is short, tools that are not for the run."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.runtime.run_tools import TOOLS, answers, calling, first_answer, ran
from toolgen.agents import (
    Await,
    FinalResponse,
    FinalResult,
    HandOver,
    PlanInput,
    PlanResult,
    RunHandle,
    RunPolicy,
    ScriptedPlanner,
    ScriptStep,
)
from toolgen.runtime import Runtime, StaticToolset, ToolContext, ToolError
from toolgen.runtime.toolsets.functions import func_tool, function_toolset
from toolgen.runtime.waiting.suspension import MemorySuspensionStore

ADD = ("add", {"a": 1, "b": 2})
DID: list[str] = []


def do(what: str) -> str:
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
        '{"error":"short gave no answer within 0.02 seconds"}',
        '"rested"',
        '{"error":"free gave no answer within 0.03 seconds"}',
    ]
    assert [hint.reason for hint in planner.inputs[1].retry_hints] == ["timeout", "timeout"]


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


async def test_a_planner_that_hangs_gets_no_more_than_the_time_of_the_run() -> None:
    planner = Slow(1)
    found = await ran(planner, RunPolicy(plan_timeout=5.0, time_budget=0.05))
    assert (found.output.text, found.output.stop) == ("2 time_budget", "time_budget")


async def test_a_planner_that_hangs_at_the_limit_too_has_failed() -> None:
    found = await ran(Slow(9), RunPolicy(plan_timeout=0.03, time_budget=0.02))
    assert (found.output.status, found.output.stop) == ("failed", "time_budget")
    assert found.output.error.startswith("the run ended by its time_budget: no answer within")


def stubborn_in_thread() -> str:
    """Sleep where nobody can wake it."""
    import time

    time.sleep(0.15)
    return "late"


async def test_a_tool_in_a_thread_is_left_behind() -> None:
    toolset = function_toolset("x.thread", [stubborn_in_thread])
    planner = ScriptedPlanner([calling("stubborn_in_thread"), first_answer])
    found = await ran(planner, RunPolicy(time_budget=0.05), toolsets=(toolset,))
    assert found.output.text == '{"error":"stubborn_in_thread did not end within the time of the run"}'
    (ended,) = found.of("tool_end")
    assert (ended.status, ended.error) == (
        "error",
        "stubborn_in_thread did not end within the time of the run",
    )


async def test_the_time_of_people_is_not_the_time_of_the_run() -> None:
    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        for _ in range(2):
            output = await handle.settled()
            await asyncio.sleep(0.06)
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
    options = {"suspensions": MemorySuspensionStore()}
    found = await ran(planner, RunPolicy(time_budget=0.1), drive=drive, options=options)
    assert found.output.stop == "time_budget"
    assert found.output.text == 'time_budget {"error":"hang did not end within the time of the run"}'


async def who(ctx: ToolContext) -> str:
    """Say who asks."""
    return f"{dict(ctx.meta.labels)} {ctx.meta.session_id} {bool(ctx.meta.turn_id)}"


async def test_labels_reach_planners_and_tools() -> None:
    planner = ScriptedPlanner([calling("who"), first_answer])
    found = await ran(planner, toolsets=(function_toolset("x.who", [who]),), labels={"user": "mira"})
    assert found.output.text == "\"{'user': 'mira'} s True\""
    assert planner.inputs[0].labels == {"user": "mira"}


async def test_one_tool_is_advertised_and_taken() -> None:
    planner = ScriptedPlanner([calling(ADD, "boom", "nope"), lambda given: " | ".join(answers(given))])
    found = await ran(planner, restrict_to_tool="add")
    assert [[spec.name for spec in given.tools] for given in planner.inputs] == [["add"], ["add"]]
    first, *others = found.output.text.split(" | ")
    assert first == "3"
    assert [json.loads(text)["error"] for text in others] == ["not run: only add may be called now"] * 2
    assert found.output.tool_calls == 1


async def test_a_question_restricts_the_next_step_alone() -> None:
    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        (asked,) = (await handle.settled()).awaiting
        await handle.answer(asked, "yes")

    question = Await(kind="clarification", question="Add?", restrict_to_tool="add")
    planner = ScriptedPlanner([question, calling("boom"), calling("boom"), first_answer])
    await ran(planner, drive=drive)
    advertised = [[spec.name for spec in given.tools] for given in planner.inputs]
    assert advertised[1] == ["add"]
    assert len(advertised[2]) == len(TOOLS.bound)
    assert first_answer(planner.inputs[2]) == '{"error":"not run: only add may be called now"}'
    assert first_answer(planner.inputs[3]).startswith('{"error":"boom failed')


@pytest.mark.parametrize("mode", ["resume", "await_clarification", "finalize"])
async def test_missing_fields(mode: Any) -> None:
    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        for awaiting in (await handle.settled()).awaiting:
            assert awaiting.question == "To call add I need a, b."
            await handle.answer(awaiting, "1 and 2")

    planner = ScriptedPlanner(
        [calling("add", ADD), lambda given: given.closing or calling(ADD), first_answer]
    )
    found = await ran(planner, RunPolicy(on_missing_fields=mode), drive=drive)
    (hint,) = planner.inputs[1].retry_hints
    assert (hint.reason, hint.missing_fields) == ("missing_fields", ("$.a", "$.b"))
    assert answers(planner.inputs[1])[1] == "3"
    assert found.output.text == {"finalize": "missing_fields"}.get(mode, "3")
    asked = found.of("await_clarification")
    assert [event.missing_fields for event in asked] == (
        [("$.a", "$.b")] if mode == "await_clarification" else []
    )


async def test_with_nobody_to_ask_the_model_is_told_of_missing_fields() -> None:
    planner = ScriptedPlanner([calling("add"), calling(ADD), first_answer])
    policy = RunPolicy(on_missing_fields="await_clarification")
    found = await ran(planner, policy, options={"is_interactive": False})
    assert found.output.text == "3"


async def test_an_answer_that_is_typed_ends_a_run_at_its_limit() -> None:
    steps: list[ScriptStep] = [
        calling(ADD, text="Let me see."),
        FinalResult(result=[1], text="one"),
    ]
    found = await ran(ScriptedPlanner(steps), RunPolicy(max_tool_calls=0))
    assert (found.output.result, found.output.text, found.output.stop) == ([1], "one", "tool_cap")
    assert [event.text for event in found.of("assistant_reply")] == ["Let me see.", "one"]
