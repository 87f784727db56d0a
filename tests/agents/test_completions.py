"""Completions: one typed answer of a planner, repaired once, whole or in pieces."""

from __future__ import annotations

import asyncio
import functools
import gc
from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest

from tests.agents.tools import calling, texts, until
from toolgen.agents import (
    CompletionError,
    CompletionSpec,
    FinalResponse,
    FinalResult,
    PlanInput,
    Planner,
    PlannerError,
    PlanResult,
    ScriptedPlanner,
    ScriptStep,
    complete,
    stream_completion,
)
from toolgen.calls.functions.tools import func_tool
from toolgen.runtime import RegistrationError

SUM = ("add", {"a": 1, "b": 1})


@pytest.fixture(autouse=True)
def engine_in() -> None:
    """No engine executes a completion."""


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


async def test_a_decorator_that_awaits_nothing_leaves_a_planner_asynchronous() -> None:
    def logged(function: Callable[..., Awaitable[PlanResult]]) -> Callable[..., Awaitable[PlanResult]]:
        @functools.wraps(function)
        def wrapper(*given: Any) -> Awaitable[PlanResult]:
            return function(*given)

        return wrapper

    class Logged:
        @logged
        async def plan_start(self, given: PlanInput) -> PlanResult:
            return FinalResponse(text="3")

        plan_resume = plan_start

    assert await complete(SPEC, cast("Planner", Logged()), "How many?") == 3


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (["three", "four"], r"the model returned no x\.total: "),
        ([calling(SUM)], r"the planner of x\.total returned CallTools, not an answer"),
        (["three", calling(SUM)], r"returned CallTools, not an answer"),
        ([FinalResult(result=cast("Any", object()))], r"returned a FinalResult: its result"),
        ([FinalResponse(text=cast("Any", 3))], r"returned a FinalResponse: its text"),
        (["\ud800", "\ud800"], r"the model returned no x\.total: "),
    ],
)
async def test_a_completion_without_an_answer_is_an_error(script: list[ScriptStep], message: str) -> None:
    with pytest.raises(CompletionError, match=message):
        await complete(SPEC, ScriptedPlanner(script), "How many?")


@pytest.mark.parametrize(
    ("planner", "message"),
    [
        (
            ScriptedPlanner,
            r"the planner of completion 'x.total', ScriptedPlanner, is a class, not an instance\n",
        ),
        (object(), "the planner of completion 'x.total', of object, has no method plan_start"),
    ],
)
async def test_what_cannot_plan_is_refused(planner: Any, message: str) -> None:
    with pytest.raises(RegistrationError, match=message):
        await complete(SPEC, planner, "How many?")
    stream: Any = stream_completion(SPEC, planner, "How many?")
    with pytest.raises(RegistrationError, match=message):
        await anext(stream)


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


@pytest.mark.exhaustive
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
