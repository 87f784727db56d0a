"""Whole runs: the loop, its tools, and a model behind both providers' wires."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from pydantic_ai.models import Model

from tests.conformance.adapters.provider import Provider, Refused
from tests.conformance.adapters.wire import Called, Said
from tests.engines.clock import ManualClock
from tests.runtime.tools import Listing, spec
from toolgen.agents import (
    AgentRegistration,
    Agents,
    AgentSpec,
    AgentTool,
    History,
    LLMPlanner,
    PlannerRetry,
    RunPolicy,
    agents_of,
)
from toolgen.engines import InProcessEngine
from toolgen.runtime import Runtime, ToolsetRegistration

AGENT = "assistant.home"
LIST = "assistant.devices.list_devices"
SOON = PlannerRetry(initial_s=0.001)


def runtime(
    model: Model,
    executor: Listing,
    history: History | None = None,
    planner_retry: PlannerRetry = SOON,
    **options: Any,
) -> Runtime:
    """Return a runtime with one agent that has one tool."""
    made = Runtime(**options)
    tools = ToolsetRegistration(name="assistant.devices", specs=(spec(),), executor=executor)
    agent = AgentSpec(
        id=AGENT,
        description="Looks after homes.",
        tools=(AgentTool(id=LIST, name="list_devices"),),
        policy=RunPolicy(history=history),
    )
    registration = AgentRegistration(spec=agent, planner=LLMPlanner(model), toolsets=(tools,))
    Agents(made, planner_retry=planner_retry).register(registration)
    return made


async def test_a_model_repairs_a_call_and_answers(model: Model, provider: Provider) -> None:
    provider.answers(
        Said(calls=(Called("list_devices", '{"site_id": ', "call_1"), Called("list_device", "{}", "call_2"))),
        Refused(status=503),
        Said(text="Again.", calls=(Called("list_devices", '{"site_id": "s1"}', "call_1"),)),
        Said(text="There are none."),
    )
    executor = Listing()
    async with runtime(model, executor) as host:
        output = await agents_of(host).client(AGENT).run("Which devices are at s1?", session_id="s")
    assert (output.status, output.text, output.error) == ("completed", "There are none.", "")
    assert len(executor.calls) == 1
    assert provider.is_done
    assert output.telemetry.input_tokens == 33
    told = json.dumps(provider.sent[2]["messages"])
    assert "invalid_json" in told
    assert "list_devices" in told, "the unknown tool's close name"
    last = json.dumps(provider.sent[3]["messages"])
    assert provider.sent[1] == provider.sent[2], "another attempt asks the same"
    assert '\\"returned\\":0' in json.dumps(json.loads(last))
    assert last.count('"call_1"') == 2, "an id that the model gave twice stands once"


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (401, "the provider refused the credentials (HTTP 401); set a valid key in "),
        (404, "the provider has no such model (HTTP 404); correct its name"),
    ],
)
async def test_a_refusal_fails_the_run_at_once_and_is_one_line_of_the_log(
    any_model: Model, provider: Provider, caplog: pytest.LogCaptureFixture, status: int, why: str
) -> None:
    provider.answers(Refused(status=status))
    caplog.set_level(logging.INFO, logger="toolgen")
    async with runtime(any_model, Listing()) as host:
        output = await agents_of(host).client(AGENT).run("Hello", session_id="s")
    assert output.error.startswith(f"the planner failed: {any_model.model_name}: {why}")
    assert "\n" not in output.error
    assert len(provider.sent) == 1
    (line,) = [record for record in caplog.records if record.name.startswith("toolgen")]
    assert line.exc_info is None
    assert f"plan:0 failed: PlannerError: {any_model.model_name}: {why}" in line.getMessage()


@pytest.mark.parametrize("status", [429, 500, 503, 529])
async def test_a_provider_that_is_busy_is_asked_for_minutes(
    any_model: Model, provider: Provider, status: int
) -> None:
    clock = ManualClock()
    engine = InProcessEngine(clock=clock.time, call_later=clock.call_later)
    provider.answers(*[Refused(status=status)] * 6, Said(text="Here I am."))
    patient = PlannerRetry(random=lambda: 1.0)
    async with runtime(any_model, Listing(), engine=engine, planner_retry=patient) as host:
        handle = await agents_of(host).client(AGENT).start("Hello", session_id="s")
        assert [await clock.advance() for _ in range(6)] == pytest.approx([1, 2, 4, 8, 16, 32])
        output = await handle.result()
    assert (output.status, output.text) == ("completed", "Here I am.")
    assert provider.is_done


async def test_what_the_provider_asks_for_is_kept(any_model: Model, provider: Provider) -> None:
    clock = ManualClock()
    engine = InProcessEngine(clock=clock.time, call_later=clock.call_later)
    provider.answers(Refused(status=429, headers={"retry-after": "40"}), Said(text="Here I am."))
    patient = PlannerRetry(random=lambda: 0.5)
    async with runtime(any_model, Listing(), engine=engine, planner_retry=patient) as host:
        handle = await agents_of(host).client(AGENT).start("Hello", session_id="s")
        assert await clock.advance() == pytest.approx(40.5)
        assert (await handle.result()).text == "Here I am."


async def test_a_long_conversation_is_summarized_by_the_model(model: Model, provider: Provider) -> None:
    provider.answers(
        Said(text="One."),
        Said(text="Two."),
        Said(text="Three."),
        Said(text="They counted."),
        Said(text="Four."),
    )
    async with runtime(model, Listing(), History(keep_turns=1, summarize_after=2)) as host:
        for word in ("one", "two", "three", "four"):
            output = await agents_of(host).client(AGENT).run(f"Say {word}", session_id="s")
    assert output.text == "Four."
    condensed = json.dumps(provider.sent[3]["messages"])
    assert "person: Say two" in condensed
    assert "Say three" not in condensed
    seen = json.dumps(provider.sent[4]["messages"])
    assert "Summary of the conversation so far: They counted." in seen
    assert "Say two" not in seen
    assert "Say three" in seen
