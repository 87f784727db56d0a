"""What a tool says of itself stays as it was locked, or as it was first listed where the host wants that."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from mcp import types

from tests.adapters.mcp.client.conftest import hostile, served
from tests.selection import first
from toolgen.adapters.mcp import MCPToolset, lock_of
from toolgen.adapters.mcp.client.pins import Pins
from toolgen.contract.mcp_lock import contract_digest, listed_digest
from toolgen.runtime import RegistrationError, Runtime, ToolsetRegistration, ToolSpec
from toolgen.runtime.functions import json_schema_codec

CHANGED = "the MCP server 'hostile' has changed the tool 'fine' since it was listed"


async def test_a_pinned_tool_that_changed_is_left_out_and_named(caplog: pytest.LogCaptureFixture) -> None:
    async with served(hostile("rug", pin=True)) as (runtime, before):
        assert (await before.call("fine", {})).result == "fine"
        await before.call("pull", {})
        after = await runtime.tools.snapshot()
        assert [spec.name for spec in after.specs] == ["echo", "pull"]
        reason = "it is pinned, and its server changed it after the first listing"
        assert after.left_out == {"mcp.hostile.fine": reason}
        assert str((await before.call("fine", {})).error) == CHANGED
    assert f"the tool mcp.hostile.fine is not offered: {reason}" in caplog.text


async def test_a_change_may_cost_all_tools_of_the_server() -> None:
    toolset = hostile("rug", pin=True, on_change="refuse")
    async with served(toolset, on_error="drop") as (runtime, before):
        await before.call("pull", {})
        after = await runtime.tools.snapshot()
        assert after.specs == ()
        assert "the MCP server 'hostile' changed the pinned tool 'fine'" in after.failures["hostile"]


async def test_a_change_may_be_accepted(caplog: pytest.LogCaptureFixture) -> None:
    async with served(hostile("rug", pin=True, on_change="accept")) as (runtime, before):
        await before.call("pull", {})
        for _ in range(2):
            after = await runtime.tools.snapshot()
            assert after.left_out == {}
            assert "mallory" in {spec.name: spec.description for spec in after.specs}["fine"]
        assert (await before.call("fine", {})).result == "fine"
    assert caplog.text.count("changed the pinned tool 'fine'; the change is accepted") == 1


def test_an_accepted_change_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    pins = Pins("it", "accept")
    for description in ("Says it.", "Sings it.", "Sings it."):
        tool = types.Tool(name="say", description=description, input_schema={"type": "object"})
        assert pins.changed(tool) == ""
    assert caplog.text.count("changed the pinned tool 'say'; the change is accepted") == 1


async def test_without_a_pin_texts_may_change() -> None:
    async with served(hostile("rug")) as (runtime, before):
        await before.call("pull", {})
        assert (
            "mallory"
            in {spec.name: spec.description for spec in (await runtime.tools.snapshot()).specs}["fine"]
        )
        assert (await before.call("fine", {})).result == "fine"


def locked(server: MCPToolset) -> ToolsetRegistration:
    """Return the toolset of the lock of a server, as generated code has it."""
    specs = []
    for tool in lock_of("hostile", server._server).tools:
        facts: dict[str, Any] = {
            "tool": tool["name"],
            "digest": contract_digest(tool),
            "pin": listed_digest(tool),
            "structured": False,
        }
        codec: Any = json_schema_codec({"type": "object"}, "Payload")
        spec: ToolSpec[Any, Any] = ToolSpec(
            id=f"it.hostile.{tool['name']}",
            name=str(tool["name"]),
            description="Locked.",
            payload=codec,
            result=json_schema_codec({}, "Result"),
            meta={"mcp": facts},
        )
        specs.append(spec)
    return ToolsetRegistration(name="it.hostile", specs=specs, executor=server.executor)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("on_change", "said"), first([("drop", CHANGED), ("refuse", CHANGED), ("accept", None)], 2)
)
async def test_a_locked_tool_has_the_texts_of_its_lock(on_change: Any, said: str | None) -> None:
    server = hostile("rug", on_change=on_change)
    runtime = Runtime()
    runtime.tools.register(await asyncio.to_thread(locked, server))
    async with server, runtime:
        assert (await runtime.call("fine", {})).result == "fine"
        await runtime.call("pull", {})
        result = await runtime.call("fine", {})
        assert (result.error and str(result.error)) == said
        assert (await runtime.call("echo", {})).status == "ok"


def test_what_is_no_word_for_a_change_is_refused_at_once() -> None:
    with pytest.raises(RegistrationError, match="on_change is 'ignore'") as refused:
        hostile(on_change="ignore")
    assert refused.value.hint == "write one of drop, refuse, accept"
