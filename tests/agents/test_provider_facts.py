"""What a provider says of an answer, from the planner to the run, its events and the conversation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.virtual_time import now
from toolgen.agents import (
    AssistantMessage,
    CallTools,
    Citation,
    FinalResponse,
    FinalResult,
    PlannedCall,
    ProviderFacts,
    ScriptedPlanner,
    agents_of,
)
from toolgen.engines import InProcessEngine

from .tools import agent, calling, ran, running

TEXT = "⛵ It sails."
CITED = Citation(url="https://sea.org", title="Boats", start=0, end=len(TEXT))
FACTS = ProviderFacts(finish_reason="stop", provider_finish_reason="end_turn", citations=(CITED,))
CALLED = ProviderFacts(finish_reason="tool_call", provider_finish_reason="tool_use")
DOCUMENT = {
    "finish_reason": "stop",
    "provider_finish_reason": "end_turn",
    "citations": [{"url": "https://sea.org", "title": "Boats", "start": 0, "end": len(TEXT)}],
}


async def test_each_reply_has_what_its_provider_said() -> None:
    add = PlannedCall.of("add", {"a": 1, "b": 2})
    call = CallTools(calls=(add,), text="One moment.", provider=CALLED)
    run = await ran(ScriptedPlanner([call, FinalResponse(text=TEXT, provider=FACTS)]))
    assert run.output.provider == FACTS
    said = [(event.text, event.provider) for event in run.of("assistant_reply")]
    called = {"finish_reason": "tool_call", "provider_finish_reason": "tool_use"}
    assert said == [("One moment.", called), (TEXT, DOCUMENT)]
    silent = await ran(ScriptedPlanner(["Fine."]))
    assert silent.output.provider is None
    assert [event.provider for event in silent.of("assistant_reply")] == [None]


async def test_another_process_and_the_conversation_have_it_too(tmp_path: Path) -> None:
    raw = ProviderFacts(citations=(CITED,), grounding=[{"uri": "https://sea.org", "score": float("nan")}])
    planner = ScriptedPlanner([FinalResponse(text=TEXT, provider=raw)])
    file = tmp_path / "runs.db"
    async with running(agent("x.agent", planner), engine=InProcessEngine(file, clock=now)) as (runtime, _):
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        await handle.result()
    later = agent("x.agent", ScriptedPlanner([]))
    async with running(later, engine=InProcessEngine(file, clock=now)) as (runtime, _):
        output = await agents_of(runtime).snapshot(handle.run_id)
        assert output.provider == ProviderFacts(citations=(CITED,))
        (turn,) = await agents_of(runtime).sessions.transcript("s")
    message = turn.messages[-1]
    assert isinstance(message, AssistantMessage)
    assert message.provider == ProviderFacts(
        citations=(CITED,), grounding=[{"uri": "https://sea.org", "score": None}]
    )


async def test_the_agent_that_took_the_conversation_over_says_it() -> None:
    host = agent("x.host", ScriptedPlanner([calling(("go", {"agent": "x.boat"}))]), transfers=("x.boat",))
    boat = agent("x.boat", ScriptedPlanner([FinalResponse(text=TEXT, provider=FACTS)]))
    async with running(host, boat) as (runtime, _):
        output = await agents_of(runtime).client("x.host").run("Go.", session_id="s")
    assert (output.text, output.provider) == (TEXT, FACTS)


@pytest.mark.parametrize(
    "plan",
    [
        FinalResult(result={"it": "sails"}, provider=FACTS),
        FinalResponse(text=TEXT[:-1], provider=FACTS),
    ],
)
async def test_a_range_of_another_text_is_left_out(plan: Any) -> None:
    run = await ran(ScriptedPlanner([plan]))
    assert run.output.provider is not None
    assert run.output.provider.citations == (Citation(url="https://sea.org", title="Boats"),)


async def test_a_planner_that_says_something_else_is_told() -> None:
    run = await ran(ScriptedPlanner([FinalResponse(text=TEXT, provider=DOCUMENT)]))  # type: ignore[arg-type]
    assert run.output.status == "failed"
    assert "its provider has the type dict; it must be a ProviderFacts" in run.output.error
