"""The tools of the matrix, one for each outcome, and what their executor did."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Final

from tests.bound_tools import bound_to
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.calls.functions.type_codec import TypeCodec
from toolgen.calls.toolsets.registration import AgentRoute
from toolgen.contract.json_value import Json
from toolgen.runtime import (
    BoundTool,
    CallMeta,
    ConfirmSpec,
    Pending,
    ReadonlyContext,
    StaticToolset,
    ToolContext,
    ToolError,
    ToolOutcome,
    ToolsetRegistration,
    ToolSpec,
    Unfinished,
)
from toolgen.runtime.functions import LongRunningSpec

from .cells import OUTCOMES, Outcome

REQUEST: Final[Mapping[str, Json]] = {"scheme": "oauth2", "url": "https://sign.example"}
QUESTIONS: Final[Mapping[Outcome, str]] = {
    "confirm": "Really?",
    "ask": "Which city?",
    "credential": "Sign in",
}
TEXT: Final[TypeCodec[str]] = TypeCodec(str, "str")
ARGUMENTS: Final[dict[str, Json]] = {"note": None}
"""Of every call of the matrix: null of an optional attribute, which means that it is absent."""
NOTE: Final = "none"
"""What stands for an absent note."""
LIMIT_S: Final = 0.0625
"""Time limit of the tool that hangs."""
Later = str | Unfinished | Pending[str]


class Ledger:
    """The executor of the tools: one for each outcome. It notes what ran, and with which facts."""

    def __init__(self, *, is_later: bool = False) -> None:
        self.ran: list[str] = []
        self.metas: list[CallMeta] = []
        self.notes: list[str] = []
        """The optional argument of each."""
        self._is_later = is_later
        """Each tool acknowledges its work where it would give its result."""

    async def ok(self, ctx: ToolContext, note: str = NOTE) -> Later:
        """Succeed."""
        return self._end("ok", "done", ctx, note)

    async def error(self, ctx: ToolContext, note: str = NOTE) -> Later:
        """Fail."""
        self._end("error", "", ctx, note)
        if self._is_later:
            return ToolOutcome.pending("job-1", "begun")
        raise ToolError("it broke")

    async def confirm(self, ctx: ToolContext, note: str = NOTE) -> Later:
        """Succeed after an approval."""
        return self._end("confirm", "done", ctx, note)

    async def ask(self, ctx: ToolContext, note: str = NOTE) -> Later:
        """Succeed with what a person says."""
        if ctx.answer is None:
            self._end("ask asks", "", ctx, note)
            return ToolOutcome.ask(QUESTIONS["ask"])
        return self._end("ask", f"to {ctx.answer}", ctx, note)

    async def credential(self, ctx: ToolContext, note: str = NOTE) -> Later:
        """Succeed with a credential."""
        if ctx.answer is None:
            self._end("credential asks", "", ctx, note)
            return ToolOutcome.need_credential(REQUEST, QUESTIONS["credential"])
        return self._end("credential", "done", ctx, note)

    async def pending(self, ctx: ToolContext, note: str = NOTE) -> Later:
        """Begin work that goes on elsewhere."""
        self._end("pending", "", ctx, note)
        return ToolOutcome.pending("job-1", "begun")

    async def unknown(self, ctx: ToolContext, note: str = NOTE) -> Later:
        """Begin, and never end."""
        self._end("unknown", "", ctx, note)
        await asyncio.Event().wait()
        return "never"

    def tools(self, toolset: str) -> tuple[BoundTool, ...]:
        """Return the tools, with what a design says of them."""
        return bound_to(self, _tools(toolset, self._is_later))

    def _end(self, what: str, result: str, ctx: ToolContext, note: str) -> Later:
        self.ran.append(what)
        self.notes.append(note)
        self.metas.append(ctx.meta)
        return ToolOutcome.pending("job-1", "begun") if self._is_later and result else result


@cache
def _tools(toolset: str, is_later: bool) -> tuple[BoundTool, ...]:
    """Return the tools of a ledger that nobody uses."""
    return tuple(_tool(toolset, outcome, is_later) for outcome in OUTCOMES)


def _tool(toolset: str, outcome: Outcome, is_later: bool) -> BoundTool:
    facts: dict[str, Any] = {}
    if outcome == "confirm":
        facts["confirm"] = ConfirmSpec(hint=QUESTIONS["confirm"])
    if outcome == "pending" or is_later:
        facts["long_running"] = LongRunningSpec(ack=TEXT)
    method: Callable[..., Any] = getattr(Ledger(), outcome)
    tool = func_tool(method, toolset=toolset, name=outcome, **facts)
    if outcome != "unknown":
        return tool
    return replace(tool, spec=replace(tool.spec, timeout=LIMIT_S))


def static(ledger: Ledger, toolset: str) -> ToolsetRegistration:
    """Return the toolset as generated code registers it: specs, and an executor with their methods."""
    tools = ledger.tools(toolset)
    return ToolsetRegistration(name=toolset, specs=[tool.spec for tool in tools], executor=_Executor(ledger))


class _Executor:
    """The executor that a person writes for generated code: methods of the payload and the context."""

    def __init__(self, ledger: Ledger) -> None:
        for outcome in OUTCOMES:
            setattr(self, outcome, _method(getattr(ledger, outcome)))


def _method(work: Callable[[ToolContext, str], Any]) -> Callable[..., Any]:
    async def method(payload: Any, ctx: ToolContext) -> Any:
        return await work(ctx, payload.note)

    return method


def function(ledger: Ledger, toolset: str) -> StaticToolset:
    """Return the toolset of functions."""
    return function_toolset(toolset, ledger.tools(toolset))


class Dynamic:
    """A toolset that lists its tools for each request."""

    def __init__(self, ledger: Ledger, toolset: str) -> None:
        self.name = toolset
        self._ledger = ledger

    async def tools(self, context: ReadonlyContext) -> Sequence[BoundTool]:
        return self._ledger.tools(self.name)


def routed(toolset: str, agent: str, prefix: str) -> ToolsetRegistration:
    """Return tools that an agent answers: what it hears is the outcome that it has to bring about."""

    specs = _routed_specs(toolset, prefix)
    prompts = {spec.id: outcome for spec, outcome in zip(specs, OUTCOMES, strict=True)}
    return ToolsetRegistration(name=toolset, specs=specs, executor=AgentRoute(agent=agent, prompts=prompts))


@cache
def _routed_specs(toolset: str, prefix: str) -> tuple[ToolSpec[Any, Any], ...]:
    def answer(note: str = NOTE) -> str:
        """Answer."""
        return ""

    return tuple(func_tool(answer, toolset=toolset, name=f"{prefix}{outcome}").spec for outcome in OUTCOMES)
