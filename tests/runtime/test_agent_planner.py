"""Planners, hooks around them, and what they tell: whatever they return or raise, a run has one end."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import pytest

from tests.runtime.agent_tools import Bench, is_paired, until
from tests.runtime.run_tools import agent, calling, ran, running, texts
from toolgen.agents import (
    Await,
    CallTools,
    CompletionError,
    CompletionSpec,
    FinalResponse,
    FinalResult,
    HandOver,
    History,
    Message,
    PlanInput,
    PlannedCall,
    PlannerError,
    PlanResult,
    RunHandle,
    RunPolicy,
    ScriptedPlanner,
    ScriptStep,
    agents_of,
    complete,
    stream_completion,
)
from toolgen.runtime import Abort, Answer, Continue, Deny, Hook, Runtime, ToolError, Verdict
from toolgen.runtime.toolsets.functions import func_tool

ADD = ("add", {"a": 1, "b": 1})


# What a planner returns.


@pytest.mark.parametrize(
    ("garbage", "wrong"),
    [
        (None, "it returns CallTools, FinalResponse, FinalResult, Await or HandOver"),
        ({"text": "x"}, "it returns CallTools"),
        (FinalResponse, "it returns CallTools"),
        (FinalResponse(text=3), "its text is a int, and no text"),  # type: ignore[arg-type]
        (FinalResult(result=object()), "its result is no JSON"),  # type: ignore[arg-type]
        (CallTools(calls=("add",)), "its calls are no tuple of PlannedCall"),  # type: ignore[arg-type]
        (CallTools(calls=None), "its calls are no tuple of PlannedCall"),  # type: ignore[arg-type]
        (CallTools(calls=(PlannedCall(name="add", arguments={}),)), "its arguments is a dict"),  # type: ignore[arg-type]
        (CallTools(calls=(PlannedCall(name="add", id=None),)), "its id is a NoneType"),  # type: ignore[arg-type]
        (Await(kind="prayer", question="?"), "its kind is 'prayer'"),  # type: ignore[arg-type]
        (Await(kind="questions", question="?", schema=3), "its schema is a int"),  # type: ignore[arg-type]
        (Await(kind="questions", question="?", schema={"type": "array"}), "the schema of a question is"),
        (Await(kind="questions", question="?", missing_fields="ab"), "its missing_fields"),  # type: ignore[arg-type]
        (HandOver(agent=None), "its agent is a NoneType"),  # type: ignore[arg-type]
    ],
)
async def test_garbage_ends_a_run_and_says_so(garbage: Any, wrong: str) -> None:
    class Garbage:
        """A planner that returns what it must not, and is not asked again."""

        asked = 0

        async def plan_start(self, given: PlanInput) -> PlanResult:
            self.asked += 1
            return garbage  # type: ignore[no-any-return]  # on purpose

        plan_resume = plan_start

    planner = Garbage()
    found = await ran(planner)
    assert (found.output.status, found.output.stop, planner.asked) == ("failed", "failed", 1)
    assert found.output.error.startswith("the planner failed: ")
    assert wrong in found.output.error


@pytest.mark.parametrize(
    "said",
    [
        FinalResponse(text="half \ud800"),
        FinalResult(result={"n": 1}, text="half \ud800"),
        CallTools(calls=(PlannedCall.of(*ADD),), text="half \ud800"),
        CallTools(calls=(PlannedCall(name="add", arguments='{"a": "half \ud800"}'),)),
        HandOver(agent="x.\ud800", message="\ud800"),
    ],
)
async def test_halves_of_characters_go_into_no_log(said: PlanResult) -> None:
    found = await ran(ScriptedPlanner([said, texts]))
    assert found.output.status == "completed"
    str(found.events).encode()
    found.output.text.encode()


async def test_what_cannot_be_twice_ends_a_run_and_a_step_between_forgives() -> None:
    nothing, ghost = CallTools(calls=()), HandOver(agent="x.ghost")
    found = await ran(ScriptedPlanner([nothing, ghost, "never"]))
    assert (found.output.status, found.output.error) == ("failed", "x.ghost cannot take over; no agent can")
    planner = ScriptedPlanner([nothing, calling(ADD), ghost, calling(ADD), nothing, "done"])
    found = await ran(planner)
    assert (found.output.text, found.output.tool_calls) == ("done", 2)
    assert is_paired(planner.inputs[-1])


# What it raises, and hooks.


class Around(Hook):
    """Does at one place what the test says."""

    def __init__(self, where: str, does: Callable[[Any], Verdict]) -> None:
        self._where, self._does = where, does

    async def before_model(self, request: Any) -> Verdict:
        return self._does(request) if self._where == "before" else Continue()

    async def after_model(self, request: Any, response: Any) -> Verdict:
        return self._does(response) if self._where == "after" else Continue()

    async def on_model_error(self, request: Any, error: BaseException) -> Verdict:
        return self._does(error) if self._where == "error" else Continue()


def raises(given: Any) -> Verdict:
    raise OSError("the hook is down")


@pytest.mark.parametrize("where", ["before", "after"])
async def test_a_hook_that_raises_fails_the_run_and_its_words_stay_here(where: str) -> None:
    planner = ScriptedPlanner(["fine"])
    found = await ran(planner, options={"hooks": [Around(where, raises)]})
    assert found.output.status == "failed"
    assert found.output.error.startswith("the planner failed: a hook around it failed (reference ")
    assert len(planner.inputs) == (0 if where == "before" else 1)


def down(given: PlanInput) -> PlanResult:
    raise OSError("the provider is down")


@pytest.mark.parametrize(
    ("does", "error", "asked"),
    [
        (lambda error: Deny(message="not for you"), "not for you", 1),
        (lambda error: Abort(error=ToolError("broken")), "broken", 1),
        (lambda error: Continue(), "it raised OSError, which the log has", 3),
        (lambda error: Answer(result=3), "the planner returned int", 1),
        (lambda error: None, "a hook around it failed (reference ", 1),
    ],
)
async def test_a_hook_decides_what_a_failure_is(does: Any, error: str, asked: int) -> None:
    planner = ScriptedPlanner([down])
    found = await ran(planner, options={"hooks": [Around("error", does)]})
    assert found.output.status == "failed"
    assert error in found.output.error
    assert len(planner.inputs) == asked


async def test_hooks_change_what_is_asked_and_what_is_answered() -> None:
    def fewer(given: PlanInput) -> Verdict:
        return Continue(payload=replace(given, tools=given.tools[:1], instructions="Be brief."))

    def louder(response: FinalResponse) -> Verdict:
        return Answer(result=FinalResponse(text=response.text.upper()))

    planner = ScriptedPlanner(["fine"])
    found = await ran(planner, options={"hooks": [Around("before", fewer), Around("after", louder)]})
    assert found.output.text == "FINE"
    assert [(len(given.tools), given.instructions) for given in planner.inputs] == [(1, "Be brief.")]


async def test_an_answer_of_a_hook_is_checked_as_a_planners() -> None:
    for where in ("before", "after"):
        hook = Around(where, lambda _: Answer(result="text"))
        found = await ran(ScriptedPlanner(["fine"]), options={"hooks": [hook]})
        assert found.output.error.startswith("the planner failed: the planner returned str")


# What it tells.


class Telling:
    """A planner that reports, fails once, and reports again."""

    def __init__(self) -> None:
        self.asked = 0

    async def plan_start(self, given: PlanInput) -> PlanResult:
        self.asked += 1
        given.reports.text("He")
        given.reports.thought("hm")
        given.reports.usage("m-1", 10, 1)
        if self.asked == 1:
            raise OSError("the provider is down")
        given.reports.usage("m-2", 5, 2)
        given.reports.arguments("call_a", "add", '{"a"')
        return calling(ADD, text="Hello.")

    async def plan_resume(self, given: PlanInput) -> PlanResult:
        given.reports.usage("m-3", 1, 1)
        return FinalResponse(text="done")


async def test_what_planners_report_is_told_and_every_attempt_is_paid_for() -> None:
    found = await ran(Telling())
    told = [(event.model, event.input_tokens, event.output_tokens) for event in found.of("usage")]
    assert told == [("m-1", 10, 1), ("m-1", 10, 1), ("m-2", 5, 2), ("m-3", 1, 1)]
    spent = found.output.telemetry
    assert (spent.model, spent.input_tokens, spent.output_tokens) == ("m-3", 26, 5)
    replies = [(event.text, event.is_partial) for event in found.of("assistant_reply")]
    assert replies == [("He", True), ("He", True), ("Hello.", False), ("done", False)]
    assert [event.text for event in found.of("planner_thought")] == ["hm", "hm"]
    (delta,) = found.of("tool_args_delta")
    assert (delta.tool_call_id, delta.name, delta.delta) == ("call_a", "add", '{"a"')


async def test_a_planning_that_is_cancelled_hears_of_it_and_reports_no_more() -> None:
    heard: list[str] = []
    reports: list[Any] = []

    async def hang(given: PlanInput) -> PlanResult:
        reports.append(given.reports)
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            heard.append("cancelled")
            given.reports.text("too late")
            raise
        return FinalResponse(text="never")

    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        await until(lambda: reports)
        await handle.cancel("enough")
        await until(lambda: heard)

    found = await ran(ScriptedPlanner([hang]), drive=drive)
    reports[0].text("much too late")
    assert (found.output.status, heard) == ("canceled", ["cancelled"])
    assert found.of("assistant_reply") == []


# Scripts.


async def test_runs_play_their_scripts_in_order_and_the_last_again() -> None:
    planner = ScriptedPlanner([calling(ADD), "one"], ["two"])
    async with running(agent("x.agent", planner)) as (runtime, _):
        said = [(await agents_of(runtime).client("x.agent").one_shot("Go.")).text for _ in range(3)]
    assert said == ["one", "two", "two"]
    found = await ran(ScriptedPlanner())
    assert found.output.error == ("the planner failed: the script of run 0 has 0 steps, and step 0 is asked")


async def test_the_policy_of_one_run_is_that_run() -> None:
    bench = Bench()
    limits: list[ScriptStep] = [calling(("work", {"name": "w"})), lambda given: given.closing or "free"]
    async with running(agent("x.agent", ScriptedPlanner(limits), bench.toolset)) as (runtime, engine):
        client = agents_of(runtime).client("x.agent")
        capped = await client.one_shot("Go.", policy=RunPolicy(max_tool_calls=0))
        free = await client.one_shot("Go.")
        await engine.replay(capped.run_id)
    assert (capped.text, free.text, bench.did) == ("tool_cap", "free", ["w begins", "w ends"])


class Summarizing(ScriptedPlanner):
    """Cannot summarize the first time."""

    tried = 0

    async def summarize(self, messages: tuple[Message, ...], given: PlanInput, history: History) -> str:
        self.tried += 1
        if self.tried == 1:
            raise OSError("the provider is down")
        return f"{len(messages)} messages"


async def test_a_turn_can_do_without_a_summary() -> None:
    planner = Summarizing([texts])
    policy = RunPolicy(history=History(keep_turns=1, summarize_after=1))
    async with running(agent("x.agent", planner, policy=policy)) as (runtime, _):
        said = [
            (await agents_of(runtime).client("x.agent").run(f"{number}.", session_id="s")).text
            for number in range(4)
        ]
    assert said[2] == f"[0.] [[0.]] [1.] [{said[1]}] [2.]"
    assert said[3] == f"[Summary of the conversation so far: 4 messages] [2.] [{said[2]}] [3.]"
    assert planner.tried == 2


# Completions.


def total(n: int) -> int:
    """Count."""
    return n


SPEC: CompletionSpec[int] = CompletionSpec(
    id="x.total", description="A number.", result=func_tool(total).spec.result
)


@pytest.mark.parametrize(
    "script",
    [["3"], [FinalResult(result=3)], ["three", "3"], ["half \ud800", FinalResult(result=3)]],
)
async def test_a_completion_is_repaired_once(script: list[ScriptStep]) -> None:
    planner = ScriptedPlanner(script)
    assert await complete(SPEC, planner, "How many?", instructions="Count.") == 3
    assert planner.inputs[0].result_schema == SPEC.result.schema
    assert planner.inputs[0].instructions == "Count."
    if len(script) == 2:
        assert "the answer does not fit" in texts(planner.inputs[1])


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (["three", "four"], r"the model gave no x\.total: "),
        ([calling(ADD)], r"the planner of x\.total returned CallTools, and no answer"),
        (["three", calling(ADD)], r"returned CallTools, and no answer"),
        ([FinalResult(result=cast("Any", object()))], r"returned a FinalResult: its result"),
        ([FinalResponse(text=cast("Any", 3))], r"returned a FinalResponse: its text"),
        (["\ud800", "\ud800"], r"the model gave no x\.total: "),
    ],
)
async def test_a_completion_without_an_answer_is_an_error(script: list[ScriptStep], message: str) -> None:
    with pytest.raises(CompletionError, match=message):
        await complete(SPEC, ScriptedPlanner(script), "How many?")


async def test_a_completion_streams_its_pieces_and_ends_with_its_reader() -> None:
    heard: list[str] = []

    async def piecewise(given: PlanInput) -> PlanResult:
        try:
            for piece in ("4", "2"):
                given.reports.text(piece)
                await asyncio.sleep(0)
            await asyncio.sleep(30 if given.instructions else 0)
        except asyncio.CancelledError:
            heard.append("cancelled")
            raise
        return FinalResponse(text="42")

    found = [piece async for piece in stream_completion(SPEC, ScriptedPlanner([piecewise]), "How many?")]
    assert found == ["4", "2", 42]
    stream: Any = stream_completion(SPEC, ScriptedPlanner([piecewise]), "How many?", instructions="Hang.")
    assert await anext(stream) == "4"
    await stream.aclose()
    await until(lambda: heard)


async def test_a_stream_that_fails_says_why_to_whoever_still_reads(caplog: pytest.LogCaptureFixture) -> None:
    def fails(given: PlanInput) -> PlanResult:
        given.reports.text("4")
        raise PlannerError("no key")

    with pytest.raises(PlannerError, match="no key"):
        _ = [piece async for piece in stream_completion(SPEC, ScriptedPlanner([fails]), "How many?")]
    stream: Any = stream_completion(SPEC, ScriptedPlanner([fails]), "How many?")
    assert await anext(stream) == "4"
    await stream.aclose()
    gc.collect()
    assert "never retrieved" not in caplog.text
