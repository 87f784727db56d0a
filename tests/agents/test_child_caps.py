"""The calls of a run that answers a call count against the cap of the run that made it."""

from __future__ import annotations

from tests.agents.tools import (
    TOOLS,
    agent,
    answers,
    calling,
    everything,
    exported,
    first_answer,
    running,
)
from toolgen.agents import (
    AssistantMessage,
    FinalResult,
    HandOver,
    PlanInput,
    PlanResult,
    RunOutput,
    RunPolicy,
    ScriptedPlanner,
    agents_of,
)

ADD = ("add", {"a": 1, "b": 1})
LOOK = "look"


class Adding:
    """Plans so many batches of one call, each run anew, and says how many of them were made."""

    def __init__(self, batches: int) -> None:
        self._batches = batches

    async def plan_start(self, given: PlanInput) -> PlanResult:
        return await self.plan_resume(given)

    async def plan_resume(self, given: PlanInput) -> PlanResult:
        made = sum(isinstance(one, AssistantMessage) for one in given.messages)
        if given.closing or made == self._batches:
            refused = made > 0 and "not run" in first_answer(given)
            return FinalResult(result=f"{made - refused} {given.closing}".strip())
        return calling(ADD)


async def run_of(
    top: ScriptedPlanner, batches: int, policy: RunPolicy, below: RunPolicy | None = None
) -> RunOutput:
    """Return a run of an agent whose tool `look` is answered by one that adds; a replay of it is the same."""
    low = agent("x.low", Adding(batches), policy=below)
    caller = agent("x.top", top, exported("x.lows", "x.low"), TOOLS, policy=policy)
    async with running(low, caller) as (runtime, engine):
        output = await agents_of(runtime).client("x.top").run("Go.", session_id="s")
        assert await engine.replay(output.run_id) == (await engine.status(output.run_id)).output
        return output


async def test_a_child_makes_at_most_the_calls_that_its_parent_has_left() -> None:
    top = ScriptedPlanner(
        [calling(LOOK), calling(ADD), lambda given: f"{given.closing}: {first_answer(given)}"]
    )
    output = await run_of(top, 5, RunPolicy(max_tool_calls=3))
    assert answers(top.inputs[1]) == ['"2 tool_cap"']
    assert (output.tool_calls, output.stop) == (3, "tool_cap")
    assert "the run may make 0 more of 3" in output.text


async def test_what_a_child_does_not_use_its_parent_has() -> None:
    top = ScriptedPlanner([calling(LOOK), calling(ADD), first_answer])
    output = await run_of(top, 1, RunPolicy(max_tool_calls=3))
    assert (answers(top.inputs[1]), output.text) == (['"1"'], "2")
    assert output.tool_calls == 3


async def test_the_children_of_a_batch_share_what_is_left() -> None:
    """Whichever ends first: the three that are left are two for the first, and one for the second."""
    top = ScriptedPlanner([calling(LOOK, ADD, LOOK), everything])
    output = await run_of(top, 5, RunPolicy(max_tool_calls=6))
    assert output.text == '"2 tool_cap" | 2 | "1 tool_cap"'
    assert (output.tool_calls, output.children_count) == (6, 2)


async def test_a_cap_of_the_child_that_is_lower_stays() -> None:
    top = ScriptedPlanner([calling(LOOK), first_answer])
    output = await run_of(top, 5, RunPolicy(max_tool_calls=9), RunPolicy(max_tool_calls=1))
    assert (output.text, output.tool_calls) == ('"1 tool_cap"', 2)


async def test_without_a_cap_the_calls_of_children_are_counted_all_the_same() -> None:
    output = await run_of(ScriptedPlanner([calling(LOOK), first_answer]), 5, RunPolicy())
    assert (output.text, output.tool_calls) == ('"5"', 6)


async def test_an_agent_that_takes_the_conversation_over_has_a_cap_of_its_own() -> None:
    first = ScriptedPlanner([calling(ADD), HandOver(agent="x.second")])
    second = ScriptedPlanner([calling(ADD), calling(ADD), first_answer])
    agents = (
        agent("x.first", first, policy=RunPolicy(max_tool_calls=1), transfers=("x.second",)),
        agent("x.second", second, policy=RunPolicy(max_tool_calls=2)),
    )
    async with running(*agents) as (runtime, _):
        output = await agents_of(runtime).client("x.first").run("Go.", session_id="s")
    assert (output.text, output.tool_calls) == ("2", 1)
