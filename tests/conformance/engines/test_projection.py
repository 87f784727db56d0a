"""The status of a run costs the same however long its history is."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.engines.starting import StartEngine
from tests.engines.toys import abouts, call, play
from toolgen.engines import Engine, RunContext
from toolgen.engines.temporal import TemporalEngine, projection, reader

pytestmark = pytest.mark.costly

ASKS: dict[str, Any] = {"wait": ["answer:wait:1"], "about": {"question": "?"}}


class Read:
    """How much an engine reads of its server."""

    def __init__(self, engine: TemporalEngine, monkeypatch: pytest.MonkeyPatch) -> None:
        assert engine._client is not None
        service = engine._client.client.workflow_service
        self.requests = self.bytes = 0
        for name in ("describe_workflow_execution", "get_workflow_execution_history"):
            monkeypatch.setattr(service, name, self._counted(getattr(service, name)))

    def _counted(self, method: Any) -> Any:
        async def request(*given: Any, **how: Any) -> Any:
            said = await method(*given, **how)
            self.requests += 1
            self.bytes += said.ByteSize()
            return said

        return request

    def taken(self) -> tuple[int, int]:
        """Return the requests and the bytes of their answers since the last time."""
        found, self.requests, self.bytes = (self.requests, self.bytes), 0, 0
        return found


def on_temporal(engine: Engine) -> TemporalEngine:
    assert isinstance(engine, TemporalEngine)
    return engine


def steps(calls: int) -> list[Any]:
    return [{"calls": [call(str(number), result="x" * 1_000) for number in range(calls)]}, ASKS]


async def test_a_status_after_500_activities_reads_what_one_after_5_does(
    start_engine: StartEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "_SHORT", 0)
    engine = on_temporal(await start_engine())
    await play(engine, steps(5), run_id="short")
    await play(engine, steps(500), run_id="long")
    for run_id in ("short", "long"):
        await engine.settled(run_id)
    read = Read(engine, monkeypatch)
    costs: dict[str, tuple[int, int]] = {}
    ended: dict[str, int] = {}
    for run_id in ("short", "long"):
        status = await engine.status(run_id)
        assert (status.state, abouts(status)) == ("waiting", ({"question": "?"},))
        costs[run_id] = read.taken()
    inputs = len(json.dumps(steps(500))) - len(json.dumps(steps(5)))
    assert costs["short"][0] == costs["long"][0]
    assert costs["long"][1] - costs["short"][1] <= inputs, "nothing but the input of the run is longer"
    async with asyncio.timeout(30):
        while len(await engine.open_waits()) < 2:
            read.taken()
    assert read.taken()[0] <= 2 * costs["short"][0]
    for run_id in ("short", "long"):
        await engine.answer(run_id, "wait:1", "yes", key="yes")
        await engine.result(run_id)
        read.taken()
        status = await engine.status(run_id)
        assert status.state == "completed"
        ended[run_id] = read.taken()[0]
    assert ended["short"] == ended["long"]


@pytest.mark.parametrize("most_bytes", [16_000, 0], ids=["in the memo", "in the history"])
@pytest.mark.parametrize("short", [0, 1_000], ids=["long", "short"])
async def test_what_a_run_waits_for_and_its_children_are_told_in_order(
    start_engine: StartEngine, monkeypatch: pytest.MonkeyPatch, most_bytes: int, short: int
) -> None:
    """Also where the memo has no room for them, or the history is as short."""
    monkeypatch.setattr(reader, "_SHORT", short)
    monkeypatch.setattr(projection, "_MOST_BYTES", most_bytes)
    engine = on_temporal(await start_engine())
    parts = [{"wait": [f"answer:wait:0.{number}"], "about": number} for number in range(3)]
    below = [{"child": [{"wait": ["go"]}]}, {"child": []}]
    await play(engine, [{"parts": [*parts, *below]}, ASKS], run_id="r")
    status = await engine.settled("r")
    assert (status.state, abouts(status)) == ("waiting", (0, 1, 2))
    assert status.children == ("r/child:0.3", "r/child:0.4")
    await engine.answer("r", "wait:0.1", "yes", key="1")
    assert abouts(await engine.settled("r")) == (0, 2)
    await engine.answer("r", "wait:0.0", "yes", key="0")
    await engine.answer("r", "wait:0.2", "yes", key="2")
    assert (await engine.settled("r")).state == "waiting", "for its child"
    await engine.signal("r/child:0.3", "go", None, signal_id="1")
    async with asyncio.timeout(30):
        while abouts(status := await engine.settled("r")) != ({"question": "?"},):
            pass
    await engine.cancel("r", reason="enough")
    status = await engine.result("r")
    assert (status.state, status.awaiting, len(status.children)) == ("canceled", (), 2)


async def test_a_run_that_goes_on_at_each_look_is_running(
    start_engine: StartEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its history is longer than the server said just before."""
    engine = on_temporal(await start_engine())
    await play(engine, [ASKS], run_id="r")
    assert (await engine.settled("r")).state == "waiting"
    assert engine._client is not None
    service = engine._client.client.workflow_service
    describe = service.describe_workflow_execution

    async def before(*given: Any, **how: Any) -> Any:
        said = await describe(*given, **how)
        said.workflow_execution_info.history_length -= 1
        return said

    monkeypatch.setattr(service, "describe_workflow_execution", before)
    assert (await engine.status("r")).state == "running"


@pytest.mark.parametrize("what", ["waits", "children"])
async def test_a_memo_is_bounded_whatever_the_keys_are(
    start_engine: StartEngine, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    engine = on_temporal(await start_engine(is_started=False))
    keys = [f"{number}{'x' * 900}" for number in range(30)]

    async def many(ctx: RunContext, given: Any) -> Any:
        if what == "waits":
            await ctx.gather(*(_heard(ctx, key) for key in keys))
        else:
            await ctx.gather(*(ctx.child(key, "script", [{"wait": ["go"]}]) for key in keys))
        await ctx.wait("last", "go", about="?")
        return "done"

    engine._require_registered().loops.update(many=many)  # type: ignore[attr-defined]  # a dictionary
    await engine.start()
    monkeypatch.setattr(reader, "_SHORT", 0)
    await engine.start_run("many", None, run_id="r")
    status = await engine.settled("r")
    assert len(status.children) == (len(keys) if what == "children" else 0)
    described = await (await engine._connected())._handle("r").describe()
    memo = described.raw_description.workflow_execution_info.memo
    assert memo.ByteSize() < 20_000
    for number, key in enumerate(keys):
        to, name = ("r", f"go{number}") if what == "waits" else (f"r/{key}", "go")
        await engine.signal(to, name, None, signal_id=str(number))
    async with asyncio.timeout(60):
        while abouts(await engine.settled("r")) != ("?",):
            pass
    await engine.signal("r", "go", None, signal_id="last")
    assert (await engine.result("r")).output == "done"
    assert await engine.replay("r") == "done"


async def _heard(ctx: RunContext, key: str) -> None:
    await ctx.wait(key, f"go{key.rstrip('x')}")
