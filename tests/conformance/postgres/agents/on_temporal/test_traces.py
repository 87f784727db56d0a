"""Traces of runs that workers of a Temporal server execute, each with a tracer provider of its own."""

from __future__ import annotations

from contextlib import AsyncExitStack

from tests.agents.tools import agent, calling, everything, exported
from tests.conformance.postgres.test_traces import BURN, found
from tests.conventions import violations
from tests.otlp import Receiver
from tests.temporal_server import TemporalServer
from toolgen.adapters.postgres import Postgres, PostgresSessionStore
from toolgen.agents import Agents, ScriptedPlanner, agents_of
from toolgen.engines.temporal import TemporalEngine
from toolgen.events.telemetry.spans import ToolSpans
from toolgen.runtime import Runtime

SECRET = b"the same in all processes, always"


async def test_a_run_with_a_child_and_a_wait_is_one_trace(
    temporal: TemporalServer, database: Postgres
) -> None:
    low = agent("x.low", ScriptedPlanner([calling(("burn", {"id": "p1"})), found]), BURN)
    top = agent("x.top", ScriptedPlanner([calling("look"), everything]), exported("x.checks", "x.low"))
    with Receiver() as receiver:
        async with AsyncExitStack() as stack:
            runtimes = []
            for number in range(3):
                engine = TemporalEngine(temporal.address, queue="traces", prefix="traces:", worker=number > 0)
                runtime = Runtime(engine=engine, secret=SECRET, spans=ToolSpans(receiver.provider()))
                agents = Agents(runtime, sessions=PostgresSessionStore(database))
                for one in (low, top):
                    agents.register(one)
                runtimes.append(await stack.enter_async_context(runtime))
            handle = await agents_of(runtimes[0]).client("x.top").start("Go.", session_id="s")
            (asked,) = (await handle.settled()).awaiting
            await runtimes[0].suspensions.answer(asked.token, {"approved": True})
            assert (await handle.result()).status == "completed"
        spans = receiver.spans()
    assert {span.trace for span in spans} == {spans[0].trace}
    names = {span.id: span.name for span in spans}
    assert sorted((span.name, names.get(span.parent, "")) for span in spans) == [
        ("execute_tool burn", "execute_tool burn"),
        ("execute_tool burn", "invoke_agent low"),
        ("execute_tool look", "invoke_agent top"),
        ("invoke_agent low", "execute_tool look"),
        ("invoke_agent top", ""),
        ("plan low", "invoke_agent low"),
        ("plan low", "invoke_agent low"),
        ("plan top", "invoke_agent top"),
        ("plan top", "invoke_agent top"),
    ]
    assert [wrong for span in spans for wrong in violations(span)] == []
