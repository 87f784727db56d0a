"""Servers that others wrote, locked, designed, generated, and called through the generated package."""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from types import ModuleType

import pytest

from tests.conformance.mcp.servers import of_npm, of_python
from tests.golden import write
from toolgen import dsl
from toolgen.adapters.mcp import MCPToolset, StdioServer
from toolgen.adapters.mcp.client.locking import ask_lock
from toolgen.codegen import generate
from toolgen.contract.mcp_lock import lock_text
from toolgen.runtime import Runtime

PACKAGE = "locked_gen"


@pytest.fixture
def servers(tmp_path: Path) -> dict[str, StdioServer]:
    return {
        "everything": of_npm("server-everything"),
        "files": of_npm("server-filesystem", str(tmp_path)),
        "git": of_python("mcp_server_git"),
        "memory": of_npm("server-memory", env={"MEMORY_FILE_PATH": str(tmp_path / "memory.json")}),
        "time": of_python("mcp_server_time"),
    }


@pytest.fixture
async def toolsets(servers: dict[str, StdioServer], tmp_path: Path) -> AsyncIterator[dict[str, ModuleType]]:
    """The generated package of each server's toolset."""
    locks = await asyncio.gather(*(ask_lock(name, server) for name, server in servers.items()))
    for name, lock in zip(servers, locks, strict=True):
        (tmp_path / f"{name}.mcp.json").write_text(lock_text(lock))
    words = [dsl.MCPToolset(name, lock=str(tmp_path / f"{name}.mcp.json")) for name in servers]
    evaluation = dsl.build(dsl.Design("locked", "Locked.", dsl.Service("it", "It.", *words)))
    assert evaluation.design is not None, evaluation.diagnostics
    texts = generate(evaluation.design, module="locked")
    write(tmp_path, {f"{PACKAGE}/{path}": text for path, text in texts.items()})
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(tmp_path)
        patch.setattr(sys, "dont_write_bytecode", True)
        yield {name: importlib.import_module(f"{PACKAGE}.it.toolsets.{name}") for name in servers}
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


async def test_a_generated_package_is_served_by_the_live_server(
    toolsets: dict[str, ModuleType], servers: dict[str, StdioServer]
) -> None:
    runtime = Runtime()
    made = {name: MCPToolset(name, server) for name, server in servers.items()}
    for name, package in toolsets.items():
        runtime.tools.register(package.registration(made[name].executor))
    entity = {"name": "Jo", "entityType": "person", "observations": ["travels"]}
    async with made["everything"], made["memory"], made["time"]:
        created = await runtime.call("create_entities", {"entities": [entity]})
        assert type(created.result).__name__ == "CreateEntitiesResult"
        assert created.result.entities[0].name == "Jo"
        total = await runtime.call("get_sum", {"a": 1, "b": 2})
        assert "3" in total.result
        refused = await runtime.call("get_sum", {"a": "one", "b": 2})
        assert refused.retry_hint is not None
        assert refused.retry_hint.reason == "invalid_arguments"
        now = await runtime.call("get_current_time", {"timezone": "Asia/Tokyo"})
        assert now.result.timezone == "Asia/Tokyo"
    other = MCPToolset("time", servers["memory"])
    runtime = Runtime()
    runtime.tools.register(toolsets["time"].registration(other.executor))
    async with other:
        result = await runtime.call("get_current_time", {"timezone": "Asia/Tokyo"})
    assert str(result.error) == "the MCP server 'time' no longer has the tool 'get_current_time'"
