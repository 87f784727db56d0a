"""A planner that cannot plan now is asked again: when, how often, and what those who watch are told."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from gen.assistant import completions
from tests.agents.tools import agent, check_log, texts
from tests.engines.clock import ManualClock
from toolgen.agents import (
    Agents,
    FinalResponse,
    FinalResult,
    PlanInput,
    PlannerError,
    PlannerRetry,
    PlannerUnavailableError,
    PlanResult,
    RunHandle,
    RunOutput,
    RunPolicy,
    ScriptedPlanner,
    agents_of,
    complete,
)
from toolgen.engines import InProcessEngine
from toolgen.runtime import Runtime

from .tools import all_events

LONGEST = PlannerRetry(random=lambda: 1.0)
"""Every pause is as long as it may be."""


@pytest.fixture(autouse=True)
def engine_in() -> None:
    """The engine of the tests has a clock of theirs."""


class Busy:
    """A planner whose provider is busy for some attempts, and then answers."""

    def __init__(self, attempts: float, *, retry_after: float | None = None) -> None:
        self.left = attempts
        self.retry_after = retry_after
        self.asked: list[str] = []

    async def plan_start(self, given: PlanInput) -> PlanResult:
        self.asked.append(texts(given))
        given.reports.text("Let me")
        if len(self.asked) <= self.left:
            raise PlannerUnavailableError("HTTP 429", retry_after=self.retry_after)
        return FinalResponse(text="Let me see.")

    plan_resume = plan_start


class Bench:
    """A run in time that passes when it is waited for."""

    def __init__(self, runtime: Runtime, engine: InProcessEngine, clock: ManualClock) -> None:
        self.runtime = runtime
        self.engine = engine
        self.clock = clock
        self.pauses: list[float] = []
        """Seconds, one after the other."""

    async def start(self, **how: Any) -> RunHandle:
        return await agents_of(self.runtime).client("x.busy").start("Go.", **{"session_id": "s", **how})

    async def result(self, handle: RunHandle) -> RunOutput:
        """Return how the run ends; it must not wait for longer than it has to."""
        ended = asyncio.ensure_future(handle.result())
        while not ended.done():
            passing = asyncio.ensure_future(self.clock.advance())
            await asyncio.wait({ended, passing}, return_when=asyncio.FIRST_COMPLETED)
            if passing.done():
                self.pauses.append(passing.result())
            passing.cancel()
        output = ended.result()
        check_log(output, await self.runtime.runs.events(handle.run_id))
        status = await self.engine.status(handle.run_id)
        assert await self.engine.replay(handle.run_id) == status.output
        return output

    async def events(self, handle: RunHandle, *types: str) -> list[Any]:
        return [one for one in await self.runtime.runs.events(handle.run_id) if one.type in types]


@asynccontextmanager
async def bench(planner: Any, retry: PlannerRetry, policy: RunPolicy | None = None) -> AsyncIterator[Bench]:
    clock = ManualClock()
    engine = InProcessEngine(clock=clock.time, call_later=clock.call_later)
    async with Runtime(engine=engine) as runtime:
        Agents(runtime, planner_retry=retry).register(agent("x.busy", planner, policy=policy))
        yield Bench(runtime, engine, clock)


async def test_it_backs_off_exponentially_and_says_so() -> None:
    planner = Busy(4)
    async with bench(planner, LONGEST) as made:
        handle = await made.start()
        output = await made.result(handle)
        assert (output.text, len(planner.asked)) == ("Let me see.", 5)
        assert made.pauses == pytest.approx([1, 2, 4, 8])
        told = await made.events(handle, "plan_retry")
        assert [(event.attempt, event.delay_s) for event in told] == [(1, 1.0), (2, 2.0), (3, 4.0), (4, 8.0)]
        assert {event.reason for event in told} == {"HTTP 429"}
        assert set(planner.asked) == {"[Go.]"}, "every attempt is given the same"


async def test_what_an_attempt_streamed_is_void_when_the_next_one_begins() -> None:
    async with bench(Busy(2), LONGEST) as made:
        handle = await made.start()
        following = asyncio.ensure_future(all_events(handle))
        await made.result(handle)
        seen, drawn = "", []
        events: list[Any] = list(await following)
        for event in events:
            if event.type not in ("assistant_reply", "plan_retry"):
                continue
            match event.type, getattr(event, "is_partial", False):
                case "plan_retry", _:
                    seen = ""
                case _, True:
                    seen += event.text
                case _:
                    seen = event.text
            drawn.append(seen)
        assert drawn == ["Let me", "", "Let me", "", "Let me", "Let me see."]


@pytest.mark.parametrize(("part", "first"), [(0.0, [0, 0, 0]), (0.5, [0.5, 1, 2])])
async def test_a_pause_is_any_part_of_the_longest(part: float, first: list[float]) -> None:
    async with bench(Busy(3), PlannerRetry(random=lambda: part)) as made:
        handle = await made.start()
        await made.result(handle)
        told = await made.events(handle, "plan_retry")
        assert [event.delay_s for event in told] == first


async def test_it_gives_up_after_minutes_and_says_why() -> None:
    planner = Busy(math.inf)
    async with bench(planner, LONGEST) as made:
        output = await made.result(await made.start())
        assert output.error == "the planner failed: HTTP 429 (10 attempts in 243 s)"
        assert made.pauses == pytest.approx([1, 2, 4, 8, 16, 32, 60, 60, 60])
        handle = await made.start()
        planner.left = 0
        assert (await made.result(handle)).text == "Let me see.", "the session goes on"


async def test_what_the_provider_asks_for_is_kept() -> None:
    async with bench(Busy(2, retry_after=30.0), LONGEST) as made:
        assert (await made.result(await made.start())).status == "completed"
        assert made.pauses == pytest.approx([31, 32]), "never earlier, and not all at once"


async def test_a_pause_that_would_be_too_long_is_not_begun() -> None:
    planner = Busy(1, retry_after=3600.0)
    async with bench(planner, LONGEST) as made:
        output = await made.result(await made.start())
        assert output.error == "the planner failed: HTTP 429 (the next attempt would be in 3601 s)"
        assert (made.pauses, len(planner.asked)) == ([], 1)


async def test_the_time_of_the_run_ends_it_earlier() -> None:
    planner = Busy(4)
    async with bench(planner, LONGEST, RunPolicy(time_budget=10.0)) as made:
        output = await made.result(await made.start())
        assert made.pauses[:3] == pytest.approx([1, 2, 4])
        assert (output.stop, output.text) == ("time_budget", "Let me see."), "it finishes from what is known"


@pytest.mark.parametrize("total", [0.0, 0.5])
async def test_one_attempt_is_all_where_there_is_no_time(total: float) -> None:
    planner = Busy(1)
    async with bench(planner, PlannerRetry(total_s=total, random=lambda: 1.0)) as made:
        output = await made.result(await made.start())
        assert output.error == "the planner failed: HTTP 429 (the next attempt would be in 1 s)"
        assert len(planner.asked) == 1


async def test_a_failure_that_costs_each_time_is_tried_three_times() -> None:
    tried: list[int] = []

    def broken(given: PlanInput) -> PlanResult:
        tried.append(given.step)
        given.reports.usage("m", 10, 1)
        if len(tried) in (1, 2):
            raise PlannerUnavailableError("HTTP 529")
        raise PlannerUnavailableError("it broke off", most_attempts=3)

    async with bench(ScriptedPlanner([broken]), LONGEST) as made:
        output = await made.result(await made.start())
        assert output.error == "the planner failed: it broke off (5 attempts in 15 s)"
        assert (len(tried), output.telemetry.input_tokens) == (5, 50)


async def test_a_run_is_canceled_while_it_pauses() -> None:
    planner = Busy(math.inf)
    async with bench(planner, LONGEST) as made:
        handle = await made.start()
        await made.clock.wait()
        await handle.cancel("enough")
        assert (await handle.result()).status == "canceled"
        assert len(planner.asked) == 1


async def test_a_pause_goes_on_after_a_restart() -> None:
    planner = Busy(1)
    async with bench(planner, LONGEST) as made:
        handle = await made.start()
        assert await made.clock.wait() == pytest.approx(1)
        await made.engine.close()
        await made.engine.start()
        assert (await made.result(handle)).text == "Let me see."
        assert len(planner.asked) == 2, "the attempt that failed is not made again"


async def test_a_planner_that_refuses_is_not_asked_again() -> None:
    def refuses(given: PlanInput) -> PlanResult:
        raise PlannerError("no such model")

    planner = ScriptedPlanner([refuses])
    async with bench(planner, LONGEST) as made:
        assert (await made.result(await made.start())).error == "the planner failed: no such model"
        assert len(planner.inputs) == 1


async def test_the_log_has_a_line_for_each_attempt(caplog: pytest.LogCaptureFixture) -> None:
    async with bench(Busy(2), LONGEST) as made:
        handle = await made.start()
        await made.result(handle)
    lines = [record.getMessage() for record in caplog.records]
    assert lines == [
        f"run {handle.run_id}: attempt 1 at plan:0 failed: HTTP 429",
        f"run {handle.run_id}: attempt 2 at plan:0:2 failed: HTTP 429",
    ]
    assert all(record.exc_info is None for record in caplog.records)


@pytest.mark.parametrize(
    "times",
    [{"initial_s": 0.0}, {"max_s": -1.0}, {"total_s": math.inf}, {"initial_s": math.nan}, {"total_s": -1.0}],
)
def test_times_are_times(times: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(times))):
        PlannerRetry(**times)


def test_the_longest_pause_has_an_end() -> None:
    error = PlannerUnavailableError("busy")
    assert LONGEST.after(error, 10_000)["delay_s"] == 60.0
    assert LONGEST.after(OSError(), 1)["most_attempts"] == 3


@pytest.mark.parametrize(
    ("asked", "pause"), [(None, 1), (-5.0, 1), (math.nan, 1), (2.5, 3.5), (math.inf, 1e9 + 1)]
)
def test_a_planner_may_ask_for_any_number_of_seconds(asked: float | None, pause: float) -> None:
    error = PlannerUnavailableError("busy", retry_after=asked)
    assert LONGEST.after(error, 1)["delay_s"] == pause


class Report:
    """A planner of a completion."""

    def __init__(self, fails: Callable[[int], Exception | None]) -> None:
        self._fails = fails
        self.asked = 0

    async def plan_start(self, given: PlanInput) -> PlanResult:
        self.asked += 1
        if error := self._fails(self.asked):
            raise error
        return FinalResult(result={"headline": "All is well.", "details": []})

    plan_resume = plan_start


async def test_a_completion_asks_again_too() -> None:
    planner = Report(lambda asked: PlannerUnavailableError("HTTP 429") if asked < 4 else None)
    soon = PlannerRetry(initial_s=0.001)
    report = await complete(completions.SITE_REPORT, planner, "How is it?", retry=soon)
    assert (report.headline, planner.asked) == ("All is well.", 4)
    never = Report(lambda asked: PlannerUnavailableError("HTTP 429"))
    with pytest.raises(PlannerUnavailableError):
        await complete(completions.SITE_REPORT, never, "How is it?", retry=PlannerRetry(total_s=0))
    assert never.asked == 1
    wrong = Report(lambda asked: KeyError("x"))
    with pytest.raises(KeyError):
        await complete(completions.SITE_REPORT, wrong, "How is it?", retry=soon)
    assert wrong.asked == 1
