"""Traces that go on over runs, waits and processes, as a receiver of OTLP gets them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace

from tests.agents.tools import (
    agent,
    calling,
    engine_of,
    everything,
    exported,
    first_answer,
    running,
)
from tests.conventions import violations
from tests.otlp import ReceivedSpan, Receiver
from tests.runtime.bank import Bank
from toolgen.agents import Agents, FinalResult, HandOver, ScriptedPlanner, agents_of
from toolgen.agents.sessions.sqlite import SqliteSessionStore
from toolgen.calls.call import CallName
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.calls.results import Pending
from toolgen.contract.json_value import Json
from toolgen.engines import InProcessEngine
from toolgen.events.telemetry.spans import ToolSpans, span_of, trace_of
from toolgen.runtime import CallMeta, ConfirmSpec, Runtime, ToolOutcome
from toolgen.runtime.functions import LongRunningSpec

YES: Json = {"approved": True}
NO: Json = {"approved": False}


async def burn(id: str) -> str:
    """Burn a parcel."""
    return f"{id} is ash"


async def look() -> str:
    """Look."""
    return "ash"


async def update() -> str | Pending[None]:
    """Update."""
    return ToolOutcome.pending("job-1")


BURN = function_toolset(
    "x.parcels", [func_tool(burn, toolset="x.parcels", confirm=ConfirmSpec(hint="Burn {id}?"))]
)
JOBS = function_toolset("x.jobs", [func_tool(update, toolset="x.jobs", long_running=LongRunningSpec())])
LOW = exported("x.checks", "x.low")
BURNING = calling(("burn", {"id": "p1"}))


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


@asynccontextmanager
async def process(
    folder: Path, spans: ToolSpans | None, planner: ScriptedPlanner, *toolsets: Any, worker: bool = True
) -> AsyncIterator[Runtime]:
    """Yield a runtime over the files of a folder, as each process has one; it is closed as if it ended."""
    runtime = Runtime(engine=InProcessEngine(folder / "runs.db", worker=worker), spans=spans)
    sessions = SqliteSessionStore(folder / "sessions.db")
    Agents(runtime, sessions=sessions).register(agent("x.agent", planner, *toolsets))
    async with runtime:
        yield runtime
    sessions.close()


def named(spans: tuple[ReceivedSpan, ...], name: str) -> list[ReceivedSpan]:
    return [span for span in spans if span.name == name]


def tree(spans: tuple[ReceivedSpan, ...]) -> dict[str, str]:
    """Return the name of each span's parent, by its own; "" where the receiver has none."""
    names = {span.id: span.name for span in spans}
    return {span.name: names.get(span.parent, "") for span in spans}


async def test_a_child_run_stands_under_the_span_of_its_tool(receiver: Receiver) -> None:
    low = agent("x.low", ScriptedPlanner([FinalResult(result="dust")]))
    top = agent("x.top", ScriptedPlanner([calling("look"), everything]), LOW)
    async with running(low, top, spans=ToolSpans(receiver.provider())) as (runtime, _):
        await agents_of(runtime).client("x.top").run("Go.", session_id="s")
    spans = receiver.spans()
    assert tree(spans) == {
        "invoke_agent top": "",
        "plan top": "invoke_agent top",
        "execute_tool look": "invoke_agent top",
        "invoke_agent low": "execute_tool look",
        "plan low": "invoke_agent low",
    }
    assert len({span.trace for span in spans}) == 1
    assert [wrong for span in spans for wrong in violations(span)] == []
    order = [span.name for span in spans]
    assert order.index("invoke_agent low") < order.index("execute_tool look"), (
        "the tool's span has its result"
    )
    (call,) = named(spans, "execute_tool look")
    assert call.attributes["toolgen.status"] == "ok"


async def test_a_child_run_of_a_direct_call_stands_under_its_span_too(receiver: Receiver) -> None:
    low = agent("x.low", ScriptedPlanner([FinalResult(result="dust")], ["no result", "still none"]))
    top = agent("x.top", ScriptedPlanner(), LOW)
    spans = ToolSpans(receiver.provider())
    async with running(low, top, spans=spans) as (runtime, _):
        good = await runtime.call("look", {}, CallMeta(session_id="s", tool_call_id="c1"))
        bad = await runtime.call("look", {}, CallMeta(session_id="s", tool_call_id="c2"))
    assert (good.status, bad.status) == ("ok", "error")
    calls = named(receiver.spans(), "execute_tool look")
    runs = named(receiver.spans(), "invoke_agent low")
    assert [run.parent for run in runs] == [call.id for call in calls]
    assert [(call.attributes["toolgen.status"], call.is_error) for call in calls] == [
        ("ok", False),
        ("error", True),
    ]


async def test_the_span_of_a_tool_ends_with_its_run_that_is_cancelled(receiver: Receiver) -> None:
    low = agent("x.low", ScriptedPlanner([calling("hang")]))
    top = agent("x.top", ScriptedPlanner([calling("look")]), LOW)
    async with running(low, top, spans=ToolSpans(receiver.provider())) as (runtime, _):
        handle = await agents_of(runtime).client("x.top").start("Go.", session_id="s")
        async for event in handle.events():
            if event.type == "agent_run_started":
                await handle.cancel()
    names = [span.name for span in receiver.spans()]
    assert names.count("execute_tool look") == names.count("invoke_agent top") == 1


async def test_a_conversation_that_is_handed_over_stays_in_its_trace(receiver: Receiver) -> None:
    low = agent("x.low", ScriptedPlanner(["Here."]))
    top = agent("x.top", ScriptedPlanner([HandOver(agent="x.low")]), transfers=("x.low",))
    async with running(low, top, spans=ToolSpans(receiver.provider())) as (runtime, _):
        await agents_of(runtime).client("x.top").run("Go.", session_id="s")
    assert tree(receiver.spans())["invoke_agent low"] == "invoke_agent top"


async def test_a_run_stands_under_what_started_it(receiver: Receiver) -> None:
    provider = receiver.provider()
    top = agent("x.top", ScriptedPlanner(["Hello."]))
    async with running(top, spans=ToolSpans(provider)) as (runtime, _):
        with trace.get_tracer("web", tracer_provider=provider).start_as_current_span("POST /chat"):
            await agents_of(runtime).client("x.top").run("Go.", session_id="s")
    assert tree(receiver.spans())["invoke_agent top"] == "POST /chat"


@pytest.mark.asyncio(loop_factories=["real"])
@pytest.mark.parametrize(("answer", "status"), [(YES, "ok"), (NO, "denied")])
async def test_a_call_that_waited_is_one_trace_with_a_link_over_processes(
    receiver: Receiver, tmp_path: Path, answer: Any, status: str
) -> None:
    async with process(tmp_path, ToolSpans(receiver.provider()), ScriptedPlanner([BURNING]), BURN) as runtime:
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        (asked,) = (await handle.settled()).awaiting
    (before,) = named(receiver.spans(), "execute_tool burn")
    planner = ScriptedPlanner([BURNING, first_answer])
    async with process(tmp_path, ToolSpans(receiver.provider()), planner, BURN) as runtime:
        await runtime.suspensions.answer(asked.token, answer)
        await agents_of(runtime).client("x.agent").handle(handle.run_id, session_id="s").result()
    spans = receiver.spans()
    _, after = named(spans, "execute_tool burn")
    assert (after.trace, after.parent, after.links) == (before.trace, before.id, ((before.trace, before.id),))
    assert before.links == ()
    assert (before.attributes["toolgen.status"], after.attributes["toolgen.status"]) == ("suspended", status)
    assert after.attributes["gen_ai.tool.call.id"] == before.attributes["gen_ai.tool.call.id"]
    assert {span.trace for span in spans} == {before.trace}, "so are the plannings after it"
    assert [wrong for span in spans for wrong in violations(span)] == []


@pytest.mark.asyncio(loop_factories=["real"])
async def test_a_run_that_another_process_executes_stands_under_the_request_for_it(
    receiver: Receiver, tmp_path: Path
) -> None:
    async with (
        process(tmp_path, ToolSpans(receiver.provider()), ScriptedPlanner(["Hello."])) as worker,
        process(tmp_path, ToolSpans(receiver.provider()), ScriptedPlanner(), worker=False) as client,
    ):
        handle = await agents_of(client).client("x.agent").start("Go.", session_id="s")
        await agents_of(worker).client("x.agent").handle(handle.run_id, session_id="s").result()
    spans = receiver.spans()
    (plan,) = named(spans, "plan agent")
    request, run = sorted(named(spans, "invoke_agent agent"), key=lambda span: span.kind)
    assert (request.kind, run.kind) == ("CLIENT", "INTERNAL")
    assert (plan.parent, run.parent, request.parent) == (run.id, request.id, "")
    assert [wrong for span in spans for wrong in violations(span)] == []


@pytest.mark.asyncio(loop_factories=["real"])
async def test_a_direct_call_that_waited_is_one_trace_with_a_link(receiver: Receiver, tmp_path: Path) -> None:
    async with process(tmp_path, ToolSpans(receiver.provider()), ScriptedPlanner(), BURN, JOBS) as runtime:
        asked = (await runtime.call("burn", {"id": "p1"})).suspension
        begun = (await runtime.call("update", {})).suspension
    async with process(tmp_path, ToolSpans(receiver.provider()), ScriptedPlanner(), BURN, JOBS) as runtime:
        assert asked is not None
        assert begun is not None
        assert (await runtime.suspensions.answer(asked.token, YES)).status == "ok"
        assert (await runtime.suspensions.answer(begun.token, "2.4.0")).status == "ok"
    for name in ("execute_tool burn", "execute_tool update"):
        before, after = named(receiver.spans(), name)
        assert (after.trace, after.links) == (before.trace, ((before.trace, before.id),))


@pytest.mark.asyncio(loop_factories=["real"])
async def test_a_call_of_a_process_without_spans_has_its_own_trace_afterwards(
    receiver: Receiver, tmp_path: Path
) -> None:
    async with process(tmp_path, None, ScriptedPlanner([BURNING]), BURN) as runtime:
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        (asked,) = (await handle.settled()).awaiting
        (wait,) = await engine_of(runtime).open_waits()
        assert "trace" not in str(wait.about), "as records of before have none"
    planner = ScriptedPlanner([BURNING, first_answer])
    async with process(tmp_path, ToolSpans(receiver.provider()), planner, BURN) as runtime:
        await runtime.suspensions.answer(asked.token, YES)
        output = await agents_of(runtime).client("x.agent").handle(handle.run_id, session_id="s").result()
    assert output.text == '"p1 is ash"'
    (call,) = named(receiver.spans(), "execute_tool burn")
    assert (call.parent, call.links, call.attributes["toolgen.status"]) == ("", (), "ok")


async def test_a_call_whose_agents_are_nested_too_deep_has_an_end(receiver: Receiver) -> None:
    turns: list[list[Any]] = [[calling("look"), everything] for _ in range(8)]
    again = ScriptedPlanner(*turns)
    both = agent("x.low", again, LOW)
    async with running(both, spans=ToolSpans(receiver.provider())) as (runtime, _):
        await agents_of(runtime).client("x.low").run("Go.", session_id="s")
    spans = receiver.spans()
    runs = named(spans, "invoke_agent low")
    calls = named(spans, "execute_tool look")
    assert len(calls) == len(runs), "one a run: that of the innermost is refused"
    assert any(call.is_error for call in calls)


@pytest.mark.parametrize("told", ["", "no trace", "00-0-0-01", f"00-{'0' * 32}-{'0' * 16}-01"])
def test_what_names_no_span_is_none(told: str) -> None:
    assert span_of(told) is None


def test_a_span_is_named_as_w3c_trace_context_has_it() -> None:
    told = f"00-{'a' * 32}-{'b' * 16}-01"
    assert trace_of(span_of(told)) == told


@pytest.mark.parametrize("tool", ["bank.accounts.pay", "bank.accounts.pay_approved", "x.checks.look"])
async def test_a_named_call_stands_under_what_made_it(receiver: Receiver, tool: str) -> None:
    provider = receiver.provider()
    low = agent("x.low", ScriptedPlanner([FinalResult(result="dust")]))
    async with running(low, spans=ToolSpans(provider)) as (runtime, _):
        runtime.tools.register(Bank().toolset())
        runtime.tools.register(LOW)
        arguments: Any = {} if tool == "x.checks.look" else {"amount": 5}
        meta = CallMeta(session_id="s", tool_call_id="c1")
        with trace.get_tracer("web", tracer_provider=provider).start_as_current_span("POST /pay"):
            result = await runtime.call_once(CallName(interface="web", call_id="c1"), tool, arguments, meta)
        if result.suspension is not None:
            await runtime.suspensions.answer(result.suspension.token, YES)
    spans = receiver.spans()
    assert len({span.trace for span in spans}) == 1
    first = next(span for span in spans if span.operation == "execute_tool" and not span.links)
    (made,) = named(spans, "POST /pay")
    assert first.parent == made.id
