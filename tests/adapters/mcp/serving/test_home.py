"""The example's runtime by MCP: generated tools, an agent's tools, and an agent behind a tool."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest
from mcp import Client, types
from mcp.client._memory import InMemoryTransport

from examples.home.app import runtime_for_tests
from tests.selection import first
from toolgen.adapters.mcp import server
from toolgen.runtime import Runtime

from .desk import ERAS, MIRA
from .people import Person, accept

pytestmark = pytest.mark.parametrize("era", first(ERAS))


@pytest.fixture
async def home() -> AsyncIterator[Runtime]:
    async with runtime_for_tests() as runtime, runtime:
        yield runtime


async def test_generated_tools_are_listed_without_their_injected_fields(era: str, home: Runtime) -> None:
    async with Client(InMemoryTransport(server(home, session_id=MIRA).sdk), mode=era) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        for spec in home.tools.list():
            assert not set(spec.injected) & set(tools[spec.name].input_schema["properties"])
        found = await client.call_tool("list_devices", {"site_id": "harbour", "limit": 1})
        forged = await client.call_tool("list_devices", {"site_id": "harbour", "session_id": "s-jonas"})
    assert tools["list_devices"].input_schema["required"] == ["site_id"]
    assert found.structured_content["devices"][0]["id"]
    assert found.meta is not None
    assert found.meta["dev.toolgen/bounds"]["returned"] == 1
    assert forged.is_error


async def test_the_tools_of_an_agent_alone_are_served(era: str, home: Runtime) -> None:
    made = server(home, session_id=MIRA, agent="assistant.diagnostics")
    async with Client(InMemoryTransport(made.sdk), mode=era) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        found = await client.call_tool("search", {"query": "battery", "limit": 1})
    assert names == ["list_devices", "get_time_series", "search"]
    assert not found.is_error


async def test_an_agent_answers_a_call(era: str, home: Runtime) -> None:
    async with Client(InMemoryTransport(server(home, session_id=MIRA).sdk), mode=era) as client:
        (tool,) = [tool for tool in (await client.list_tools()).tools if tool.name == "diagnose"]
        arguments = home.tools.spec("diagnose").example or json.dumps({"device_id": "h09"})
        result = await client.call_tool(tool.name, json.loads(arguments))
    assert isinstance(result.content[0], types.TextContent)
    assert not result.is_error, result.content[0].text
    assert result.structured_content


async def test_what_an_approval_may_add_is_in_the_form(era: str, home: Runtime) -> None:
    mira = Person(accept(approved=True, keep_on=True))
    made = server(home, session_id=MIRA, approvals="elicitation")
    async with Client(InMemoryTransport(made.sdk), mode=era, elicitation_callback=mira) as client:
        result = await client.call_tool("factory_reset", {"device_id": "h09"})
    (asked,) = mira.asked
    assert asked.requested_schema["properties"]["keep_on"]["type"] == "boolean"
    assert result.structured_content == {"name": "Reading lamp", "lost": {"level": 80}}
