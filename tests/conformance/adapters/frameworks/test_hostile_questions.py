"""What a client of FastMCP is asked in a model's words: nothing that is hidden, and no line of its own."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from fastmcp import Client, FastMCP
from fastmcp.client.elicitation import ElicitResult

from tests.interfaces.every_command import HOSTILE
from toolgen.adapters.fastmcp import fastmcp_provider
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.engines import InProcessEngine
from toolgen.runtime import CallMeta, ConfirmSpec, Runtime
from toolgen.runtime.functions import Sensitive


async def pay(to: str, card: Annotated[str, Sensitive()]) -> str:
    """Pay."""
    return f"paid to {to}"


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_a_question_is_escaped_and_has_no_sensitive_value(mode: Any) -> None:
    asked: list[str] = []

    async def elicit(message: str, *_: Any) -> ElicitResult[dict[str, Any]]:
        asked.append(message)
        return ElicitResult(action="decline")

    async with Runtime(engine=InProcessEngine()) as runtime:
        tool = func_tool(pay, toolset="bank.cards", confirm=ConfirmSpec(hint="Pay {to} by {card}?"))
        runtime.tools.register(function_toolset("bank.cards", [tool]))
        snapshot = await runtime.tools.snapshot()
        provider = fastmcp_provider(snapshot, CallMeta(session_id="s"), approvals="elicitation")
        server = FastMCP("bank", providers=[provider])
        async with Client(server, elicitation_handler=elicit, mode=mode) as client:
            await client.call_tool_mcp("pay", {"to": HOSTILE, "card": "4111-OTTER"})
    [message] = asked
    assert all(line.isprintable() and not line.startswith("all is well") for line in message.splitlines())
    assert "all is well" in message
    assert "OTTER" not in message
