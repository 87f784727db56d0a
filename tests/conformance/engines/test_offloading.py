"""Large values beside the server, in PostgreSQL: histories hold references to them."""

from __future__ import annotations

import itertools
import os
from collections.abc import AsyncIterator, Sequence
from typing import Any, Protocol

import psycopg
import pytest
from temporalio.api.common.v1 import Payload
from temporalio.client import WorkflowExecutionStatus
from temporalio.converter import PayloadCodec

from tests.engines.toys import Toys, call, until_listed
from tests.temporal_server import TemporalServer
from toolgen.adapters.postgres import Postgres, PostgresPayloads
from toolgen.contract.json_value import Json
from toolgen.engines import (
    ActivityFailed,
    ActivityInfo,
    CallOptions,
    EngineError,
    PayloadGoneError,
    RunContext,
    UnknownRunError,
)
from toolgen.engines.temporal import TemporalEngine, TemporalLimits

from .codec import XorCodec
from .processes import HEARTBEAT_S, ends

pytestmark = pytest.mark.costly

LARGE = 5_000_000
HISTORY = 30_000
"""The most bytes of a history, whatever goes through its run."""
_NUMBERS = itertools.count(1)


class Start(Protocol):
    async def __call__(self, codec: PayloadCodec | None = None, **how: Any) -> TemporalEngine: ...


class NonceCodec(XorCodec):
    """Hides the same value as something else each time."""

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        encoded = await super().encode(payloads)
        for one in encoded:
            one.metadata["nonce"] = os.urandom(8)
        return encoded


async def holder(ctx: RunContext, given: dict[str, Any]) -> Any:
    """Hold a large result while it waits, and use one in a call."""
    options = CallOptions(attempts=2, backoff=0.01)
    large = await ctx.start("make", "large", given["size"], options)
    await ctx.wait("wait", "go")
    if given.get("is_used"):
        try:
            return await ctx.start("use", "length", large, options)
        except ActivityFailed as failure:
            return [failure.kind, failure.message]
    return len(str(large))


async def above(ctx: RunContext, given: dict[str, Any]) -> Any:
    """Start a child with a large input."""
    return await ctx.child("child", "holder", {"size": 1, "more": "x" * given["size"]})


async def telling(ctx: RunContext, given: dict[str, Any]) -> Any:
    """Append a large event to the log, and wait."""
    await ctx.publish("event", {"type": "large", "text": "x" * given["size"]})
    await ctx.wait("wait", "go")


async def many(ctx: RunContext, given: dict[str, Any]) -> Any:
    """Give many large arguments at once."""
    calls = [ctx.start(f"op{number}", "length", "x" * given["size"]) for number in range(given["count"])]
    return await ctx.gather(*calls)


async def large(info: ActivityInfo, size: int) -> str:
    return "x" * size


async def length(info: ActivityInfo, text: str) -> int:
    return len(text)


@pytest.fixture
async def payloads(conninfo: str) -> AsyncIterator[PostgresPayloads]:
    async with Postgres(conninfo) as database:
        yield PostgresPayloads(database)


@pytest.fixture
async def start(server: TemporalServer, toys: Toys, payloads: PostgresPayloads) -> AsyncIterator[Start]:
    """Return what makes an engine that keeps large values in PostgreSQL, and closes it after the test."""
    engines: list[TemporalEngine] = []
    number = next(_NUMBERS)

    async def make(
        codec: PayloadCodec | None = None,
        *,
        max_payload_bytes: int = 50_000_000,
        offload_bytes: int = 64_000,
        **how: Any,
    ) -> TemporalEngine:
        limits = TemporalLimits(
            heartbeat_s=HEARTBEAT_S, max_payload_bytes=max_payload_bytes, offload_bytes=offload_bytes
        )
        settings: dict[str, Any] = {"payloads": payloads, **how}
        engine = TemporalEngine(
            server.address,
            queue=f"offloading {number}",
            prefix=f"o{number}:",
            limits=limits,
            codec=codec,
            **settings,
        )
        engines.append(engine)
        engine.register(
            loops={**toys.loops(), "holder": holder, "above": above, "telling": telling, "many": many},
            activities={**toys.activities(), "large": large, "length": length},
        )
        await engine.start()
        return engine

    yield make
    for engine in engines:
        await engine.close()


async def history(engine: TemporalEngine, run_id: str) -> bytes:
    """Return all that the server has of a run."""
    client = await engine._connected()
    return b"".join(event.SerializeToString() for event in (await client.history(run_id)).events)


def table(conninfo: str) -> dict[str, list[bytes]]:
    """Return the stored payloads by the id of their workflow, the smallest first."""
    found: dict[str, list[bytes]] = {}
    with psycopg.connect(conninfo) as connection:
        for session, data in connection.execute("SELECT session_id, data FROM toolgen.payload ORDER BY 1, 2"):
            found.setdefault(session, []).append(bytes(data))
    return found


def script(text: str) -> list[Any]:
    """Return steps by which a text is an event, an argument, a result, an answer, a signal and an output."""
    return [
        {"publish": {"type": "large", "text": text}},
        {"calls": [call("a", note=text, result=text)]},
        {"wait": ["answer:wait:2"], "about": text},
        {"wait": ["go"]},
        {"child": [{"publish": {"type": "below", "text": text}}, {"calls": [call("b", result=text)]}]},
    ]


async def played(engine: TemporalEngine, text: str) -> Any:
    """Play the script, and return the output of its run."""
    await engine.start_run("script", script(text), run_id="r", session="s-1")
    await engine.settled("r")
    assert await engine.answer("r", "wait:2", text, key="1") in ("accepted", "recorded")
    await engine.signal("r", "go", text, signal_id="1")
    status = await engine.result("r")
    assert (status.state, status.error) == ("completed", "")
    return status.output


async def test_values_of_5_mb_leave_the_history_and_come_back(start: Start, conninfo: str) -> None:
    text = "x" * LARGE
    engine = await start()
    assert (await played(engine, text)) == [[text], {"answer:wait:2": text}, {"go": text}, [[text]]]
    events = await ends(engine, "r")
    assert events[0] == {"type": "large", "text": text}
    for run_id in ("r", "r/child:4"):
        assert len(await history(engine, run_id)) < HISTORY, run_id
    sizes = {session: max(map(len, stored)) for session, stored in table(conninfo).items()}
    assert {session.partition(":")[2] for session in sizes} == {"r", "r/child:4"}
    assert all(size > LARGE for size in sizes.values())
    assert await engine.replay("r") == (await engine.status("r")).output


async def test_what_is_small_stays_in_the_history(start: Start, conninfo: str) -> None:
    engine = await start()
    await engine.start_run("holder", {"size": 60_000}, run_id="small")
    await engine.start_run("holder", {"size": 70_000}, run_id="large")
    for run_id in ("small", "large"):
        await engine.signal(run_id, "go", None, signal_id="1")
        assert (await engine.result(run_id)).state == "completed"
    assert [session.partition(":")[2] for session in table(conninfo)] == ["large"]


async def test_no_plain_text_is_anywhere_where_a_codec_hides_it(start: Start, conninfo: str) -> None:
    text = "plain text " * 10_000
    engine = await start(XorCodec("key"))
    await played(engine, text)
    stored = [data for all_ in table(conninfo).values() for data in all_]
    assert len(stored) > 6
    for data in [*stored, await history(engine, "r"), await history(engine, "r/child:4")]:
        assert b"plain text" not in data


async def test_a_replay_stores_nothing_again(start: Start, conninfo: str) -> None:
    """The codec makes something else of the same value each time."""
    engine = await start(NonceCodec("key"))
    await played(engine, "x" * 100_000)
    before = table(conninfo)
    await engine.replay("r")
    assert table(conninfo) == before


async def test_what_a_run_waits_for_is_kept_for_the_run(start: Start, conninfo: str) -> None:
    """In its memo, and in its log: it is erased with it."""
    engine = await start(offload_bytes=1_000)
    steps: Any = [{"wait": ["answer:wait:0"], "about": "?" * 5_000}]
    await engine.start_run("script", steps, run_id="r", session="s-1")
    await engine.settled("r")
    client = await engine._connected()
    assert set(table(conninfo)) == {client._id("r")}
    assert len(table(conninfo)[client._id("r")]) == 3, "input, log and memo"
    await engine.answer("r", "wait:0", "yes", key="1")
    await engine.result("r")
    await until_listed(engine, "r")
    assert await engine.forget_session("s-1") == 1
    assert table(conninfo) == {}


async def test_many_large_arguments_may_start_at_once(start: Start) -> None:
    engine = await start()
    await engine.start_run("many", {"size": 1_000_000, "count": 30}, run_id="r")
    assert (await engine.result("r")).output == [1_000_000] * 30


async def test_a_session_is_erased_with_its_values_and_others_keep_theirs(
    start: Start, conninfo: str
) -> None:
    engine = await start()
    for session in ("one", "other"):
        await engine.start_run("holder", {"size": LARGE}, run_id=session, session=session)
        await engine.signal(session, "go", None, signal_id="1")
        await engine.result(session)
    await engine.start_run("holder", {"size": LARGE}, run_id="open", session="one")
    await engine.settled("open")
    assert await engine.forget_session("one") == 1
    assert {session.partition(":")[2] for session in table(conninfo)} == {"other", "open"}
    with pytest.raises(UnknownRunError):
        await engine.status("one")
    await engine.signal("open", "go", None, signal_id="1")
    assert (await engine.result("open")).output == LARGE


async def test_a_child_that_ended_is_not_erased_before_its_parent(start: Start) -> None:
    engine = await start()
    steps: Json = [{"child": [{"calls": [call("a", result="x" * 100_000)]}]}, {"wait": ["go"]}]
    await engine.start_run("script", steps, run_id="r", session="s-1")
    await engine.settled("r")
    assert await engine.forget_session("s-1") == 0
    await engine.close()
    again = await start()
    await again.signal("r", "go", None, signal_id="1")
    assert (await again.result("r")).state == "completed"


async def test_a_run_whose_result_is_gone_says_so_and_can_be_canceled(start: Start, conninfo: str) -> None:
    engine = await start()
    await engine.start_run("holder", {"size": LARGE}, run_id="r", session="s-1")
    await engine.settled("r")
    await engine.close()  # no worker has the run in memory
    erase(conninfo)
    engine = await start()
    await engine.signal("r", "go", None, signal_id="1")
    for waiting in (engine.result("r"), engine.settled("r")):
        with pytest.raises(PayloadGoneError, match=r"run r .*lacks a large value: the payload sha256"):
            await waiting
    await engine.cancel("r", reason="erased")
    status = await engine.status("r")
    assert (status.state, status.error) == ("canceled", "erased")


async def test_a_run_whose_input_is_gone_can_be_canceled_and_erased(start: Start, conninfo: str) -> None:
    engine = await start()
    await engine.start_run("holder", {"size": 1, "more": "x" * LARGE}, run_id="r", session="s-1")
    await engine.settled("r")
    await engine.start_run("holder", {"size": 1}, run_id="beside", session="s-1")
    await engine.settled("beside")
    erase(conninfo)
    with pytest.raises(PayloadGoneError, match="run r lacks a large value"):
        await engine.status("r")
    assert [status.run_id for status in await engine.list_runs(session="s-1")] == ["beside"]
    await engine.cancel("r", reason="erased")
    assert await engine.forget_session("s-1") == 1
    with pytest.raises(UnknownRunError):
        await engine.status("r")


async def test_a_run_whose_child_has_lost_its_input_can_be_canceled(start: Start, conninfo: str) -> None:
    engine = await start()
    await engine.start_run("above", {"size": LARGE}, run_id="r")
    await engine.settled("r")
    await engine.close()  # no worker has the child in memory
    erase(conninfo)
    engine = await start()
    await engine.cancel("r", reason="erased")
    assert (await engine.status("r")).state == "canceled"
    client = await engine._connected()
    below = await client.client.get_workflow_handle(client._id("r/child")).describe()
    assert below.status == WorkflowExecutionStatus.TERMINATED


async def test_a_run_whose_log_is_gone_says_so(start: Start, conninfo: str) -> None:
    engine = await start()
    await engine.start_run("telling", {"size": LARGE}, run_id="r")
    await engine.settled("r")
    erase(conninfo)
    with pytest.raises(PayloadGoneError, match="run r lacks a large value") as caught:
        await engine.status("r")
    assert "cancel the run if it is not over" in caught.value.hint


async def test_a_call_whose_argument_is_gone_fails(start: Start, conninfo: str) -> None:
    """No worker has activities until the argument is erased."""
    engine = await start()
    await engine.start_run("holder", {"size": LARGE, "is_used": True}, run_id="r")
    await engine.settled("r")
    await engine.close()
    loops = await start_role(start, "runs")
    await loops.signal("r", "go", None, signal_id="1")
    await has_scheduled(loops, "r", 2)
    erase(conninfo)
    await start_role(start, "activities")
    output: Any = (await loops.result("r")).output
    assert output[0] == "PayloadGoneError"
    assert "run r lacks a large value" in output[1]


async def test_values_that_were_not_used_for_long_are_pruned(
    start: Start, conninfo: str, payloads: PostgresPayloads
) -> None:
    engine = await start()
    await engine.start_run("holder", {"size": LARGE}, run_id="r")
    await engine.signal("r", "go", None, signal_id="1")
    await engine.result("r")
    assert await payloads.prune(older_than_s=3600) == 0
    with psycopg.connect(conninfo) as connection:
        connection.execute("UPDATE toolgen.payload SET last_used = last_used - 7200")
    assert await payloads.prune(older_than_s=3600) == 1
    assert (await engine.status("r")).output == LARGE, "its status needs none of them"


async def test_a_process_without_the_store_says_what_it_lacks(start: Start) -> None:
    engine = await start()
    await engine.start_run("holder", {"size": 1, "more": "x" * LARGE}, run_id="r")
    await engine.settled("r")
    other = await start(payloads=None, max_payload_bytes=1_000_000, worker=False)
    with pytest.raises(EngineError, match="in a store that this process lacks"):
        await other.status("r")


async def start_role(start: Start, role: Any) -> TemporalEngine:
    """Return the engine of a worker that executes loops alone, or activities alone."""
    engine = await start(worker=False)
    engine._may_work = True
    engine.assign(role=role)
    await engine.start()
    return engine


async def has_scheduled(engine: TemporalEngine, run_id: str, count: int) -> None:
    """Return when the history of a run has so many activities that are not of its log."""
    client = (await engine._connected()).client
    handle = client.get_workflow_handle(f"{engine._settings.prefix}{run_id}")
    async for event in handle.fetch_history_events(wait_new_event=True):
        scheduled = event.activity_task_scheduled_event_attributes
        count -= scheduled.activity_type.name in ("large", "length")
        if not count:
            return


def erase(conninfo: str) -> None:
    """Erase all payloads, as no engine does."""
    with psycopg.connect(conninfo) as connection:
        connection.execute("DELETE FROM toolgen.payload")
