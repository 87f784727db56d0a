"""What an operator sees of runs in Temporal's own interface: what they do, and what they wait for."""

from __future__ import annotations

import asyncio
from typing import Any

from temporalio.client import Client

from tests.engines.toys import play
from tests.temporal_server import TemporalServer
from toolgen.contract.json_value import Json
from toolgen.engines import ActivityInfo, Engine, RunContext
from toolgen.engines.temporal import TemporalEngine

FACTS: dict[str, Any] = {"agent": "assistant.chat", "turn_id": "t-1"}


async def client_of(engine: Engine) -> Client:
    assert isinstance(engine, TemporalEngine)
    return (await engine._connected()).client


async def found(client: Client, query: str) -> set[str]:
    """Return the ids of the workflows that a list filter finds."""
    return {one.id.partition(":")[2] async for one in client.list_workflows(query)}


async def until_found(client: Client, query: str, *ids: str) -> None:
    """Return when a list filter finds these; a server lists what has changed some moments after it did."""
    async with asyncio.timeout(30):
        while await found(client, query) != set(ids):  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def asks(kind: str) -> dict[str, Any]:
    """Return a step that asks a person."""
    return {"wait": ["answer:wait:0"], "about": {"frozen": {"kind": kind}}}


async def test_runs_are_found_by_what_they_wait_for(engine: Engine) -> None:
    client = await client_of(engine)
    await play(engine, [{"parts": [asks("confirmation"), asks("input")]}], run_id="both")
    await play(engine, [asks("confirmation"), {"wait": ["go"]}], run_id="one")
    await play(engine, [{"wait": ["go"]}], run_id="none")
    for run_id in ("both", "one", "none"):
        await engine.settled(run_id)
    await until_found(client, "ToolgenWaits = 'confirmation'", "both", "one")
    await until_found(client, "ToolgenWaits = 'input'", "both")
    await until_found(client, "ToolgenWaits = 'nothing'", "none")
    await engine.answer("one", "wait:0", "yes", key="yes")
    await until_found(client, "ToolgenWaits = 'nothing'", "none", "one")


async def test_a_kind_that_cannot_be_listed_is_that_of_a_signal(engine: Engine) -> None:
    client = await client_of(engine)
    kinds = {"long": "x" * 5_000, "empty": "", "none": "nothing", "not_ascii": "é"}
    for run_id, kind in kinds.items():
        await play(engine, [asks(kind)], run_id=run_id)
        assert (await engine.settled(run_id)).state == "waiting"
    await until_found(client, "ToolgenWaits = 'signal'", *kinds)
    assert len(await engine.open_waits()) == len(kinds)


async def test_a_run_with_more_kinds_of_waits_than_are_listed_waits(engine: Engine) -> None:
    steps = [{"parts": [asks(f"{number:060}") for number in range(40)]}]
    for number, part in enumerate(steps[0]["parts"]):
        part["wait"] = [f"answer:wait:0.{number}"]
    await play(engine, steps, run_id="r")
    assert len((await engine.settled("r")).awaiting) == 40


async def acts(ctx: RunContext, given: Any) -> Json:
    """Do what the loop of an agent does: a planning, a call, a child run."""
    if "child" not in given:
        await ctx.publish("started", {"type": "run_started"})
        await ctx.start("plan:3", "plan", {**given, "step": 3, "new": []})
        await ctx.start("tool:call_1", "plan", {**given, "step": 3, "call": {"id": "call_1"}})
        await ctx.child("child:1", "acts", {**given, "child": True})
    return None


async def plans(info: ActivityInfo, arg: Any) -> Json:
    return None


async def test_runs_of_a_turn_are_found_and_summaries_say_what_is_done(server: TemporalServer) -> None:
    engine = TemporalEngine(server.address, queue="turns", prefix="turns:")
    engine.register(loops={"acts": acts}, activities={"plan": plans})
    await engine.start()
    client = await client_of(engine)
    await engine.start_run("acts", {"facts": FACTS}, run_id="r")
    await engine.result("r")
    await until_found(client, "ToolgenTurn = 't-1'", "r", "r/child:1")
    handle = client.get_workflow_handle("turns:r")
    assert await (await handle.describe()).static_summary() == "assistant.chat"
    found = [one.user_metadata.summary for one in (await handle.fetch_history()).events]
    assert [(await client.data_converter.decode([one]))[0] for one in found if one.data] == [
        "assistant.chat",
        "assistant.chat, step 3",
        "assistant.chat, call_1",
        "assistant.chat",
        "run_stream_end",
    ]
    await engine.close()
