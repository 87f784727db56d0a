"""What a run may do: its caps, its time, its tags, and what happens at a limit."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

import pytest

from tests.runtime.run_tools import TOOLS, Ran, agent, answers, calling, first_answer, ran, running, texts
from toolgen.agents import (
    CallTools,
    FinalResponse,
    FinalResult,
    HandOver,
    PlanInput,
    PlannedCall,
    PlannerError,
    RunPolicy,
    ScriptedPlanner,
    agents_of,
)
from toolgen.runtime import Abort, Answer, Deny, Hook, StaticToolset, ToolError, Verdict
from toolgen.runtime.toolsets.functions import func_tool

ADD = ("add", {"a": 1, "b": 2})


async def test_results_stand_in_the_order_of_the_calls() -> None:
    planner = ScriptedPlanner(
        [calling(ADD, ("add", {"a": 5, "b": 5}), ADD), lambda given: str(answers(given))]
    )
    found = await ran(planner)
    assert found.output.text == "['3', '10', '3']"
    assert (found.output.stop, found.output.tool_calls) == ("final", 3)
    assert [event.name for event in found.of("tool_start")] == ["add", "add", "add"]


async def test_what_does_not_fit_is_repaired() -> None:
    broken = CallTools(
        calls=(
            PlannedCall(name="add", arguments="{"),
            PlannedCall.of("add", {"a": "1"}),
            PlannedCall.of("ad"),
            PlannedCall(name="boom", arguments=" "),
        )
    )
    planner = ScriptedPlanner([broken, calling(ADD), first_answer])
    found = await ran(planner)
    assert found.output.text == "3"
    told = [json.loads(text) for text in answers(planner.inputs[1])]
    assert told[0]["issues"][0]["constraint"] == "invalid_json"
    assert {issue["path"] for issue in told[1]["issues"]} == {"$.a", "$.b"}
    assert told[2]["error"] == "there is no tool 'ad'; close names are add"
    assert told[3]["error"].startswith("boom failed; it is not the arguments")
    assert "secret" not in str(found.events)
    hints = [(hint.reason, hint.missing_fields) for hint in planner.inputs[1].retry_hints]
    assert hints == [
        ("invalid_arguments", ()),
        ("invalid_arguments", ("$.b",)),
        ("tool_unavailable", ()),
    ]


async def test_a_batch_over_the_cap_runs_not_at_all() -> None:
    planner = ScriptedPlanner([calling(ADD, ADD), calling(ADD, ADD), lambda given: given.closing])
    found = await ran(planner, RunPolicy(max_tool_calls=3))
    assert (found.output.status, found.output.text, found.output.tool_calls) == ("completed", "tool_cap", 2)
    closing = planner.inputs[2]
    assert (
        answers(closing)
        == ['{"error":"not run: the batch has 2 calls, and the run may make 1 more of 3"}'] * 2
    )
    assert closing.tools == ()
    assert [event.status for event in found.of("tool_end")] == ["ok", "ok", "error", "error"]


def _do() -> str:
    return "ok"


async def test_bookkeeping_costs_nothing() -> None:
    note = func_tool(_do, name="note", description="Note.", is_bookkeeping=True)
    toolset = StaticToolset(name="local.functions", bound=(note,))
    planner = ScriptedPlanner([calling("note", "note"), calling("note"), "done"])
    policy = RunPolicy(max_tool_calls=1)
    async with running(agent("x.agent", planner, toolset, policy=policy)) as (runtime, _):
        output = await agents_of(runtime).client("x.agent").one_shot("Go.")
    assert (output.text, output.stop, output.tool_calls) == ("done", "final", 0)


async def test_failed_batches_end_a_run() -> None:
    planner = ScriptedPlanner(
        [calling("boom"), calling("boom", ADD), calling("boom", "boom"), calling("boom"), "I stop."]
    )
    found = await ran(planner, RunPolicy(max_consecutive_failed_tool_calls=2))
    assert (found.output.text, found.output.stop) == ("I stop.", "failure_cap")


async def test_a_run_without_an_answer_at_its_limit_has_failed() -> None:
    found = await ran(
        ScriptedPlanner([calling("boom"), calling(ADD)]), RunPolicy(max_consecutive_failed_tool_calls=1)
    )
    assert (found.output.status, found.output.stop) == ("failed", "failure_cap")
    assert found.output.error == "the run ended by its failure_cap, and its planner gave no final answer"


async def test_the_time_of_a_run_ends_its_tools_and_its_plannings() -> None:
    planner = ScriptedPlanner([calling("hang", ADD), lambda given: f"{given.closing} {answers(given)}"])
    found = await ran(planner, RunPolicy(time_budget=0.1))
    assert found.output.text == (
        "time_budget ['{\"error\":\"hang did not end within the time of the run\"}', '3']"
    )
    found = await ran(ScriptedPlanner([_slow, "late"]), RunPolicy(time_budget=0.1))
    assert (found.output.text, found.output.stop) == ("late", "time_budget")


async def _slow(given: PlanInput) -> FinalResponse:
    await asyncio.sleep(30)
    return FinalResponse(text="never")


async def test_a_tool_has_the_time_of_the_policy() -> None:
    found = await ran(ScriptedPlanner([calling("hang"), first_answer]), RunPolicy(tool_timeout=0.05))
    assert found.output.text == '{"error":"hang gave no answer within 0.05 seconds"}'


async def test_a_planner_that_fails_is_asked_again() -> None:
    tried: list[int] = []

    def flaky(given: PlanInput) -> FinalResponse:
        tried.append(given.step)
        if len(tried) < 3:
            raise OSError("the provider is down")
        return FinalResponse(text="at last")

    assert (await ran(ScriptedPlanner([flaky]))).output.text == "at last"
    assert tried == [0, 0, 0]

    def broken(given: PlanInput) -> FinalResponse:
        tried.append(given.step)
        raise PlannerError("no key")

    tried.clear()
    found = await ran(ScriptedPlanner([broken]))
    assert (found.output.status, found.output.error, tried) == ("failed", "the planner failed: no key", [0])


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (CallTools(calls=()), "there are no calls; call a tool or give the final answer"),
        (HandOver(agent="x.other"), "x.other cannot take over; no agent can"),
    ],
)
async def test_what_cannot_be_is_told_once(wrong: CallTools | HandOver, told: str) -> None:
    planner = ScriptedPlanner([wrong, lambda given: texts(given).rpartition(" [")[2][:-1]])
    assert (await ran(planner)).output.text == told
    found = await ran(ScriptedPlanner([wrong, wrong, "never"]))
    assert (found.output.status, found.output.error) == ("failed", told)


async def test_a_planner_returns_one_of_five() -> None:
    found = await ran(ScriptedPlanner([lambda given: 3]))  # type: ignore[list-item,return-value]
    assert found.output.error.startswith("the planner failed: the planner returned int; it returns CallTools")


async def test_tags_and_one_tool_are_advertised_and_kept() -> None:
    tools = [func_tool(_do, name=name, description="Do.", tags=(name,)) for name in ("read", "write")]
    toolset = StaticToolset(name="local.functions", bound=tuple(tools))
    for allowed, denied in ((["read"], []), ([], ["write"])):
        planner = ScriptedPlanner([calling("read", "write"), lambda given: str(answers(given))])
        async with running(agent("x.agent", planner, toolset)) as (runtime, _):
            output = (
                await agents_of(runtime)
                .client("x.agent")
                .one_shot("Go.", allowed_tags=allowed, denied_tags=denied)
            )
        assert [spec.name for spec in planner.inputs[0].tools] == ["read"]
        assert output.text == str(['"ok"', '{"error":"not run: this run may not use write"}'])
    found = await ran(ScriptedPlanner([calling(ADD), first_answer]), restrict_to_tool="boom")
    assert found.output.text == '{"error":"not run: only boom may be called now"}'


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


async def test_a_tool_may_end_the_turn() -> None:
    found = await ran(ScriptedPlanner([calling(ADD, ("finish", {"text": "over"}))]))
    assert (found.output.text, found.output.result, found.output.stop) == (
        "It is over.",
        "over",
        "terminal_tool",
    )
    assert [event.text for event in found.of("assistant_reply")] == ["It is over."]


@pytest.mark.parametrize(("mode", "stop"), [("resume", "final"), ("finalize", "missing_fields")])
async def test_missing_fields(mode: str, stop: str) -> None:
    planner = ScriptedPlanner([calling(("add", {"a": 1})), lambda given: given.closing or "repaired"])
    found = await ran(planner, RunPolicy(on_missing_fields=mode))  # type: ignore[arg-type]
    assert found.output.stop == stop


class Around(Hook):
    """Says before, after or at an error of a model what the test wants."""

    def __init__(self, where: str, say: Callable[[], Verdict]) -> None:
        self._where, self._say = where, say

    async def before_model(self, request: object) -> Verdict:
        return self._say() if self._where == "before" else await super().before_model(request)

    async def after_model(self, request: object, response: object) -> Verdict:
        return self._say() if self._where == "after" else await super().after_model(request, response)

    async def on_model_error(self, request: object, error: BaseException) -> Verdict:
        return self._say() if self._where == "error" else await super().on_model_error(request, error)


def _fails(given: PlanInput) -> FinalResponse:
    raise PlannerError("no key")


@pytest.mark.parametrize(
    ("where", "verdict", "text", "error"),
    [
        ("before", Answer(result=FinalResponse(text="cached")), "cached", ""),
        ("before", Deny(message="not today"), "", "the planner failed: not today"),
        ("after", Answer(result=FinalResponse(text="nicer")), "nicer", ""),
        ("after", Abort(error=ToolError("rude")), "", "the planner failed: rude"),
        ("error", Answer(result=FinalResponse(text="saved")), "saved", ""),
    ],
)
async def test_hooks_stand_around_models(where: str, verdict: Verdict, text: str, error: str) -> None:
    planner = ScriptedPlanner([_fails if where == "error" else "plain"])
    found = await ran(planner, options={"hooks": [Around(where, lambda: verdict)]})
    assert (found.output.text, found.output.error) == (text, error)


async def test_a_final_result_without_a_schema_is_kept() -> None:
    found: Ran = await ran(ScriptedPlanner([FinalResult(result={"n": 1})]))
    assert (found.output.text, found.output.result) == ('{"n":1}', {"n": 1})
    assert len(TOOLS.bound) == 7
