"""The tools of the contract of all frameworks: those of the example, and a few that it does not have."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from toolgen.calls.functions.tools import func_tool
from toolgen.calls.functions.type_codec import TypeCodec
from toolgen.calls.specs import ErrorSpec
from toolgen.contract.json_value import Json
from toolgen.runtime import (
    BoundTool,
    CallMeta,
    Pending,
    Runtime,
    Snapshot,
    StaticToolset,
    ToolContext,
    ToolModel,
    ToolOutcome,
    Unfinished,
)
from toolgen.runtime.functions import LongRunningSpec

MIRA = CallMeta(session_id="s-mira", turn_id="t-mira", requested_by="mira", labels={"site": "harbour"})
LIMIT_S = 0.0625
"""Time limit of the tool that does not end."""


class Taken(ToolModel):
    """Who has a name."""

    by: str


TAKEN: ErrorSpec[Taken] = ErrorSpec("taken", TypeCodec(Taken, "Taken"), "Another device has the name.")


class Workshop:
    """Tools that rename, wait, and ask."""

    def __init__(self) -> None:
        self.started = asyncio.Event()
        self.cancelled = asyncio.Event()
        self.peers = 0
        self.together = asyncio.Event()
        self.jobs = itertools.count()

    async def rename(self, name: str) -> str:
        """Rename the lamp."""
        raise TAKEN.of("another device has the name", Taken(by="h07"))

    async def hang(self) -> str:
        """Wait until it is cancelled."""
        self.started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return "never"

    async def meet(self) -> str:
        """Wait until it is called twice at once."""
        self.peers += 1
        if self.peers == 2:
            self.together.set()
        await self.together.wait()
        return "met"

    async def post(self, ctx: ToolContext) -> str | Unfinished:
        """Send a parcel."""
        if (city := ctx.answered(str)) is None:
            return ToolOutcome.ask("Where does it go?", str)
        return f"sent to {city}"

    async def export(self) -> str | Pending[None]:
        """Export the books."""
        return ToolOutcome.pending(f"job-{next(self.jobs)}")

    async def sign(self, ctx: ToolContext) -> str | Unfinished:
        """Sign a letter."""
        if ctx.answer is None:
            return ToolOutcome.need_credential({"url": "https://sign.example"}, "Sign in.")
        return f"signed by {ctx.meta.requested_by} of {ctx.meta.labels['site']}"

    async def pay(self) -> str:
        """Begin to pay, and never end."""
        return await asyncio.Future()

    def toolset(self) -> StaticToolset:
        """Return the tools as a toolset."""
        name = "test.workshop"
        functions = (self.rename, self.hang, self.meet, self.post, self.export, self.sign, self.pay)
        tools = [func_tool(one, toolset=name) for one in functions]
        return StaticToolset(name=name, bound=tuple(map(_completed, tools)))


def _completed(tool: BoundTool) -> BoundTool:
    """Return a tool with what only a design can say."""
    spec = tool.spec
    if spec.name == "rename":
        spec = replace(spec, errors={"taken": TAKEN})
    if spec.name == "export":
        spec = replace(spec, long_running=LongRunningSpec())
    if spec.name == "pay":
        spec = replace(spec, timeout=LIMIT_S)
    return replace(tool, spec=spec)


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """A runtime with the tools, and what is offered of them."""

    runtime: Runtime
    snapshot: Snapshot
    workshop: Workshop


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What the fake model calls, and what the person says when asked."""

    tool: str
    arguments: Mapping[str, Json] = field(default_factory=dict)
    answer: Json = None
    """Of the person; None where nobody answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What became of a call in a framework."""

    text: str
    """What the model reads; "" where the run stopped with a question."""
    is_error: bool = False
    """Whether the framework shows it as a failure."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """`ResultView.as_json()`, from the framework's own place for what the model does not see."""
    images: tuple[str, ...] = ()
    """Media types of the images that the model is shown."""
    asked: Mapping[str, Any] = field(default_factory=dict)
    """What the person is shown, from the framework's own place for it."""


class Driver(Protocol):
    """Runs calls through one framework, with its fake model."""

    has_facts_of_errors: bool
    """Whether the framework has a place beside the text of a failure."""
    has_artifact_data: bool
    """Whether that place is the application's own, which may have the data of artifacts."""

    async def run(self, home: Home, *calls: Call) -> list[Seen]:
        """Return what became of calls that the model makes in one answer, in their order."""
        ...
