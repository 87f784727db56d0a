"""What planners return, raise and tell: whatever it is, a run has one end."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from tests.agents.tools import (
    agent,
    calling,
    is_paired,
    ran,
    running,
    texts,
    until,
)
from tests.selection import first
from toolgen.agents import (
    Await,
    CallTools,
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
    UserMessage,
    agents_of,
)
from toolgen.runtime import Runtime

SUM = ("add", {"a": 1, "b": 1})


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (["Go."], "gone"),
        (["Go.", "on which day?"], "gone"),
        (["Go.", "Go on."], "gone on"),
        (["Stop."], "something else"),
    ],
)
async def test_a_script_by_message_counts_no_runs(said: list[str], answer: str) -> None:
    """As in a process that goes on with a run of another one, and sees its second step first."""
    begun = calling(SUM)
    planner = ScriptedPlanner(
        [begun, "something else"], by_message={"Go": [begun, "gone"], "Go on": [begun, "gone on"]}
    )

    async def second_step(given: PlanInput) -> PlanResult:
        messages = tuple(UserMessage(text=text) for text in said)
        return await planner.plan_resume(replace(given, step=1, messages=messages))

    class Restarted:
        plan_start = plan_resume = staticmethod(second_step)

    assert (await ran(Restarted())).output.text == answer


async def test_a_script_by_message_answers_no_message_of_an_earlier_turn() -> None:
    planner = ScriptedPlanner(by_message={"Buy": [calling(SUM), "bought"], "Sell": ["sold"]})
    async with running(agent("x.agent", planner)) as (runtime, _):
        client = agents_of(runtime).client("x.agent")
        said = [await client.run(text, session_id="s") for text in ("Buy two.", "Thanks.", "Sell one.")]
    assert [one.text for one in said] == ["bought", "", "sold"]
    assert said[1].error.endswith("by_message has no list for 'Thanks.'; it has 'Buy', 'Sell'")
    assert len(planner.inputs) == 4


async def test_a_script_that_ends_too_early_says_what_tells_runs_apart() -> None:
    first, second = ["one"], ["two", "three"]
    planner = ScriptedPlanner(first, second)

    async def second_step(given: PlanInput) -> PlanResult:
        return await planner.plan_resume(replace(given, step=1))

    class Restarted:
        plan_start = plan_resume = staticmethod(second_step)

    error = (await ran(Restarted())).output.error
    assert error.endswith("step 1 was requested; by_message tells runs apart after a restart too")


@pytest.mark.parametrize(
    ("garbage", "wrong"),
    first(
        [
            (None, "it must return CallTools, FinalResponse, FinalResult, Await or HandOver"),
            ({"text": "x"}, "it must return CallTools"),
            (FinalResponse, "it must return CallTools"),
            (FinalResponse(text=3), "its text has the type int; it must be a string"),  # type: ignore[arg-type]
            (FinalResult(result=object()), "its result is not JSON"),  # type: ignore[arg-type]
            (CallTools(calls=("add",)), "its calls are a tuple of str, not a tuple of PlannedCall"),  # type: ignore[arg-type]
            (CallTools(calls=None), "its calls are a value of type NoneType, not a tuple of PlannedCall"),  # type: ignore[arg-type]
            (
                CallTools(calls=(PlannedCall(name="add", arguments={}),)),  # type: ignore[arg-type]
                "the arguments of its call of 'add' have the type dict",
            ),
            (CallTools(calls=(PlannedCall(name="add", id=None),)), "its id has the type NoneType"),  # type: ignore[arg-type]
            (Await(kind="prayer", question="?"), "its kind is 'prayer'"),  # type: ignore[arg-type]
            (Await(kind="questions", question="?", schema=3), "its schema has the type int"),  # type: ignore[arg-type]
            (
                Await(kind="questions", question="?", schema={"type": "array"}),
                "the schema of a question must",
            ),
            (Await(kind="questions", question="?", missing_fields="ab"), "its missing_fields"),  # type: ignore[arg-type]
            (HandOver(agent=None), "its agent has the type NoneType"),  # type: ignore[arg-type]
        ],
        5,
    ),
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
        CallTools(calls=(PlannedCall.of(*SUM),), text="half \ud800"),
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
    planner = ScriptedPlanner([nothing, calling(SUM), ghost, calling(SUM), nothing, "done"])
    found = await ran(planner)
    assert (found.output.text, found.output.tool_calls) == ("done", 2)
    assert is_paired(planner.inputs[-1])


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
        return calling(SUM, text="Hello.")

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


async def test_runs_play_their_scripts_in_order_and_the_last_again() -> None:
    planner = ScriptedPlanner([calling(SUM), "one"], ["two"])
    async with running(agent("x.agent", planner)) as (runtime, _):
        said = [(await agents_of(runtime).client("x.agent").one_shot("Go.")).text for _ in range(3)]
    assert said == ["one", "two", "two"]
    found = await ran(ScriptedPlanner())
    assert found.output.error.endswith("the script of run 0 has 0 steps, and step 0 was requested")


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
        (CallTools(calls=()), "the answer has no calls; call a tool or give the final answer"),
        (HandOver(agent="x.other"), "x.other cannot take over; no agent can"),
    ],
)
async def test_what_cannot_be_is_told_once(wrong: CallTools | HandOver, told: str) -> None:
    planner = ScriptedPlanner([wrong, lambda given: texts(given).rpartition(" [")[2][:-1]])
    assert (await ran(planner)).output.text == told
    found = await ran(ScriptedPlanner([wrong, wrong, "never"]))
    assert (found.output.status, found.output.error) == ("failed", told)


ADD = ("add", {"a": 1, "b": 2})


@pytest.mark.parametrize(
    "error", [asyncio.CancelledError("mine"), SystemExit(3), TimeoutError(), OSError("x")]
)
async def test_a_planner_that_raises_is_asked_again(error: BaseException) -> None:
    tried: list[int] = []

    def flaky(given: PlanInput) -> str:
        tried.append(len(given.messages))
        if len(tried) == 1:
            raise error
        return texts(given)

    found = await ran(ScriptedPlanner([flaky]))
    if isinstance(error, SystemExit):
        assert (found.output.status, tried) == ("failed", [1])
    else:
        assert (found.output.text, tried) == ("[Go.]", [1, 1])


async def test_an_attempt_that_failed_leaves_nothing_behind_but_its_price() -> None:
    tried: list[str] = []

    def flaky(given: PlanInput) -> PlanResult:
        tried.append(texts(given))
        given.reports.usage("m", 1, 2)
        given.reports.text("half ")
        if len(tried) == 1:
            raise OSError("down")
        return FinalResponse(text="whole")

    found = await ran(ScriptedPlanner([calling(ADD), flaky]))
    assert tried == ["[Go.] [] [results]"] * 2
    assert [(event.model, event.input_tokens) for event in found.of("usage")] == [("m", 1)] * 2
    said = [event for event in found.events if event.type in ("assistant_reply", "plan_retry")]
    assert [getattr(event, "text", "void") for event in said] == ["half ", "void", "half ", "whole"]
    assert found.output.telemetry.output_tokens == 4
