"""An MCP server as the toolset of an agent: its calls, an outcome that is unknown, a server that is gone."""

from __future__ import annotations

import json
from pathlib import Path

from tests.adapters.mcp.client.conftest import bare
from tests.agents.tools import everything, ran
from toolgen.agents import CallTools, PlanInput, PlannedCall, ScriptedPlanner
from toolgen.runtime import prefixed


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
