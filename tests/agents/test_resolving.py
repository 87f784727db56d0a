"""`Runtime.runs.resolve`: what a person has found out stands in the conversation from then on."""

from __future__ import annotations

import pytest

from toolgen.agents import PlannedCall, ScriptedPlanner, ToolMessage, agents_of
from toolgen.agents.sessions.memory import MemorySessionStore
from toolgen.agents.transcripts import unknown_outcome_answer
from toolgen.engines import InProcessEngine, UnknownRunError
from toolgen.runtime import Runtime
from toolgen.waiting.once_call import Resolution, ResolveError

from .tools import TOOLS, agent, calling, running

WELL = Resolution(outcome="result", result="late")


async def test_it_takes_the_place_of_what_a_step_has() -> None:
    """A run that goes on after a call with an unknown outcome has it in a step."""
    sessions = MemorySessionStore()
    planner = ScriptedPlanner([calling("hang")], [lambda given: str(given.messages)])
    async with running(agent("x.agent", planner), sessions=sessions) as (runtime, _):
        client = agents_of(runtime).client("x.agent")
        handle = await client.start("Go.", session_id="s")
        async for event in handle.events():
            if event.type == "tool_start":
                break
        await handle.cancel()
        (message,) = [m for m in await sessions.run_messages(handle.run_id) if m.type == "assistant"]
        (call,) = message.calls
        await sessions.write(handle.run_id, 3, [ToolMessage(answers=(unknown_outcome_answer(call),))])
        result = await runtime.runs.resolve(handle.run_id, call.id, WELL, by="jo")
        assert (result.status, result.json) == ("ok", b'"late"')
        last = (await sessions.run_messages(handle.run_id))[-1]
        assert isinstance(last, ToolMessage)
        assert [(one.text, one.resolved_by) for one in last.answers] == [('"late"', "jo")]
        with pytest.raises(ResolveError, match="is known: ok, says jo"):
            await runtime.runs.resolve(handle.run_id, call.id, WELL, by="mira")
        with pytest.raises(ResolveError, match="by= is empty"):
            await runtime.runs.resolve(handle.run_id, call.id, WELL, by="")


async def test_only_agents_have_conversations() -> None:
    async with Runtime(engine=InProcessEngine()) as runtime:
        runtime.tools.register(TOOLS)
        with pytest.raises(ResolveError, match="has no agents"):
            await runtime.runs.resolve("run", "call", WELL, by="jo")
    async with running(agent("x.agent", ScriptedPlanner(["Hello."]))) as (runtime, _):
        with pytest.raises(UnknownRunError):
            await runtime.runs.resolve("run", "call", WELL, by="jo")
        output = await agents_of(runtime).client("x.agent").one_shot("Go.")
        with pytest.raises(ResolveError, match="has no call 'call' whose outcome is unknown"):
            await runtime.runs.resolve(output.run_id, "call", WELL, by="jo")


def test_what_is_unknown() -> None:
    lost = unknown_outcome_answer(PlannedCall(name="work", id="c-1"))
    assert lost.status == "unknown"
    assert '"unknown"' in lost.text
