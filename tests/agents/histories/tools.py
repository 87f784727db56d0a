"""Tools of the runs in histories: they ask for approvals and answers, and wait for work."""

from __future__ import annotations

from typing import Final

from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.calls.specs import LongRunningSpec
from toolgen.contract.json_value import Json
from toolgen.runtime import CallMeta, ConfirmSpec, Pending, ToolContext, ToolOutcome, Unfinished

ADD: Final = ("add", {"a": 1, "b": 2})
YES: Final[Json] = {"approved": True}
NO: Final[Json] = {"approved": False}
META: Final = CallMeta(run_id="r", session_id="s", tool_call_id="c")


async def reset(device: str) -> str:
    """Reset a device."""
    return f"{device} is reset"


async def twice(ctx: ToolContext) -> str | Unfinished:
    """Ask, and ask again."""
    if ctx.answer == "again" or ctx.answer is None:
        return ToolOutcome.ask("Which name?")
    return f"hello {ctx.answer}"


async def update() -> str | Pending[None]:
    """Update."""
    return ToolOutcome.pending("job-1")


async def order() -> str | Pending[str | None]:
    """Order."""
    return ToolOutcome.pending("job-2", "ordered")


MORE: Final = function_toolset(
    "x.more",
    [
        func_tool(reset, toolset="x.more", confirm=ConfirmSpec(hint="Reset {device}?")),
        func_tool(twice, toolset="x.more"),
        func_tool(update, toolset="x.more", long_running=LongRunningSpec()),
        func_tool(order, toolset="x.more", long_running=LongRunningSpec(ack=func_tool(reset).spec.result)),
    ],
)
RESET: Final = ("reset", {"device": "hub"})
