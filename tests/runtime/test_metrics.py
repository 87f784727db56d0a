"""Metrics of calls and of what waits, with OpenTelemetry's own SDK."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from opentelemetry.metrics import NoOpCounter, NoOpHistogram, NoOpMeter, NoOpMeterProvider

from tests.metered import Collected
from tests.runtime.tools import META, SITE, Listing, runtime, spec, waiting
from tests.virtual_time import now
from toolgen.engines import InProcessEngine
from toolgen.events.hub import Events
from toolgen.events.telemetry.metrics import Metrics
from toolgen.runtime import CallMeta, ConfirmSpec, ToolError, ToolOutcome
from toolgen.runtime.functions import LongRunningSpec
from toolgen.waiting.errors import SuspensionError
from toolgen.waiting.options import WaitOptions

TOOL = "assistant.devices.list_devices"
NAMED = {"gen_ai.tool.name": "list_devices", "toolgen.tool": TOOL}
OPERATION = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.type": "function"}
CONFIRMED = spec(confirm=ConfirmSpec(hint="List {site_id}?"))


def ended(status: str, **more: str) -> dict[str, str]:
    return {**NAMED, "toolgen.status": status, **more}


@pytest.fixture
def collected() -> Collected:
    return Collected()


async def fails(payload: Any, ctx: Any) -> Any:
    raise ToolError("no line")


async def test_calls_are_counted_and_timed_by_tool_and_status(collected: Collected) -> None:
    made = runtime(Listing(), metrics=collected.metrics)
    for arguments in (SITE, SITE, b"{}"):
        await made.call(TOOL, arguments, META)
    await runtime(Listing(fails), metrics=collected.metrics).call(TOOL, SITE, META)
    failed = ended("error", **{"error.type": "tool_error"})
    points = collected.points()
    assert points["toolgen.calls.ended"] == [(ended("ok"), 2), (failed, 2)]
    assert points["gen_ai.execute_tool.duration"] == [
        ({**OPERATION, **ended("ok")}, 2),
        ({**OPERATION, **failed}, 2),
    ]
    assert all(0 < total < 60 for total in collected.sums("gen_ai.execute_tool.duration"))


def test_durations_have_the_buckets_of_the_conventions(collected: Collected) -> None:
    collected.metrics.end_call(TOOL, "ok", 1.0)
    collected.metrics.end_run("x.agent", "completed", 1.0)
    calls, runs = (collected.bounds(f"gen_ai.{name}.duration") for name in ("execute_tool", "invoke_agent"))
    assert (calls[0], calls[-1], len(calls)) == (0.01, 81.92, 14)
    assert (runs[0], runs[-1], len(runs)) == (0.1, 409.6, 13)
    assert all(after == 2 * before for bounds in (calls, runs) for before, after in pairwise(bounds))


async def test_a_name_that_a_model_made_up_is_no_attribute(collected: Collected) -> None:
    made = runtime(Listing(), metrics=collected.metrics)
    for number in range(3):
        await made.call(f"made_up_{number}", "{}", META)
    other = {"gen_ai.tool.name": "_OTHER", "toolgen.tool": "_OTHER"}
    assert collected.points() == {
        "toolgen.calls.ended": [({**other, "toolgen.status": "error", "error.type": "tool_error"}, 3)]
    }


async def test_events_are_told_all_the_same(collected: Collected) -> None:
    events = Events()
    made = runtime(Listing(), metrics=collected.metrics, events=events)
    async with events.subscribe() as told:
        await made.call(TOOL, SITE, META)
        assert [one.type for one in await told.batch()] == ["tool_start", "tool_end"]
    assert collected.points()["toolgen.calls.ended"] == [(ended("ok"), 1)]


async def test_further_attempts_are_counted(collected: Collected) -> None:
    attempts: list[int] = []

    async def flaky(payload: Any, ctx: Any) -> Any:
        attempts.append(1)
        if len(attempts) < 3:
            raise ToolError("busy", is_retryable=True)
        return await Listing().list_devices(payload, ctx)

    made = runtime(Listing(flaky), spec(annotations={"idempotent": True}), metrics=collected.metrics)
    assert (await made.call(TOOL, SITE, META)).status == "ok"
    points = collected.points()
    assert points["toolgen.retries"] == [({"toolgen.kind": "call", "toolgen.tool": TOOL}, 2)]
    assert points["toolgen.calls.ended"] == [(ended("ok"), 1)]


@pytest.mark.asyncio(loop_factories=["virtual"])
async def test_a_wait_is_counted_from_its_question_to_its_answer(
    engine: InProcessEngine, collected: Collected
) -> None:
    passed = [0.0]
    options = WaitOptions(clock=lambda: now() + passed[0])
    made = runtime(Listing(), CONFIRMED, engine=engine, metrics=collected.metrics, waiting=options)
    async with made:
        for is_approved in (True, False):
            asked = waiting(await made.call(TOOL, SITE, META))
            passed[0] += 100
            await made.suspensions.answer(asked.token, {"approved": is_approved}, by="jo")
        asked = waiting(await made.call(TOOL, SITE, META))
        await made.suspensions.cancel(asked.token, "no longer needed")
    confirmation = {"toolgen.kind": "confirmation"}
    answered = {**confirmation, "toolgen.outcome": "answered"}
    canceled = {**confirmation, "toolgen.outcome": "canceled"}
    points = collected.points()
    assert points["toolgen.suspensions.opened"] == [(confirmation, 3)]
    assert points["toolgen.suspensions.ended"] == [(answered, 2), (canceled, 1)]
    assert points["toolgen.suspensions.duration"] == [(answered, 2), (canceled, 1)]
    assert collected.sums("toolgen.suspensions.duration") == pytest.approx([200, 0], abs=1)
    assert points["toolgen.calls.ended"] == [(ended("ok"), 1), (ended("denied"), 2)]


@pytest.mark.asyncio(loop_factories=["virtual"])
async def test_a_wait_that_nobody_answers_has_expired(engine: InProcessEngine, collected: Collected) -> None:
    options = WaitOptions(clock=now, expires_s=60)
    made = runtime(Listing(), CONFIRMED, engine=engine, metrics=collected.metrics, waiting=options)
    async with made:
        asked = waiting(await made.call(TOOL, SITE, META))
        with pytest.raises(SuspensionError):
            await made.suspensions.result(asked.token, wait_s=100)
    points = collected.points()
    assert points["toolgen.suspensions.ended"] == [({"toolgen.outcome": "expired"}, 1)]
    assert points["toolgen.calls.ended"] == [(ended("denied"), 1)]


async def test_work_elsewhere_is_a_wait_too(engine: InProcessEngine, collected: Collected) -> None:
    async def works(payload: Any, ctx: Any) -> Any:
        return ToolOutcome.pending("job-1")

    one = spec(long_running=LongRunningSpec())
    async with runtime(Listing(works), one, engine=engine, metrics=collected.metrics) as made:
        asked = waiting(await made.call(TOOL, SITE, META))
        await made.suspensions.answer(asked.token, {"devices": [], "returned": 0, "truncated": False})
    points = collected.points()
    assert points["toolgen.suspensions.opened"] == [({"toolgen.kind": "pending"}, 1)]
    assert points["toolgen.calls.ended"] == [(ended("ok"), 1)]


async def test_no_attribute_has_an_id_of_a_call_or_a_value(
    engine: InProcessEngine, collected: Collected
) -> None:
    meta = CallMeta(run_id="r-1", session_id="s-1", turn_id="t-1", tool_call_id="c-1", labels={"user": "u-1"})
    async with runtime(Listing(), CONFIRMED, engine=engine, metrics=collected.metrics) as made:
        asked = waiting(await made.call(TOOL, b'{"site_id": "v-1"}', meta))
        await made.suspensions.answer(asked.token, {"approved": True}, by="p-1")
    shown = repr(collected.points())
    assert not [id_ for id_ in ("r-1", "s-1", "t-1", "c-1", "u-1", "v-1", "p-1", "call_") if id_ in shown]


class BrokenCounter(NoOpCounter):
    def add(self, *arguments: Any, **named: Any) -> None:
        raise RuntimeError("the exporter is gone")


class BrokenHistogram(NoOpHistogram):
    def record(self, *arguments: Any, **named: Any) -> None:
        raise RuntimeError("the exporter is gone")


class BrokenMeter(NoOpMeter):
    def create_counter(self, name: str, unit: str = "", description: str = "") -> NoOpCounter:
        return BrokenCounter(name)

    def create_histogram(
        self, name: str, unit: str = "", description: str = "", **advisory: Any
    ) -> NoOpHistogram:
        return BrokenHistogram(name)


class BrokenProvider(NoOpMeterProvider):
    def get_meter(self, name: str, *more: Any, **named: Any) -> NoOpMeter:
        return BrokenMeter(name)


async def test_a_metric_that_raises_harms_no_call(caplog: pytest.LogCaptureFixture) -> None:
    made = runtime(Listing(), metrics=Metrics(BrokenProvider()))
    assert (await made.call(TOOL, SITE, META)).status == "ok"
    assert "a metric was not recorded" in caplog.text


async def test_without_a_provider_nothing_is_recorded_and_calls_go_on() -> None:
    assert (await runtime(Listing(), metrics=Metrics()).call(TOOL, SITE, META)).status == "ok"
