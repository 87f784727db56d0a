"""Planners that fail, hang, return garbage or are cancelled, and the hooks around them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.run_tools import (
    Resetting,
    Users,
    agent,
    answers,
    calling,
    check_log,
    first_answer,
    ran,
    resetting,
    running,
    texts,
)
from toolgen.agents import (
    Await,
    CallTools,
    FinalResponse,
    FinalResult,
    HandOver,
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
from toolgen.runtime import Abort, Answer, Continue, Deny, Hook, Runtime, ToolError, Verdict
from toolgen.runtime.toolsets.functions import function_toolset
from toolgen.runtime.waiting.errors import ConflictingAnswerError
from toolgen.runtime.waiting.sqlite import SqliteSuspensionStore

ADD = ("add", {"a": 1, "b": 2})
_: Any = None


@pytest.mark.parametrize(
    "garbage",
    [
        3,
        None,
        FinalResponse,
        FinalResponse(text=_),
        FinalResult(result={"a": object()}),  # type: ignore[dict-item]
        CallTools(calls=("add",)),  # type: ignore[arg-type]
        CallTools(calls=(PlannedCall(name="add", arguments={"a": 1}),)),  # type: ignore[arg-type]
        Await(kind="prayer", question="?"),  # type: ignore[arg-type]
        Await(kind="questions", question="?", schema={"type": "array"}),
        HandOver(agent=_),
    ],
)
async def test_garbage_fails_a_run_and_breaks_nothing(garbage: Any) -> None:
    found = await ran(ScriptedPlanner([lambda given: garbage, "never"]))
    assert (found.output.status, found.output.stop) == ("failed", "failed")
    assert found.output.error.startswith("the planner failed: ")
    (completed,) = found.of("run_completed")
    assert (completed.status, completed.error) == ("failed", found.output.error)


async def test_what_a_model_writes_wrong_is_carried() -> None:
    calls = (
        PlannedCall(name="add", arguments='{"a": 1e999, "b": 1}', id="not an id!"),
        PlannedCall(name="no\ud800", arguments='{"half": "\ud800"}', id="x"),
        PlannedCall(name="add", arguments='{"a": 1, "b": 2}', id="x"),
        PlannedCall(name="x" * 500, arguments="[" * 5000),
        PlannedCall(name="add", arguments='{"a": 1, "a": 4, "b": 1}', id="call_0_0"),
    )
    planner = ScriptedPlanner([CallTools(calls=calls), calling(ADD), "\ud800"])
    found = await ran(planner)
    assert (found.output.status, found.output.text) == ("completed", "?")
    assert len({event.tool_call_id for event in found.of("tool_start")}) == 6
    assert answers(planner.inputs[1])[2] == "3"
    assert all(
        len(json.loads(text)["error"]) < 200 for text in answers(planner.inputs[1])[1::2] if "error" in text
    )


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


async def test_useless_steps_in_a_row_end_a_run_and_others_do_not() -> None:
    empty, away = CallTools(calls=()), HandOver(agent="x.other")
    planner = ScriptedPlanner([empty, calling(ADD), away, calling(ADD), empty, "done"])
    found = await ran(planner)
    assert (found.output.status, found.output.text, len(planner.inputs)) == ("completed", "done", 6)
    planner = ScriptedPlanner([empty, away, "never"])
    found = await ran(planner)
    assert (found.output.status, found.output.stop) == ("failed", "failed")
    assert found.output.error == "x.other cannot take over; no agent can"


Say = Callable[[Any], Awaitable[Verdict]]


class Around(Hook):
    """Says before, after or at an error of a model what the test wants."""

    def __init__(self, where: str, say: Say) -> None:
        self.seen: list[str] = []
        self._where, self._say = where, say

    async def before_model(self, request: Any) -> Verdict:
        return await self._said("before", request)

    async def after_model(self, request: Any, response: Any) -> Verdict:
        return await self._said("after", response)

    async def on_model_error(self, request: Any, error: BaseException) -> Verdict:
        return await self._said("error", error)

    async def _said(self, where: str, about: Any) -> Verdict:
        self.seen.append(where)
        return await self._say(about) if where == self._where else Continue()


async def hangs(about: Any) -> Verdict:
    await asyncio.sleep(30)
    return Continue()


async def raises(about: Any) -> Verdict:
    raise ValueError("a mistake of the host")


async def says_nothing(about: Any) -> Verdict:
    return _  # type: ignore[no-any-return]


@pytest.mark.parametrize("wrong", [raises, says_nothing, hangs])
@pytest.mark.parametrize("where", ["before", "after", "error"])
async def test_a_hook_with_a_mistake_fails_the_run(where: str, wrong: Say) -> None:
    def fails(given: PlanInput) -> str:
        raise PlannerError("no key")

    hook = Around(where, wrong)
    planner = ScriptedPlanner([fails if where == "error" else "plain"])
    found = await ran(planner, options={"hooks": [hook], "stage_timeout": 0.02})
    assert found.output.status == "failed"
    assert found.output.error.startswith("the planner failed: a hook around it failed (reference")
    assert hook.seen == {"before": ["before"]}.get(where, ["before", where])
    assert found.of("run_completed")[0].status == "failed"


async def test_hooks_change_what_a_model_gets_and_says() -> None:
    async def shorter(request: PlanInput) -> Verdict:
        return Continue(payload=replace(request, messages=(UserMessage(text="Hidden."),)))

    async def louder(said: FinalResponse) -> Verdict:
        return Answer(result=FinalResponse(text=f"{said.text}!"))

    first, second = Around("before", shorter), Around("after", louder)
    found = await ran(ScriptedPlanner([texts]), options={"hooks": [first, second]})
    assert found.output.text == "[Hidden.]!"
    assert first.seen == second.seen == ["before", "after"]


@pytest.mark.parametrize(
    ("verdict", "text", "error"),
    [
        (Answer(result=FinalResponse(text="saved")), "saved", ""),
        (Continue(), "", "the planner failed: no key"),
        (Deny(message="not now"), "", "the planner failed: not now"),
        (Abort(error=ToolError("out of order")), "", "the planner failed: out of order"),
    ],
)
async def test_hooks_hear_of_errors(verdict: Verdict, text: str, error: str) -> None:
    def fails(given: PlanInput) -> str:
        raise PlannerError("no key")

    async def say(error: BaseException) -> Verdict:
        return verdict

    hook = Around("error", say)
    found = await ran(ScriptedPlanner([fails]), options={"hooks": [hook]})
    assert (found.output.text, found.output.error) == (text, error)
    assert hook.seen == ["before", "error"]


async def test_a_hook_may_call_tools_in_the_place_of_a_model() -> None:
    answered: list[int] = []

    async def once(request: Any) -> Verdict:
        if answered:
            return Continue()
        answered.append(1)
        return Answer(result=calling(ADD))

    found = await ran(ScriptedPlanner(["never", first_answer]), options={"hooks": [Around("before", once)]})
    assert (found.output.text, found.output.tool_calls) == ("3", 1)


class Ears:
    """Notes who hears that a run is canceled."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.is_there = asyncio.Event()

    async def listen(self) -> str:
        """Listen."""
        return await self.until("tool")

    async def until(self, who: str) -> str:
        self.is_there.set()
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            self.heard.append(who)
            raise
        return ""


@pytest.mark.parametrize("where", ["planning", "tool", "closing", "waiting"])
async def test_a_run_is_canceled_wherever_it_is(where: str) -> None:
    ears = Ears()

    async def hangs(given: PlanInput) -> FinalResponse:
        return FinalResponse(text=await ears.until("planner"))

    async def drive(runtime: Runtime, handle: RunHandle) -> None:
        if where == "waiting":
            await handle.settled()
        else:
            await asyncio.wait_for(ears.is_there.wait(), 5)
        await asyncio.gather(handle.cancel("enough"), handle.cancel("again"))
        await handle.cancel("late")
        assert (await handle.result()).error == "enough"
        after = await agents_of(runtime).client("x.agent").run("Again.", session_id="s")
        (seen,) = [given for given in planner.inputs if given.run_id == after.run_id]
        for message, following in zip(seen.messages, seen.messages[1:], strict=False):
            ids = [call.id for call in getattr(message, "calls", ())]
            assert ids == [answer.id for answer in getattr(following, "answers", ())]

    steps: dict[str, list[Any]] = {
        "planning": [calling(ADD), hangs],
        "tool": [calling("listen", ADD)],
        "closing": [calling(ADD, ADD), hangs],
        "waiting": [Await(kind="clarification", question="Which?")],
    }
    planner = ScriptedPlanner(steps.get(where, []), ["fresh"])
    toolsets = (function_toolset("x.ears", [ears.listen]), function_toolset("x.adds", [add]))
    policy = RunPolicy(max_tool_calls=1 if where == "closing" else None)
    found = await ran(planner, policy, drive=drive, toolsets=toolsets)
    assert (found.output.status, found.output.error) == ("canceled", "enough")
    assert ears.heard == {"tool": ["tool"], "waiting": []}.get(where, ["planner"])
    assert [event.type for event in found.events].count("run_completed") == 1
    assert [event.type for event in found.events].count("run_stream_end") == 1


async def add(a: int, b: int) -> int:
    """Add."""
    return a + b


async def test_what_a_canceled_run_waited_for_is_approved_nowhere(tmp_path: Path) -> None:
    def options() -> dict[str, Any]:
        return {"suspensions": SqliteSuspensionStore(tmp_path / "calls.db"), "interceptors": [Users()]}

    executor = Resetting()
    toolset = resetting(executor)
    planner = ScriptedPlanner([calling(("factory_reset", {"device_id": "d1"}))])
    async with running(agent("x.agent", planner, toolset), **options()) as (runtime, _engine):
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        (asked,) = (await handle.settled()).awaiting
        await handle.cancel("enough")
        assert await runtime.suspended() == ()
        async with Runtime(**options()) as elsewhere:
            elsewhere.register(toolset)
            with pytest.raises(ConflictingAnswerError):
                await elsewhere.deliver(asked.token, {"approved": True})
        check_log(await handle.output(), await agents_of(runtime).events(handle.run_id))
    assert executor.asked == []
