"""A call that waits in a run here and is approved in another process: it runs there, and the run goes on."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from toolgen.agents import (
    AgentRegistration,
    AgentSpec,
    CallTools,
    PlanInput,
    PlannedCall,
    ScriptedPlanner,
    ToolMessage,
    agents_of,
)
from toolgen.runtime import BoundTool, Runtime, StaticToolset, with_confirmation
from toolgen.runtime.toolsets.functions import function_toolset
from toolgen.runtime.waiting.sqlite import SqliteSuspensionStore

SPEC = AgentSpec(id="x.agent", description="Calls.")


def says(given: PlanInput) -> str:
    (answers,) = [message for message in given.messages if isinstance(message, ToolMessage)]
    return answers.answers[0].text


def runtime_of(path: Path, name: str, ran: list[str]) -> Runtime:
    """Return a runtime over a shared file of suspensions, as each process has one."""

    async def wipe() -> str:
        """Wipe."""
        ran.append(name)
        return f"wiped by {name}"

    toolset = function_toolset("x.tools", [wipe])
    runtime = Runtime(suspensions=SqliteSuspensionStore(path))
    asked = with_confirmation(toolset, hint="Wipe?")
    planner = ScriptedPlanner([CallTools(calls=(PlannedCall.of("wipe"),)), says])
    agents_of(runtime).register(AgentRegistration(spec=SPEC, planner=planner, dynamic=(asked,), format=1))
    tools: tuple[BoundTool, ...] = toolset.bound
    runtime.register(StaticToolset(name="x.tools", bound=tools))
    return runtime


@pytest.mark.parametrize(
    ("answer", "text", "who"),
    [
        ({"approved": True}, '"wiped by there"', ["there"]),
        ({"approved": False, "message": "No."}, '{"error":"No.","code":"denied"}', []),
    ],
)
async def test_an_answer_elsewhere_lets_the_run_go_on(
    tmp_path: Path,
    answer: dict[str, bool | str],
    text: str,
    who: list[str],
) -> None:
    ran: list[str] = []
    async with (
        runtime_of(tmp_path / "s.db", "here", ran) as here,
        runtime_of(tmp_path / "s.db", "there", ran) as there,
    ):
        handle = await agents_of(here).client(SPEC.id).start("Wipe it.", session_id="s")
        (awaiting,) = (await handle.settled()).awaiting
        await there.deliver(awaiting.token, dict(answer))
        output = await asyncio.wait_for(handle.result(), 5)
        events = await agents_of(here).events(handle.run_id)
    assert (output.status, output.text, ran) == ("completed", text, who)
    ends = [event for event in events if event.type == "tool_end" and event.status != "suspended"]
    assert len(ends) == 1
