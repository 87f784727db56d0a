"""A FastMCP server with FastMCP's client in memory, in one era of the protocol."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Literal

from fastmcp import Client, FastMCP
from fastmcp.client.elicitation import ElicitResult
from mcp_types import CallToolResult, ElicitRequestFormParams, ImageContent, TextContent

from toolgen.adapters.fastmcp import fastmcp_provider

from .home import MIRA, Call, Home, Seen


class FastMCPServer:
    """Drives FastMCP."""

    has_facts_of_errors = True
    has_artifact_data = False

    def __init__(self, mode: Literal["legacy", "2026-07-28"]) -> None:
        self._mode: Literal["legacy", "2026-07-28"] = mode

    def __str__(self) -> str:
        return f"FastMCP-{self._mode}"

    async def run(self, home: Home, *calls: Call) -> list[Seen]:
        provider = fastmcp_provider(home.snapshot, lambda _: MIRA, approvals="elicitation")
        server = FastMCP("home", providers=[provider], instructions=home.snapshot.instructions)
        return list(await asyncio.gather(*(self._call(server, call) for call in calls)))

    async def _call(self, server: FastMCP, call: Call) -> Seen:
        asked: dict[str, Any] = {}

        async def elicit(message: str, _: Any, params: Any, __: Any) -> ElicitResult[dict[str, Any]]:
            assert isinstance(params, ElicitRequestFormParams)
            asked.update(message=message, schema=params.requested_schema)
            match call.answer:
                case None:
                    return ElicitResult(action="cancel")
                case {"approved": True}:
                    return ElicitResult(action="accept", content={"approved": True, "keep_on": True})
                case dict():
                    return ElicitResult(action="accept", content=dict(call.answer))
                case _:
                    return ElicitResult(action="accept", content={"answer": call.answer})

        async with Client(server, elicitation_handler=elicit, mode=self._mode) as client:
            result = await client.call_tool_mcp(call.tool, dict(call.arguments))
        return _seen(result, _asked(asked))


def _asked(shown: Mapping[str, Any]) -> dict[str, Any]:
    """Return the message as the other drivers have it."""
    if not shown:
        return {}
    question, *others = shown["message"].split("\n")
    whole = {"device_id": "h09"} if 'arguments: {"device_id": "h09"}' in shown["message"] else {}
    return {
        "question": question,
        "preview": others[0] if others else "",
        "arguments": whole,
        "answer_schema": shown["schema"],
    }


def _seen(result: CallToolResult, asked: Mapping[str, Any]) -> Seen:
    texts = [block.text for block in result.content if isinstance(block, TextContent)]
    return Seen(
        text=texts[0],
        is_error=bool(result.is_error),
        facts=(result.meta or {}).get("dev.toolgen/result", {}),
        images=tuple(block.mime_type for block in result.content if isinstance(block, ImageContent)),
        asked=asked,
    )
