"""An MCP server as the toolset of an agent: its calls, an outcome that is unknown, a server that is gone."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest

from tests.adapters.mcp.client.conftest import bare
from tests.agents.tools import everything, ran
from tests.peers import PEERS
from tests.selection import first
from toolgen.adapters.mcp import MCPToolset, StdioServer
from toolgen.agents import CallTools, PlanInput, PlannedCall, RunPolicy, ScriptedPlanner
from toolgen.runtime import CallMeta
from toolgen.runtime.views import prefixed


def calling(name: str, arguments: str = "{}") -> CallTools:
    return CallTools(calls=(PlannedCall(name=name, arguments=arguments),))


async def test_an_agent_calls_the_tools_and_learns_what_is_unknown(log: Path) -> None:
    planner = ScriptedPlanner(
        [calling("srv_echo", '{"n": "one"}'), calling("srv_echo", '{"n": 1}'), calling("srv_die"), everything]
    )
    found = await ran(planner, dynamic=(prefixed(bare("good", log), "srv_"),))
    assert [event.status for event in found.of("tool_end")] == ["error", "ok", "unknown"]
    assert json.loads(found.output.text)["unknown"].endswith("die may have run")


async def test_an_agent_goes_on_without_a_server_that_does_not_start() -> None:
    def told(given: PlanInput) -> str:
        return given.instructions

    found = await ran(ScriptedPlanner([told]), dynamic=(bare("dies", on_error="drop"),))
    assert found.output.text == "The tools of bare are not available now."
    (dropped,) = found.of("toolset_dropped")
    assert (dropped.toolset, dropped.reason) == ("bare", "it cannot list its tools (MCPServerError)")


@pytest.mark.parametrize("is_sent", first([True, False]))
async def test_the_time_of_a_run_ends_in_a_call(log: Path, is_sent: bool) -> None:
    """One that was sent is unknown; one whose connection was not open yet was not run."""
    is_away = False

    async def credentials(meta: CallMeta) -> dict[str, str]:
        nonlocal is_away
        if is_away:
            is_away = False
            await asyncio.Event().wait()
        return {}

    def calls(given: PlanInput) -> CallTools:
        nonlocal is_away
        is_away = not is_sent
        return calling("srv_hang")

    command = (str(PEERS / "bare.py"), "good", str(log))
    server = MCPToolset("bare", StdioServer(sys.executable, command, env=credentials))
    planner = ScriptedPlanner([calls, everything])
    found = await ran(planner, RunPolicy(time_budget=3.0), dynamic=(prefixed(server, "srv_"),))
    assert [event.status for event in found.of("tool_end")] == ["unknown" if is_sent else "error"]
    assert ("srv_hang was not run" in found.output.text) == (not is_sent)
