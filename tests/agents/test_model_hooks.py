"""Hooks around a model: what they change, answer, refuse, and do wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.agents.tools import (
    calling,
    first_answer,
    ran,
    texts,
)
from tests.selection import diagonal
from toolgen.agents import (
    FinalResponse,
    PlanInput,
    PlannerError,
    PlanResult,
    ScriptedPlanner,
    UserMessage,
)
from toolgen.runtime import Abort, Answer, Continue, Deny, Hook, Scheduling, ToolError, Verdict

ADD = ("add", {"a": 1, "b": 2})

_: Any = None

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


def saying(say: Callable[[Any], Verdict]) -> Say:
    """Return a hook's part that says this at once."""

    async def said(about: Any) -> Verdict:
        return say(about)

    return said


async def hangs(about: Any) -> Verdict:
    await asyncio.sleep(30)
    return Continue()


async def raises(about: Any) -> Verdict:
    raise ValueError("a mistake of the host")


async def says_nothing(about: Any) -> Verdict:
    return _  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("wrong", "where"), diagonal([raises, says_nothing, hangs], ["before", "after", "error"])
)
async def test_a_hook_with_a_mistake_fails_the_run(where: str, wrong: Say) -> None:
    def fails(given: PlanInput) -> str:
        raise PlannerError("no key")

    hook = Around(where, wrong)
    planner = ScriptedPlanner([fails if where == "error" else "plain"])
    found = await ran(planner, options={"hooks": [hook], "scheduling": Scheduling(stage_timeout_s=0.02)})
    assert found.output.status == "failed"
    assert found.output.error.startswith("the planner failed: a model hook failed (reference")
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


def down(given: PlanInput) -> PlanResult:
    raise OSError("the provider is down")


@pytest.mark.parametrize(
    ("does", "error", "asked"),
    [
        (lambda error: Deny(message="not for you"), "not for you", 1),
        (lambda error: Abort(error=ToolError("broken")), "broken", 1),
        (lambda error: Continue(), "it raised OSError, and the log has the details", 3),
        (lambda error: Answer(result=3), "a model hook returned int", 1),
        (lambda error: None, "a model hook failed (reference ", 1),
    ],
)
async def test_a_hook_decides_what_a_failure_is(does: Any, error: str, asked: int) -> None:
    planner = ScriptedPlanner([down])
    found = await ran(planner, options={"hooks": [Around("error", saying(does))]})
    assert found.output.status == "failed"
    assert error in found.output.error
    assert len(planner.inputs) == asked


async def test_hooks_change_what_is_asked_and_what_is_answered() -> None:
    def fewer(given: PlanInput) -> Verdict:
        return Continue(payload=replace(given, tools=given.tools[:1], instructions="Be brief."))

    def louder(response: FinalResponse) -> Verdict:
        return Answer(result=FinalResponse(text=response.text.upper()))

    planner = ScriptedPlanner(["fine"])
    found = await ran(
        planner, options={"hooks": [Around("before", saying(fewer)), Around("after", saying(louder))]}
    )
    assert found.output.text == "FINE"
    assert [(len(given.tools), given.instructions) for given in planner.inputs] == [(1, "Be brief.")]


async def test_an_answer_of_a_hook_is_checked_as_a_planners() -> None:
    for where in ("before", "after"):
        hook = Around(where, saying(lambda _: Answer(result="text")))
        found = await ran(ScriptedPlanner(["fine"]), options={"hooks": [hook]})
        assert found.output.error.startswith("the planner failed: a model hook returned str")


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
    found = await ran(planner, options={"hooks": [Around(where, saying(lambda _: verdict))]})
    assert (found.output.text, found.output.error) == (text, error)
