"""Toolsets derived from other toolsets: with fewer tools, other wire names, or confirmations.

A view keeps the name of its toolset, and the ids of its tools. Several views of one toolset open it only
once.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from toolgen.calls.errors import RegistrationError
from toolgen.calls.specs import ConfirmSpec, ToolSpec
from toolgen.calls.toolsets.dynamic import (
    DynamicToolset,
    ListedTools,
    ReadonlyContext,
    SnapshotError,
    as_toolset,
    instructions_of,
    native_of,
)
from toolgen.calls.toolsets.registration import BoundTool, ToolsetRegistration

if TYPE_CHECKING:
    from toolgen.calls.specs import NativeTool

__all__ = ["allow_tools", "filter_toolset", "prefixed", "with_confirmation"]

Predicate: TypeAlias = Callable[[ToolSpec, ReadonlyContext], bool | Awaitable[bool]]
"""Decides whether a tool is offered for a request."""

Change: TypeAlias = Callable[[Sequence[BoundTool]], Sequence[BoundTool]]


@dataclass(eq=False, slots=True)
class _View:
    """A toolset that changes the list of another one; an unchanged list is changed only once."""

    inner: DynamicToolset
    change: Change = list
    predicate: Predicate | None = None
    """Decides whether a tool is offered, before the change; None offers all."""
    own_prefix: str | None = None
    """Prefix of the names that another prefix replaces; None to ask the inner toolset."""
    _last: tuple[object, ListedTools] | None = None
    """Last selection and its result."""

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def instructions(self) -> str:
        return instructions_of(self.inner)

    @property
    def native(self) -> Sequence[NativeTool]:
        return native_of(self.inner)

    async def tools(self, context: ReadonlyContext) -> Sequence[BoundTool]:
        listed = await self.inner.tools(context)
        tools = [tool for tool in listed if await self._accepts(tool, context)]
        chosen = tools, getattr(listed, "left_out", {})
        if self._last is None or self._last[0] != chosen:
            self._last = chosen, ListedTools(self.change(tools), chosen[1])
        return self._last[1]

    async def _accepts(self, tool: BoundTool, context: ReadonlyContext) -> bool:
        answer = self.predicate is None or self.predicate(tool.spec, context)
        return bool(await answer if inspect.isawaitable(answer) else answer)


def filter_toolset(toolset: DynamicToolset | ToolsetRegistration, predicate: Predicate) -> DynamicToolset:
    """Return a toolset with the tools that a predicate accepts.

    Args:
        toolset: Toolset to filter.
        predicate: Function of the spec and the `ReadonlyContext` of a request, also an asynchronous one.
    """
    return _View(as_toolset(toolset), predicate=predicate)


def allow_tools(toolset: DynamicToolset | ToolsetRegistration, *names: str) -> DynamicToolset:
    """Return a toolset with only some tools.

    Args:
        toolset: Toolset to filter.
        names: IDs or wire names. If no tool has a name, listing the tools raises `SnapshotError`.

    Raises:
        RegistrationError: There are no names.
    """
    if not names:
        raise RegistrationError("allow_tools needs at least one tool name", hint="name the tools to keep")

    def change(tools: Sequence[BoundTool]) -> Sequence[BoundTool]:
        return _named(inner.name, tools, names)

    inner = as_toolset(toolset)
    return _View(inner, change)


def prefixed(toolset: DynamicToolset | ToolsetRegistration, prefix: str) -> DynamicToolset:
    """Return a toolset with a prefix before each wire name. IDs do not change.

    Args:
        toolset: Toolset whose tools are renamed. The prefix of an MCP server's toolset is replaced.
        prefix: Prefix, such as `office_`.
    """
    inner = as_toolset(toolset)
    own = _own_prefix(inner)

    def named(spec: ToolSpec) -> ToolSpec:
        return replace(spec, name=prefix + spec.name.removeprefix(own))

    def change(tools: Sequence[BoundTool]) -> Sequence[BoundTool]:
        return [replace(tool, spec=named(tool.spec)) for tool in tools]

    return _View(inner, change, own_prefix="")


def with_confirmation(
    toolset: DynamicToolset | ToolsetRegistration, *, hint: str = "", tools: Sequence[str] = ()
) -> DynamicToolset:
    """Return a toolset whose calls need approval.

    Args:
        toolset: Toolset to wrap.
        hint: Question for the person, in place of the design's; `{field}` stands for an argument.
        tools: IDs or wire names of the tools; all by default.
    """

    def change(listed: Sequence[BoundTool]) -> Sequence[BoundTool]:
        ids = {tool.spec.id for tool in (_named(inner.name, listed, tools) if tools else listed)}
        return [_confirmed(tool, hint) if tool.spec.id in ids else tool for tool in listed]

    inner = as_toolset(toolset)
    return _View(inner, change)


def _own_prefix(toolset: object) -> str:
    """Return the prefix that the tool names already have in a toolset, or in its inner toolset."""
    while (prefix := getattr(toolset, "own_prefix", None)) is None:
        toolset = getattr(toolset, "inner", None)
        if toolset is None:
            return ""
    return str(prefix)


def _named(toolset: str, tools: Sequence[BoundTool], names: Sequence[str]) -> Sequence[BoundTool]:
    wanted = frozenset(names)
    listed = {name for tool in tools for name in (tool.spec.id, tool.spec.name)}
    if unknown := [name for name in names if name not in listed]:
        has = ", ".join(tool.spec.name for tool in tools) or "none"
        raise SnapshotError(
            f"toolset {toolset!r} has no tool {', '.join(map(repr, unknown))}", hint=f"its tools are {has}"
        )
    return [tool for tool in tools if tool.spec.id in wanted or tool.spec.name in wanted]


def _confirmed(tool: BoundTool, hint: str) -> BoundTool:
    design = tool.spec.confirm or ConfirmSpec()
    confirm = ConfirmSpec(hint=hint or design.hint, payload=design.payload, grantable=design.grantable)
    return replace(tool, spec=replace(tool.spec, confirm=confirm))
