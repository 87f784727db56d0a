"""The client that the official conformance suite of MCP starts: a runtime with the server as its toolset.

`python suite_client.py URL`; the suite names the scenario, and may say which calls it wants to see.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from typing import Any

from toolgen.adapters.mcp import Elicitation, HttpServer, MCPToolset
from toolgen.engines import InProcessEngine
from toolgen.runtime import Runtime, ToolSpec

VALUES: dict[str, Any] = {"string": "a", "number": 5, "integer": 5, "boolean": True, "object": {}}


async def accepted(asked: Elicitation) -> Mapping[str, Any]:
    """Accept with the defaults of the server."""
    return {}


def arguments_of(spec: ToolSpec[Any, Any], specs: Mapping[str, ToolSpec[Any, Any]]) -> dict[str, Any]:
    """Return arguments by the types that the schema has; one tool wants the schema of another."""
    if spec.name == "json_schema_echo":
        return {"schema": specs["json_schema_2020_12_tool"].payload.schema}
    schema = spec.payload.schema
    properties = schema.get("properties", {})
    return {name: VALUES[properties[name]["type"]] for name in schema.get("required", ())}


async def main(url: str) -> None:
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    runtime = Runtime(engine=InProcessEngine())
    runtime.tools.add_toolset(MCPToolset("suite", HttpServer(url), prefix="", on_elicitation=accepted))
    async with runtime:
        snapshot = await runtime.tools.snapshot()
        wanted = [(call["name"], call["arguments"]) for call in context.get("toolCalls", ())]
        specs = {spec.name: spec for spec in snapshot.specs}
        calls = wanted or [(name, arguments_of(spec, specs)) for name, spec in specs.items()]
        results = [await snapshot.call(name, arguments) for name, arguments in calls]
        for result in results:
            print(result.status, result.json.decode())
            if result.suspension is not None:
                answered = await runtime.suspensions.answer(result.suspension.token, {"confirmed": True})
                print(answered.status, answered.json.decode())


asyncio.run(main(sys.argv[1]))
