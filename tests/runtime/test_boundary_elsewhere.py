"""Whatever the code of toolsets, planners, services and listeners raises fails what they were asked for."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from tests.agents.tools import answers, calling, first_answer, ran
from tests.runtime.raising import NO_ERRORS, leaving_nothing, made
from tests.runtime.tools import META, SITE, Listing, runtime
from tests.selection import diagonal
from toolgen.agents import (
    CompletionSpec,
    FinalResponse,
    PlanInput,
    PlanResult,
    ScriptedPlanner,
    complete,
)
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.calls.functions.type_codec import TypeCodec
from toolgen.contract.boundary import StrayExceptionError
from toolgen.events.hub import Events
from toolgen.runtime import Answer, Hook, Runtime, SnapshotError, in_thread
from toolgen.runtime.views import filter_toolset

TOOL = "assistant.devices.list_devices"


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    """Format no tracebacks."""
    caplog.set_level(logging.CRITICAL)


# Toolsets.


class Toolset:
    """Raises where it is told to."""

    name = "x.dynamic"

    def __init__(self, stage: str, raised: BaseException) -> None:
        self._stage = stage
        self._raised = raised

    def at(self, stage: str) -> bool:
        if stage == self._stage:
            raise self._raised
        return True

    async def tools(self, context: Any) -> Any:
        self.at("tools")
        return [func_tool(greet)]


class Opened(Toolset):
    async def __aenter__(self) -> Any:
        self.at("open")
        return self

    async def __aexit__(self, *raised: object) -> None:
        self.at("close")


def greet() -> str:
    """Greet."""
    return "hello"


@pytest.mark.parametrize(("kind", "stage"), diagonal(NO_ERRORS, ["tools", "predicate"]))
async def test_a_toolset_that_raises_cannot_list(stage: str, kind: type[BaseException]) -> None:
    toolset = Toolset(stage, made(kind))
    host = Runtime()
    host.tools.add_toolset(filter_toolset(toolset, lambda spec, context: toolset.at("predicate")))
    async with leaving_nothing():
        with pytest.raises(SnapshotError, match=r"'x\.dynamic' cannot list its tools"):
            await host.tools.snapshot()


@pytest.mark.parametrize("kind", NO_ERRORS)
async def test_a_toolset_that_raises_does_not_open(kind: type[BaseException]) -> None:
    host = Runtime()
    host.tools.add_toolset(Opened("open", made(kind)))
    async with leaving_nothing():
        with pytest.raises(SnapshotError, match=r"'x\.dynamic' cannot open"):
            async with host:
                pass


@pytest.mark.parametrize("kind", NO_ERRORS)
async def test_a_toolset_that_raises_is_closed(kind: type[BaseException]) -> None:
    host = Runtime()
    host.tools.add_toolset(Opened("close", made(kind)))
    async with leaving_nothing(), host:
        assert len((await host.tools.snapshot()).specs) == 1


# Agents.


@pytest.mark.parametrize("kind", NO_ERRORS)
async def test_a_planner_that_raises_fails_a_planning(kind: type[BaseException]) -> None:
    def raises(given: PlanInput) -> str:
        raise made(kind)

    class Instead(Hook):
        async def on_model_error(self, request: Any, error: BaseException) -> Any:
            told.append(error)
            return Answer(result=FinalResponse(text="instead"))

    told: list[BaseException] = []
    found = await ran(ScriptedPlanner([raises]), options={"hooks": [Instead()]})
    assert (found.output.status, found.output.text) == ("completed", "instead")
    assert isinstance(told[0], Exception)


@pytest.mark.parametrize(
    ("kind", "method"), diagonal(NO_ERRORS, ["before_model", "after_model", "on_model_error"])
)
async def test_a_hook_around_a_model_that_raises_fails_the_run(
    method: str, kind: type[BaseException]
) -> None:
    async def raises(self: Hook, *arguments: Any) -> Any:
        raise made(kind)

    def plans(given: PlanInput) -> PlanResult:
        if method == "on_model_error":
            raise OSError
        return FinalResponse(text="done")

    hook = type("Raises", (Hook,), {method: raises})()
    found = await ran(ScriptedPlanner([plans]), options={"hooks": [hook]})
    assert found.output.status == "failed"
    assert "a model hook failed" in found.output.error


@pytest.mark.parametrize("kind", NO_ERRORS)
async def test_a_tool_of_a_run_that_raises_is_one_result(kind: type[BaseException]) -> None:
    async def waits() -> str:
        """Raise, later."""
        await asyncio.sleep(0)
        raise made(kind)

    def blocks() -> str:
        """Raise, in a thread."""
        raise made(kind)

    planner = ScriptedPlanner([calling("waits", "blocks"), first_answer])
    found = await ran(planner, toolsets=(function_toolset("x.raising", [waits, blocks]),))
    assert [event.status for event in found.of("tool_end")] == ["error", "error"]
    assert "failed with an internal error; the arguments were valid" in found.output.text


async def test_a_tool_of_a_run_that_ends_its_own_task_is_one_result() -> None:
    async def cancels() -> str:
        """Cancel."""
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)
        return ""

    async def closes() -> str:
        """Await what closes it."""
        broken: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        broken.set_exception(GeneratorExit("secret"))
        return await broken

    planner = ScriptedPlanner([calling("cancels", "closes"), lambda given: " ".join(answers(given))])
    found = await ran(planner, toolsets=(function_toolset("x.ending", [cancels, closes]),))
    assert [event.status for event in found.of("tool_end")] == ["error", "unknown"]
    assert '{"unknown":"the call was cancelled; cancels may have run"}' in found.output.text
    assert found.output.text.count("failed with an internal error; the arguments were valid") == 1


@pytest.mark.parametrize("kind", NO_ERRORS)
async def test_a_planner_of_a_completion_that_raises_raises_an_error(kind: type[BaseException]) -> None:
    def raises(given: PlanInput) -> str:
        raise made(kind)

    wanted: CompletionSpec[str] = CompletionSpec(
        id="x.said", description="Say.", result=TypeCodec(str, "Said", is_result=True)
    )
    with pytest.raises((StrayExceptionError, RuntimeError)):
        await complete(wanted, ScriptedPlanner([raises]), "Say.")


# Services and listeners.


@pytest.mark.parametrize("kind", NO_ERRORS)
async def test_a_service_in_threads_raises_an_error(kind: type[BaseException]) -> None:
    class Service:
        def find(self) -> None:
            raise made(kind)

    with pytest.raises(StrayExceptionError) as raised:
        await asyncio.wait_for(in_thread(Service()).find(), 30)
    assert type(raised.value.__cause__) is kind


@pytest.mark.parametrize("kind", NO_ERRORS)
async def test_a_listener_that_raises_still_listens(kind: type[BaseException]) -> None:
    def hears(event: Any) -> None:
        heard.set()
        raise made(kind)

    heard = asyncio.Event()
    events = Events()
    async with events.on(hears, types=["tool_end"]) as listener:
        for _ in range(2):
            heard.clear()
            await runtime(Listing(), events=events).call(TOOL, SITE, META)
            await asyncio.wait_for(heard.wait(), 30)
    assert listener.failed == 2
