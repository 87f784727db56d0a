"""A server fails alone: its names, its changes and what it cannot do cost no tool of anybody else."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from tests.adapters.mcp.client.conftest import bare, served
from tests.agents.tools import everything, ran
from tests.selection import first
from toolgen.adapters.mcp import MCPToolset, StdioServer
from toolgen.agents import CallTools, PlannedCall, ScriptedPlanner
from toolgen.calls.toolsets.dynamic import ListedTools
from toolgen.runtime import (
    Continue,
    Hook,
    ReadonlyContext,
    RegistrationError,
    Runtime,
    StaticToolset,
    Verdict,
)
from toolgen.runtime.functions import function_toolset
from toolgen.runtime.views import allow_tools, filter_toolset, prefixed


async def transfer() -> str:
    """Transfer."""
    return "honest"


def bank(name: str = "bank.money") -> StaticToolset:
    return function_toolset(name, [transfer])


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("prefix", "name"), first([(None, "bare_echo"), ("srv_", "srv_echo"), ("", "echo")], 2)
)
async def test_the_tools_of_a_server_have_the_prefix_of_their_toolset(prefix: str | None, name: str) -> None:
    async with served(bare("good", prefix=prefix)) as (_, snapshot):
        (spec,) = [spec for spec in snapshot.specs if spec.id == "mcp.bare.echo"]
        assert spec.name == name
        assert (await snapshot.call(name, {"n": 1})).result == {"n": 1}
    async with served(bare("good", prefix="")) as (_, plain):
        digests = {spec.id: spec.approval_digest for spec in plain.specs}
        assert digests[spec.id] == spec.approval_digest


async def test_a_prefix_of_the_host_stands_in_the_place_of_that_of_the_toolset() -> None:
    toolset = prefixed(filter_toolset(bare("shadow", prefix=None), lambda spec, _: True), "srv_")
    async with served(toolset) as (_, snapshot):
        assert [spec.name for spec in snapshot.specs] == ["srv_echo", "srv_transfer"]
    async with served(prefixed(toolset, "x_")) as (_, snapshot):
        assert [spec.name for spec in snapshot.specs] == ["x_srv_echo", "x_srv_transfer"]


@pytest.mark.parametrize("prefix", ["a b", "1", "é", "x" * 40, 3])
def test_what_is_no_prefix_is_refused_at_once(prefix: Any) -> None:
    with pytest.raises(RegistrationError, match="is not a prefix for the tools of the MCP toolset 'bare'"):
        MCPToolset("bare", StdioServer("x"), prefix=prefix)


async def test_long_names_stay_portable_and_their_own() -> None:
    name = "n" * 60
    async with served(MCPToolset(name, bare("names")._server)) as (_, snapshot):
        names = [spec.name for spec in snapshot.specs]
    assert len(set(names)) == len(names) == 3
    assert max(map(len, names)) <= 64


@pytest.mark.parametrize("is_first", first([True, False]))
async def test_a_server_takes_no_name_of_a_tool_of_the_host(
    is_first: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever was added first, and whether the tool of the host is registered or dynamic."""
    toolsets: list[Any] = [bare("shadow"), bank("other.money")]
    for toolset in (toolsets if is_first else toolsets[:1], toolsets[::-1]):
        runtime = Runtime()
        for each in toolset:
            runtime.tools.add_toolset(each)
        if len(toolset) == 1:
            runtime.tools.register(bank())
        async with runtime:
            for _ in range(2):
                snapshot = await runtime.tools.snapshot()
                assert (await snapshot.call("transfer", {})).result == "honest"
                assert (await snapshot.call("echo", {"n": 1})).result == {"n": 1}
                (reason,) = snapshot.left_out.values()
                assert list(snapshot.left_out) == ["mcp.bare.transfer"]
                assert "already has a tool 'transfer'" in reason
    told = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert len(told) == 2  # once for each runtime
    assert told[0].startswith("toolset bare: the tool mcp.bare.transfer is not offered: toolset '")


async def test_of_two_servers_the_first_has_the_name() -> None:
    runtime = Runtime()
    runtime.tools.add_toolset(bare("shadow"))
    runtime.tools.add_toolset(MCPToolset("other", bare("shadow")._server, prefix=""))
    async with runtime:
        snapshot = await runtime.tools.snapshot()
    assert [spec.id for spec in snapshot.specs] == ["mcp.bare.echo", "mcp.bare.transfer"]
    assert list(snapshot.left_out) == ["mcp.other.echo", "mcp.other.transfer"]


@pytest.mark.exhaustive
@pytest.mark.parametrize("prefix", [None, ""])
async def test_a_run_outlives_a_server_that_lists_the_name_of_its_tool(prefix: str | None) -> None:
    calls = CallTools(calls=(PlannedCall(name="transfer", arguments="{}"),))
    shadow = bare("shadow", prefix=prefix)
    found = await ran(ScriptedPlanner([calls, everything]), toolsets=(bank(),), dynamic=(shadow,))
    assert found.output.status == "completed"
    assert json.loads(found.output.text) == "honest"


async def test_a_name_that_a_prefix_makes_too_long_costs_its_own_tool_alone() -> None:
    async with served(prefixed(bare("names"), "p" * 20)) as (_, snapshot):
        assert [spec.name for spec in snapshot.specs] == ["p" * 20 + "echo"]
        assert len(snapshot.left_out) == 2
        assert all("a wire name must have 1 to 64 letters" in reason for reason in snapshot.left_out.values())


async def test_a_tool_that_can_be_called_as_a_task_alone_is_left_out_with_the_reason() -> None:
    async with served(allow_tools(bare("tasks"), "echo")) as (_, snapshot):
        assert [spec.name for spec in snapshot.specs] == ["echo"]
        reason = "it can only be called as a task, which toolgen does not support (execution.taskSupport)"
        assert snapshot.left_out == {"mcp.bare.task": reason}


class Guard(Hook):
    """Names a tool that the server may list no longer."""

    tools = frozenset({"home.bare.gone"})

    async def before_tool(self, call: Any, payload: Any, ctx: Any) -> Verdict:
        return Continue()


async def test_a_tool_that_a_hook_names_and_a_server_lists_no_longer_costs_its_toolset_alone() -> None:
    runtime = Runtime(hooks=[Guard()])
    runtime.tools.register(bank())
    server = MCPToolset("home.bare", bare("good")._server)
    runtime.tools.add_toolset(server, on_error="drop")
    async with runtime:
        snapshot = await runtime.tools.snapshot()
    assert [spec.id for spec in snapshot.specs] == ["bank.money.transfer"]
    reason = "hook Guard names the tool 'home.bare.gone', which toolset 'home.bare' does not list"
    assert snapshot.failures == {"home.bare": reason}


async def test_the_log_names_a_hundred_tools_that_a_list_leaves_out(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Broken:
        name = "broken"
        is_foreign = True

        async def tools(self, context: ReadonlyContext) -> ListedTools:
            return ListedTools([], {f"broken.t{number}": "it is broken" for number in range(1_000)})

    runtime = Runtime()
    runtime.tools.add_toolset(Broken())
    async with runtime:
        for _ in range(2):
            assert len((await runtime.tools.snapshot()).left_out) == 1_000
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == 101
    assert told[-1] == "toolset broken: 900 other tools are not offered"
