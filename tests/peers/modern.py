"""An MCP server of 2026-07-28 by the official SDK: questions, states, changes of its list.

`python modern.py stdio`, or `python modern.py http [PORT]`, which writes its port.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from typing import Any

import mcp_types as types
import uvicorn
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.subscriptions import ToolsListChanged

BUS = InMemorySubscriptionBus()
ANY: dict[str, Any] = {"type": "object"}
TOOLS = [
    "book",
    "choose",
    "sign_in",
    "sample",
    "sign_in_by_script",
    "flood",
    "patience",
    "grow",
    "whoami",
    "leave",
]
READS = types.ToolAnnotations(read_only_hint=True)
NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
WAYS = [{"const": "a", "title": "Air"}, {"const": "s", "title": "Sea"}]
CHOICES = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "one": {"type": "string", "oneOf": WAYS},
        "several": {"type": "array", "items": {"anyOf": WAYS}},
    },
    "required": ["several"],
}
SEATS = {"type": "object", "properties": {"seats": {"type": "integer"}}, "required": ["seats"]}


def text(words: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=words)])


def form(message: str, schema: dict[str, Any]) -> types.ElicitRequest:
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def asking(state: str | None, **requests: Any) -> types.InputRequiredResult:
    return types.InputRequiredResult(input_requests=requests or None, request_state=state)


async def list_tools(ctx: ServerRequestContext[Any], params: Any) -> types.ListToolsResult:
    tools = [types.Tool(name=name, input_schema=ANY, annotations=READS) for name in TOOLS]
    return types.ListToolsResult(tools=tools, ttl_ms=60_000)


async def call_tool(ctx: ServerRequestContext[Any], params: types.CallToolRequestParams) -> Any:
    answers: Any = params.input_responses or {}
    match params.name, params.request_state:
        case "book", None:
            return asking("1", who=form("Who travels?", NAME), seats=form("How many seats?", SEATS))
        case "book", state:
            told = {key: one.content for key, one in answers.items()}
            return text(json.dumps([state, told], sort_keys=True))
        case "choose", None:
            return asking("5", way=form("Which way?", CHOICES))
        case "choose", _:
            return text(json.dumps(answers["way"].content))
        case "sign_in", None:
            page = types.ElicitRequestURLParams(message="Sign in.", url="https://example.com/sign-in")
            return asking("2", page=types.ElicitRequest(params=page))
        case "sign_in", state:
            return text(f"{state} {answers['page'].action}")
        case "sign_in_by_script", _:
            page = types.ElicitRequestURLParams(
                message="Sign in.", url="JavaScript:alert(1)//https://a.example"
            )
            return asking("2", page=types.ElicitRequest(params=page))
        case "flood", _:
            return asking("4", **{f"q{number}": form("Who?", NAME) for number in range(11)})
        case "sample", _:
            given = types.CreateMessageRequestParams(messages=[], max_tokens=1)
            return asking("3", sample=types.CreateMessageRequest(params=given))
        case "patience", None:
            return asking("once")
        case "patience", state:
            return text(f"{state} more")
        case "grow", _:
            TOOLS.append(f"tool{len(TOOLS)}")
            await BUS.publish(ToolsListChanged())
            return text("grown")
        case "leave", _:
            os._exit(3)
        case "whoami", _:
            headers = getattr(ctx.request, "headers", {})
            return text(headers.get("authorization", "nobody"))
        case name, _:
            return text(name)


SERVER: Server[Any] = Server(
    "modern",
    version="1",
    on_list_tools=list_tools,
    on_call_tool=call_tool,
    on_subscriptions_listen=ListenHandler(BUS),
)


async def over_stdio() -> None:
    async with stdio_server() as (read, write):
        await SERVER.run(read, write, SERVER.create_initialization_options())


async def over_http() -> None:
    with socket.create_server(("127.0.0.1", int(sys.argv[2]) if len(sys.argv) > 2 else 0)) as door:
        print(door.getsockname()[1], flush=True)
        config = uvicorn.Config(SERVER.streamable_http_app(), log_level="error")
        await uvicorn.Server(config).serve(sockets=[door])


asyncio.run(over_http() if sys.argv[1] == "http" else over_stdio())
