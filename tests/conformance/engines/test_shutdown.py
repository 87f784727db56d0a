"""Workers that are told to end, and activities of canceled runs: what is lost by neither."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from temporalio import activity

from tests.engines.toys import call, play
from tests.temporal_server import TemporalServer
from toolgen.engines import OUTCOME_UNKNOWN, ActivityInfo, EngineError, RunContext
from toolgen.engines.temporal import TemporalEngine, TemporalLimits

from .processes import HEARTBEAT_S, TemporalWorkers, ends

pytestmark = pytest.mark.costly


class Draining:
    """A worker of two queues in this process, the second one for runs of the agent `x.b`."""

    def __init__(self, address: str, prefix: str) -> None:
        self.happened: dict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self.gate = asyncio.Event()
        self.closing: asyncio.Future[None] | None = None
        self.engine = TemporalEngine(
            address,
            queue=prefix,
            queues={"x.b": f"{prefix}b"},
            prefix=prefix,
            limits=TemporalLimits(heartbeat_s=HEARTBEAT_S),
        )
        activities = {"held": self._held, "told": self._told, "following": self._following}
        self.engine.register(loops={"one": self._one, "parked": self._parked}, activities=activities)
        self.engine.assign(drain_s=60.0)

    async def play(self, activity: str, agent: str = "x.a") -> None:
        """Start a run of one activity; both have the same name."""
        given: Any = {"facts": {"agent": agent}, "activity": activity}
        await self.engine.start_run("one", given, run_id=activity)
        await self.has(f"{activity} began")

    def close(self) -> asyncio.Future[None]:
        """Begin to close the engine, and return the end of it."""
        self.closing = asyncio.ensure_future(self.engine.close())
        return self.closing

    async def has(self, what: str) -> None:
        async with asyncio.timeout(20):
            await self.happened[what].wait()

    async def _one(self, ctx: RunContext, given: Any) -> Any:
        return await ctx.start("op", given["activity"], None)

    async def _parked(self, ctx: RunContext, given: Any) -> Any:
        await ctx.wait("wait", "go")

    async def _held(self, info: ActivityInfo, arg: Any) -> Any:
        self.happened["held began"].set()
        await self.gate.wait()
        return info.attempt

    async def _told(self, info: ActivityInfo, arg: Any) -> Any:
        self.happened["told began"].set()
        await activity.wait_for_worker_shutdown()
        self.happened["told"].set()
        return info.attempt

    async def _following(self, info: ActivityInfo, arg: Any) -> Any:
        self.happened["following began"].set()
        return [info.attempt, (await self.engine.result("parked")).state]


@pytest.fixture
async def draining(server: TemporalServer, request: pytest.FixtureRequest) -> AsyncIterator[Draining]:
    draining = Draining(server.address, f"{request.node.name}:")
    await draining.engine.start()
    yield draining
    draining.gate.set()
    if draining.closing is not None:
        await draining.closing
    await draining.engine.close()


async def test_what_ends_within_the_drain_is_not_executed_again(workers: TemporalWorkers) -> None:
    """Another worker goes on meanwhile with what is not executed."""
    client = workers.client
    calls = [call("soon", gate="soon"), call("once", once=True, gate="soon")]
    await play(client, [{"calls": calls}, {"calls": [call("next")]}], run_id="r")
    await play(
        client, [{"wait": ["answer:wait:0"], "about": "?"}, {"calls": [call("answered")]}], run_id="parked"
    )
    await workers.start("first", drain_s=60.0)
    await workers.has("start", "soon")
    await workers.has("begun", "once")
    assert (await client.settled("parked")).awaiting
    await workers.start("second")
    stopping = asyncio.ensure_future(workers.stop("first"))
    await workers.has("closing", "first")
    receipt = await client.answer("parked", "wait:0", "yes", key="yes")
    assert receipt in ("accepted", "recorded")
    assert (await client.result("parked")).state == "completed"
    assert not stopping.done()
    workers.open("soon")
    await stopping
    assert workers.counts("closed")["first"] == 1
    status = await client.result("r")
    assert status.output == [
        [{"id": id_, "ok": True} for id_ in ("soon", "once")],
        [{"id": "next", "ok": True}],
    ]
    assert workers.counts("start") == {"soon": 1, "once": 1, "next": 1, "answered": 1}
    assert not workers.counts("cancel")
    await ends(client, "r")


async def test_what_is_cut_off_is_executed_again_and_cancels_no_run(workers: TemporalWorkers) -> None:
    client = workers.client
    calls = [call("late", gate="late"), call("unknown", once=True, gate="late")]
    await play(
        client, [{"calls": calls}, {"publish": {"type": "x"}}, {"wait": ["go"], "about": "?"}], run_id="r"
    )
    await workers.start("first", drain_s=0.1)
    await workers.has("start", "late")
    await workers.has("begun", "unknown")
    await workers.start("second")
    await workers.stop("first")
    assert workers.counts("closed")["first"] == 1
    workers.open("late")
    status = await client.settled("r")
    assert (status.state, status.error) == ("waiting", "")
    await client.signal("r", "go", 1, signal_id="1")
    done: list[Any] = [{"id": "late", "ok": True}, {"failed": OUTCOME_UNKNOWN}]
    assert (await client.result("r")).output == [done, {"go": 1}]
    assert workers.counts("begun") == {"unknown": 1}
    assert workers.counts("start") == {"late": 2, "unknown": 1}
    assert workers.counts("cancel") == {"late": 1, "unknown": 1}, "in the worker that ended"
    await ends(client, "r")


async def test_a_cancellation_reaches_a_tool_with_a_heartbeat(workers: TemporalWorkers) -> None:
    client = workers.client
    await workers.start("one")
    await play(client, [{"calls": [call("a", gate="never"), call("b", gate="never")]}], run_id="r")
    await play(client, [{"child": [{"calls": [call("c", gate="never")]}]}], run_id="above")
    for id_ in ("a", "b", "c"):
        await workers.has("start", id_)
    async with asyncio.timeout(4 * HEARTBEAT_S):  # of a busy machine; on a quiet one a sixth of a heartbeat
        await client.cancel("r", reason="enough")
        await client.cancel("above", reason="enough")
        for id_ in ("a", "b", "c"):
            await workers.has("cancel", id_)
    assert (await client.status("above/child:0")).state == "canceled"


async def test_a_tool_that_holds_the_event_loop_is_taken_for_lost(workers: TemporalWorkers) -> None:
    """It is executed again by another worker, unless it must not be; its late result is dropped."""
    client = workers.client
    await workers.start("blocked")
    blocking = [call("blocks", blocks=2 * HEARTBEAT_S), call("beside", gate="on")]
    await play(client, [{"calls": blocking}], run_id="r")
    await workers.has("block", "blocks")
    await workers.start("other")
    await workers.until(lambda: workers.counts("end")["blocks"] >= 2)
    workers.open("on")
    status = await client.result("r")
    assert status.output == [[{"id": "blocks", "ok": True}, {"id": "beside", "ok": True}]]
    assert sorted(workers.attempts("blocks"))[:2] == [
        1,
        2,
    ]  # a busy machine may lose the second too
    await ends(client, "r")


async def test_a_worker_of_two_queues_drains_both_at_once(draining: Draining) -> None:
    """None of them takes new work while the other one drains."""
    await draining.play("held")
    await draining.play("told", agent="x.b")
    closing = draining.close()
    await draining.has("told")
    assert not closing.done()
    draining.gate.set()
    await closing
    await draining.engine.start()
    assert [(await draining.engine.result(run_id)).output for run_id in ("held", "told")] == [1, 1]


async def test_a_call_that_follows_a_run_goes_on_within_the_drain(draining: Draining) -> None:
    await draining.engine.start_run("parked", None, run_id="parked")
    await draining.play("told")
    await draining.play("following")
    closing = draining.close()
    await draining.has("told")
    client = (await draining.engine._connected()).client
    await client.get_workflow_handle(f"{draining.engine._settings.prefix}parked").terminate("enough")
    await closing
    await draining.engine.start()
    assert (await draining.engine.result("following")).output == [1, "canceled"]


async def test_what_follows_a_run_for_ever_ends_with_the_engine(draining: Draining) -> None:
    engine = draining.engine
    await engine.start_run("parked", None, run_id="for ever")
    following = asyncio.ensure_future(engine.result("for ever"))
    await engine.settled("for ever")
    await engine.close()
    with pytest.raises(EngineError, match="closed"):
        await following


async def test_a_worker_that_does_not_end_is_left(
    draining: Draining, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The one of the SDK still waits for its activity."""
    await draining.play("held")
    monkeypatch.setattr(draining.engine._workers, "_drain", timedelta(0))
    monkeypatch.setattr("toolgen.engines.temporal.workers._END_S", 0)
    await draining.close()
    assert "did not end within 0 s after it was closed" in caplog.text
