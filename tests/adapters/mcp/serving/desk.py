"""A runtime with a tool of each kind that MCP treats in its own way, and clients of both eras."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from mcp import Client, types
from mcp.client._memory import InMemoryTransport
from mcp.client.session import ElicitationFnT

from tests.bound_tools import bound_to
from toolgen.adapters.mcp import MCPServer, server
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.calls.functions.type_codec import TypeCodec
from toolgen.capabilities import ArtifactsCapability, MemoryArtifactStore
from toolgen.engines import InProcessEngine
from toolgen.events.hub import Events
from toolgen.runtime import (
    AudioContent,
    BoundTool,
    CallMeta,
    ConfirmSpec,
    Content,
    ImageContent,
    LongRunningReturn,
    ReadonlyContext,
    ResourceContent,
    Runtime,
    TextContent,
    ToolContext,
    ToolError,
    ToolModel,
    ToolOutcome,
    Unfinished,
)
from toolgen.runtime.functions import LongRunningSpec

ERAS: Final = ("legacy", "auto")
"""What `mcp.Client` takes as its mode: the handshake of 2025-11-25, and 2026-07-28 where a server has it."""
MIRA: Final = "s-mira"
PARCELS: Final = "desk.parcels"


class Parcel(ToolModel):
    """A parcel."""

    id: str
    weight: float | None = None


class Receipt(ToolModel):
    """What is known at once."""

    minutes: int


class Address(ToolModel):
    """Where a parcel goes."""

    city: str
    floor: int = 0


class Desk:
    """The executors; `log` has what ran."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.has_begun = asyncio.Event()
        self.was_cancelled = asyncio.Event()
        self.is_signed_in = False

    async def weigh(self, id: str, ctx: ToolContext, unit: str = "kg") -> Parcel:
        """Weigh a parcel.

        Args:
            id: Which one.
            unit: Of the weight.
        """
        self.log.append(f"weigh {id} {unit} for {ctx.meta.session_id}")
        return Parcel(id=id, weight=1.5)

    async def count(self) -> int:
        """Count the parcels."""
        return 3

    async def names(self) -> list[str]:
        """Name the parcels."""
        return ["a", "b"]

    async def find(self) -> str | None:
        """Find a free shelf, if there is one."""
        return None

    async def fail(self) -> int:
        """Fail."""
        raise ToolError("the scale is broken")

    async def crash(self) -> int:
        """Crash."""
        raise RuntimeError("password hunter2")

    async def show(self) -> ToolOutcome[str]:
        """Show a parcel."""
        blocks: list[Content] = [
            TextContent(text="a text"),
            ImageContent(data=b"\x89PNG", media_type="image/png"),
            AudioContent(data=b"RIFF", media_type="audio/wav"),
            ResourceContent(uri="https://desk.example/1", name="one", size=7),
        ]
        return ToolOutcome.of("shown", content=blocks, display="A **parcel**.")

    async def report(self, ctx: ToolContext) -> str:
        """Report on the day; the file is kept."""
        saved = await ctx.artifacts.save("day.json", b'{"parcels":3}', "application/json")
        return str(saved.uri)

    async def burn(self, id: str) -> str:
        """Burn a parcel."""
        self.log.append(f"burn {id}")
        return f"{id} is ash"

    async def send(self, id: str, ctx: ToolContext) -> str | Unfinished:
        """Send a parcel."""
        if (address := ctx.answered(Address)) is None:
            return ToolOutcome.ask("Where does it go?", Address)
        if (day := ctx.answered(str, "On which day?")) is None:
            return ToolOutcome.ask("On which day?", str)
        self.log.append(f"send {id} to {address.city}")
        return f"{id}: {address.city}, floor {address.floor}, on {day}"

    async def export(self) -> LongRunningReturn[Parcel, Receipt]:
        """Export all."""
        return ToolOutcome.pending("job-1", Receipt(minutes=4))

    async def walk(self, ctx: ToolContext) -> str:
        """Walk, and say how far it is."""
        ctx.progress(0.25, "a quarter")
        ctx.progress(message="still on the way")
        ctx.progress(1.0)
        return "there"

    async def hang(self) -> str:
        """Never return."""
        self.has_begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.was_cancelled.set()
            raise
        return ""

    async def sign_in(self) -> bool:
        """Sign in; more tools come."""
        self.is_signed_in = True
        return True

    async def rename(self, old: str, new: str) -> int:
        """Rename a shelf."""
        return 2


class Shelves:
    """Tools that are there after somebody signed in."""

    name = "desk.shelves"
    instructions = "Shelves have letters."

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def tools(self, context: ReadonlyContext) -> Sequence[BoundTool]:
        return bound_to(self._desk, _shelf_tools()) if self._desk.is_signed_in else ()


@cache
def _parcel_tools() -> tuple[BoundTool, ...]:
    """Return the tools of a desk that nobody uses."""
    desk = Desk()
    plain = (desk.count, desk.names, desk.find, desk.fail, desk.crash, desk.show, desk.send, desk.walk)
    late = LongRunningSpec(ack=TypeCodec(Receipt, "Receipt"))
    return (
        func_tool(desk.weigh, toolset=PARCELS, annotations={"read_only": True}, tags=("scale",)),
        *(func_tool(one, toolset=PARCELS) for one in (*plain, desk.hang, desk.sign_in)),
        func_tool(desk.report, toolset=PARCELS, needs=("artifacts",)),
        func_tool(desk.burn, toolset=PARCELS, confirm=ConfirmSpec(hint="Burn {id}?")),
        func_tool(desk.export, toolset=PARCELS, long_running=late),
    )


@cache
def _shelf_tools() -> tuple[BoundTool, ...]:
    return (func_tool(Desk().rename, toolset=Shelves.name),)


def desk_runtime(desk: Desk, **options: Any) -> Runtime:
    """Return a runtime with the tools of a desk."""
    given: dict[str, Any] = {
        "engine": InProcessEngine(),
        "events": Events(),
        "capabilities": [ArtifactsCapability(MemoryArtifactStore())],
    }
    runtime = Runtime(**{**given, **options})
    runtime.tools.register(function_toolset(PARCELS, bound_to(desk, _parcel_tools())))
    runtime.tools.add_toolset(Shelves(desk))
    return runtime


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A client, what it speaks to, and what it was told."""

    client: Client
    desk: Desk
    runtime: Runtime
    server: MCPServer
    messages: list[Any]

    async def text(self, tool: str, **arguments: Any) -> str:
        """Return the first text of a result."""
        result = await self.client.call_tool(tool, arguments)
        assert isinstance(result.content[0], types.TextContent)
        return result.content[0].text


@asynccontextmanager
async def served(
    era: str,
    *,
    elicitation: ElicitationFnT | None = None,
    runtime_options: dict[str, Any] | None = None,
    **options: Any,
) -> AsyncIterator[Served]:
    """Open a client of an era in memory, its server and its runtime."""
    desk, messages = Desk(), []

    async def keep(message: Any) -> None:
        messages.append(message)

    async with desk_runtime(desk, **(runtime_options or {})) as runtime:
        made = server(runtime, **{"session_id": MIRA, **options})
        async with Client(
            InMemoryTransport(made.sdk), mode=era, elicitation_callback=elicitation, message_handler=keep
        ) as client:
            yield Served(client=client, desk=desk, runtime=runtime, server=made, messages=messages)


META: Final = CallMeta(session_id=MIRA)
