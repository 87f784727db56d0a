"""An answer that came to its limit: its words are kept and marked, and it is no typed result."""

from __future__ import annotations

import pytest

from tests.agents.tools import TOOLS, agent, answers, calling, exported, ran, running
from toolgen.agents import (
    FinalResponse,
    FinalResult,
    HandOver,
    History,
    PlanInput,
    PlannerError,
    PlannerUnavailableError,
    RunPolicy,
    ScriptedPlanner,
    agents_of,
)

HALF = FinalResponse(text="Half a sen", is_truncated=True)


async def test_words_that_break_off_are_kept_and_marked() -> None:
    found = await ran(ScriptedPlanner([HALF]))
    assert (found.output.status, found.output.text, found.output.is_truncated) == (
        "completed",
        "Half a sen",
        True,
    )
    assert [event.is_truncated for event in found.of("assistant_reply")] == [True]


async def test_whole_words_have_no_mark() -> None:
    found = await ran(ScriptedPlanner(["Whole."]))
    assert not found.output.is_truncated
    assert [event.is_truncated for event in found.of("assistant_reply")] == [False]


async def test_the_mark_survives_a_limit_and_a_hand_over() -> None:
    found = await ran(ScriptedPlanner([calling("boom"), HALF]), RunPolicy(max_tool_calls=0))
    assert (found.output.stop, found.output.is_truncated) == ("tool_cap", True)
    first = agent("x.first", ScriptedPlanner([HandOver(agent="x.second")]), transfers=("x.second",))
    second = agent("x.second", ScriptedPlanner([HALF]))
    async with running(first, second) as (runtime, engine):
        output = await agents_of(runtime).client("x.first").run("Go.", session_id="s")
        assert (output.stop, output.text, output.is_truncated) == ("transferred", "Half a sen", True)
        status = await engine.status(output.run_id)
        assert await engine.replay(output.run_id) == status.output


async def test_half_a_text_is_no_typed_result() -> None:
    """Not even where it happens to be JSON: of 30 the first half is 3."""
    below = ScriptedPlanner([FinalResponse(text='"3"', is_truncated=True), FinalResult(result="30")])
    above = ScriptedPlanner([calling("look"), lambda given: answers(given)[0]])
    async with running(agent("x.low", below), agent("x.top", above, TOOLS, exported("x.lows", "x.low"))) as (
        runtime,
        _,
    ):
        output = await agents_of(runtime).client("x.top").run("Go.", session_id="s")
    assert output.text == '"30"'
    assert "cut off" in below.inputs[1].messages[-1].text  # type: ignore[union-attr]  # it is the runtime's


async def test_a_mark_that_is_none_is_a_mistake_of_the_planner() -> None:
    wrong = FinalResponse(text="x", is_truncated="yes")  # type: ignore[arg-type]  # on purpose
    found = await ran(ScriptedPlanner([wrong]))
    assert "its is_truncated has the type str; it must be a bool" in found.output.error


@pytest.mark.parametrize(
    ("error", "has_trace"),
    [(PlannerError("no key"), False), (PlannerUnavailableError("busy"), False), (KeyError("x"), True)],
)
async def test_a_summary_that_fails_is_one_line_of_the_log(
    caplog: pytest.LogCaptureFixture, error: Exception, has_trace: bool
) -> None:
    class Summarizing(ScriptedPlanner):
        async def summarize(self, messages: object, given: PlanInput, history: History) -> str:
            raise error

    policy = RunPolicy(history=History(keep_turns=1, summarize_after=1))
    async with running(agent("x.agent", Summarizing(["a"], ["b"], ["c"]), policy=policy)) as (runtime, _):
        outputs = [await agents_of(runtime).client("x.agent").run("Go.", session_id="s") for _ in range(3)]
    assert [output.text for output in outputs] == ["a", "b", "c"]
    (line,) = caplog.records
    assert "were not summarized: " in line.getMessage()
    assert bool(line.exc_info) is has_trace
