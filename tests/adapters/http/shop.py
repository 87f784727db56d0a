"""A runtime with a tool and an agent of each kind that the surface treats in its own way, and its clients."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, Final

import httpx
from starlette.requests import Request

from tests.bound_tools import bound_to
from toolgen.adapters.http import Caller, HTTPSurface, SurfaceOptions
from toolgen.agents import (
    AgentRegistration,
    AgentSpec,
    AgentTool,
    Await,
    CallTools,
    PlannedCall,
    ScriptedPlanner,
    agents_of,
)
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.calls.functions.type_codec import TypeCodec
from toolgen.capabilities import ArtifactsCapability, MemoryArtifactStore
from toolgen.engines import InProcessEngine
from toolgen.events import Events
from toolgen.runtime import (
    BoundTool,
    ConfirmSpec,
    LongRunningReturn,
    Runtime,
    ToolContext,
    ToolError,
    ToolModel,
    ToolOutcome,
    Unfinished,
)
from toolgen.runtime.functions import LongRunningSpec, Sensitive

SHOP: Final = "shop.orders"
AGENT: Final = "shop.clerk"
BASE: Final = "http://localhost"


class Address(ToolModel):
    """Where an order goes."""

    city: str
    floor: int = 0


class Receipt(ToolModel):
    """What is known at once."""

    minutes: int


@dataclass
class Shop:
    """The executors; `log` has what ran."""

    log: list[str] = field(default_factory=list)
    has_begun: asyncio.Event = field(default_factory=asyncio.Event)
    goes_on: asyncio.Event = field(default_factory=asyncio.Event)
    was_cancelled: asyncio.Event = field(default_factory=asyncio.Event)

    async def count(self, ctx: ToolContext) -> int:
        """Count the orders."""
        self.log.append(f"count for {ctx.meta.requested_by} {ctx.meta.labels.get('tenant', '')}".rstrip())
        return 3

    async def order(self, item: str, amount: int = 1) -> str:
        """Order something.

        Args:
            item: What.
            amount: How many.
        """
        self.log.append(f"order {amount} {item}")
        return f"{amount} {item}"

    async def destroy(self, item: str, code: Annotated[str, Sensitive()] = "") -> str:
        """Destroy something."""
        self.log.append(f"destroy {item} {code}")
        return f"{item} is gone, by {code}"

    async def send(self, item: str, ctx: ToolContext) -> str | Unfinished:
        """Send something."""
        if (address := ctx.answered(Address)) is None:
            return ToolOutcome.ask("Where does it go?", Address)
        self.log.append(f"send {item} to {address.city}")
        return f"{item}: {address.city}"

    async def export(self) -> LongRunningReturn[int, Receipt]:
        """Export all."""
        return ToolOutcome.pending("job-1", Receipt(minutes=4))

    async def fail(self) -> int:
        """Fail."""
        raise ToolError("the shelf is empty")

    async def crash(self) -> int:
        """Crash."""
        raise RuntimeError("password hunter2")

    async def report(self, ctx: ToolContext) -> str:
        """Report on the day."""
        saved = await ctx.artifacts.save("day.json", b'{"orders":3}', "application/json")
        return str(saved.uri)

    async def hold(self) -> str:
        """Wait until the test says so."""
        self.has_begun.set()
        try:
            await self.goes_on.wait()
        except asyncio.CancelledError:
            self.was_cancelled.set()
            raise
        self.log.append("held")
        return "held"


@cache
def _tools() -> tuple[BoundTool, ...]:
    """Return the tools of a shop that nobody uses."""
    shop = Shop()
    late = LongRunningSpec(ack=TypeCodec(Receipt, "Receipt"))
    plain = (shop.order, shop.send, shop.fail, shop.crash, shop.hold)
    return (
        func_tool(shop.count, toolset=SHOP, annotations={"read_only": True}),
        *(func_tool(one, toolset=SHOP) for one in plain),
        func_tool(shop.destroy, toolset=SHOP, confirm=ConfirmSpec(hint="Destroy {item}?")),
        func_tool(shop.report, toolset=SHOP, needs=("artifacts",)),
        func_tool(shop.export, toolset=SHOP, long_running=late),
    )


def planner() -> ScriptedPlanner:
    """Return what the clerk says, by the beginning of a message."""
    ordered = CallTools(calls=(PlannedCall.of("order", {"item": "tea"}),), text="I order tea.")
    destroyed = CallTools(calls=(PlannedCall.of("destroy", {"item": "tea", "code": "s3cret-c0de"}),))
    return ScriptedPlanner(
        by_message={
            "hello": ["Good day."],
            "tea": [ordered, "Your tea comes."],
            "away": [destroyed, "It is gone."],
            "ask": [Await(kind="clarification", question="Which one?"), "So be it."],
            "hold": [CallTools(calls=(PlannedCall.of("hold"),)), "Done."],
        }
    )


def shop_runtime(shop: Shop, **options: Any) -> Runtime:
    """Return a runtime with the tools of a shop, and an agent that uses them."""
    given: dict[str, Any] = {
        "engine": InProcessEngine(),
        "events": Events(),
        "capabilities": [ArtifactsCapability(MemoryArtifactStore())],
    }
    runtime = Runtime(**{**given, **options})
    toolset = function_toolset(SHOP, bound_to(shop, _tools()))
    names = ("order", "destroy", "hold")
    tools = tuple(AgentTool(id=f"{SHOP}.{name}", name=name) for name in names)
    spec = AgentSpec(id=AGENT, description="Serves people.", tools=tools)
    runtime.tools.register(toolset)
    if runtime.engine is not None:
        registration = AgentRegistration(spec=spec, planner=planner(), toolsets=(toolset,))
        agents_of(runtime).register(registration)
    return runtime


def by_header(request: Request) -> Caller | None:
    """Return the caller that a header names; `root` sees all."""
    name = request.headers.get("x-caller", "ann")
    if name == "nobody":
        return None
    return Caller(id=name, labels={"tenant": "t1"}, sees_all=name == "root")


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A client, and what it speaks to."""

    client: httpx.AsyncClient
    shop: Shop
    runtime: Runtime
    surface: HTTPSurface

    async def call(self, tool: str, arguments: dict[str, Any] | None = None, **more: Any) -> httpx.Response:
        """Make a call; `key`, `caller` and further members of the body may be given."""
        headers = headers_of(more)
        body = {"arguments": arguments or {}, **more}
        return await self.client.post(f"/tools/{tool}/calls", json=body, headers=headers)

    async def post(self, path: str, **body: Any) -> httpx.Response:
        """Post a body; `key` and `caller` may be given."""
        headers = headers_of(body)
        return await self.client.post(path, json=body, headers=headers)

    async def get(self, path: str, caller: str = "ann", **query: Any) -> Any:
        """Return the JSON of a path, which is there."""
        answer = await self.client.get(path, params=query, headers={"x-caller": caller})
        assert answer.status_code == 200, answer.text
        assert answer.headers["x-content-type-options"] == "nosniff"
        return answer.json()


def headers_of(more: dict[str, Any]) -> dict[str, str]:
    """Take the headers out of what a request gives."""
    headers = {"x-caller": more.pop("caller", "ann")}
    if key := more.pop("key", ""):
        headers["idempotency-key"] = key
    return headers


@asynccontextmanager
async def served(
    options: SurfaceOptions | None = None,
    runtime: Runtime | None = None,
    shop: Shop | None = None,
    **more: Any,
) -> AsyncIterator[Served]:
    """Open a client that reaches the surface of a shop without a socket."""
    shop = shop or Shop()
    async with runtime or shop_runtime(shop, **more) as opened:
        surface = HTTPSurface(opened, caller=by_header, options=options, design="shop", version="1.2")
        transport = httpx.ASGITransport(surface)
        async with httpx.AsyncClient(transport=transport, base_url=BASE) as client:
            yield Served(client=client, shop=shop, runtime=opened, surface=surface)
        await surface.aclose()


def problem(answer: httpx.Response) -> tuple[int, str]:
    """Return the status and the name of a problem."""
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"
    document = answer.json()
    assert document["status"] == answer.status_code
    assert document["title"]
    return answer.status_code, document["type"].removeprefix("urn:toolgen:problem:")


def events_in(text: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the ids and documents of a stream."""
    return list(_events(text.split("\n\n")))


def _events(blocks: Iterable[str]) -> Iterable[tuple[str, dict[str, Any]]]:
    for block in blocks:
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if "data" in lines:
            yield lines.get("id", ""), json.loads(lines["data"])
