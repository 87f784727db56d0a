"""Toolsets made of other toolsets: with fewer tools, other wire names, or confirmations.

A view keeps the name of what it is a view of, and the ids of its tools. Views of one toolset open it once.
"""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import field, replace
from itertools import compress
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from weakref import WeakKeyDictionary

from toolgen.calls.errors import RegistrationError
from toolgen.calls.specs import ConfirmSpec, ToolSpec
from toolgen.calls.toolsets.dynamic import (
    DynamicToolset,
    ListedTools,
    ListKey,
    ReadonlyContext,
    SnapshotError,
    as_toolset,
    instructions_of,
    native_of,
)
from toolgen.calls.toolsets.registration import BoundTool, ToolsetRegistration
from toolgen.contract.record import frozen_record

if TYPE_CHECKING:
    from toolgen.calls.specs import NativeTool

Predicate: TypeAlias = Callable[[ToolSpec[Any, Any], ReadonlyContext], bool | Awaitable[bool]]
"""Whether a tool is there for a request."""

Change: TypeAlias = Callable[[Sequence[BoundTool]], Sequence[BoundTool]]

_MOST_CHOICES: Final = 16
"""Choices of a predicate among the tools of one list of which the lists are kept."""


@frozen_record
class _View:
    """A toolset that changes the list of another one, once for each list."""

    inner: DynamicToolset
    change: Change
    predicate: Predicate | None = None
    """Whether a tool is there for a request, before the change; None where all are."""
    own_prefix: str | None = None
    """Beginning of the names that another prefix replaces; None where the inner toolset says it."""
    _made: WeakKeyDictionary[ListKey, OrderedDict[bytes, ListedTools]] = field(
        default_factory=WeakKeyDictionary, init=False, repr=False, compare=False
    )
    """What was made of a list, by the tools that were chosen; a byte for each."""

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
        chosen = None if self.predicate is None else await _chosen(self.predicate, listed, context)
        if not isinstance(listed, ListedTools):
            return self._changed(listed, chosen)
        of_list = self._made.setdefault(listed.key, OrderedDict())
        choice = chosen or b""
        made = of_list.get(choice)
        if made is None:
            made = of_list[choice] = ListedTools(self._changed(listed, chosen), listed.left_out)
            if len(of_list) > _MOST_CHOICES:
                of_list.popitem(last=False)
        return made

    def _changed(self, listed: Sequence[BoundTool], chosen: bytes | None) -> Sequence[BoundTool]:
        return self.change(listed if chosen is None else list(compress(listed, chosen)))


def filter_toolset(toolset: DynamicToolset | ToolsetRegistration, predicate: Predicate) -> DynamicToolset:
    """Return the toolset with those tools that the predicate accepts, for each tool of each request."""
    return _View(inner=as_toolset(toolset), change=list, predicate=predicate)


def allow_tools(toolset: DynamicToolset | ToolsetRegistration, *names: str) -> DynamicToolset:
    """Return the toolset with the tools of these ids or wire names only.

    A name that no tool has is an error when the tools are listed.
    """
    if not names:
        raise RegistrationError("allow_tools has no names", hint="name the tools that it lets through")

    def change(tools: Sequence[BoundTool]) -> Sequence[BoundTool]:
        return _named(inner.name, tools, names)

    inner = as_toolset(toolset)
    return _View(inner=inner, change=change)


def prefixed(toolset: DynamicToolset | ToolsetRegistration, prefix: str) -> DynamicToolset:
    """Return the toolset with the prefix, such as `office_`, before each wire name; ids stay.

    It stands in the place of the one that names of an MCP server have by themselves.
    """
    inner = as_toolset(toolset)
    own = _own_prefix(inner)

    def named(spec: ToolSpec[Any, Any]) -> ToolSpec[Any, Any]:
        return replace(spec, name=prefix + spec.name.removeprefix(own))

    def change(tools: Sequence[BoundTool]) -> Sequence[BoundTool]:
        return [replace(tool, spec=named(tool.spec)) for tool in tools]

    return _View(inner=inner, change=change, own_prefix="")


def with_confirmation(
    toolset: DynamicToolset | ToolsetRegistration, *, hint: str = "", tools: Sequence[str] = ()
) -> DynamicToolset:
    """Return the toolset with a confirmation before each call, of all tools or of those named.

    `hint` is what the person is asked, in the place of the design's own; `{field}` stands for an argument.
    """

    def change(listed: Sequence[BoundTool]) -> Sequence[BoundTool]:
        asked = {tool.spec.id for tool in (_named(inner.name, listed, tools) if tools else listed)}
        return [_confirmed(tool, hint) if tool.spec.id in asked else tool for tool in listed]

    inner = as_toolset(toolset)
    return _View(inner=inner, change=change)


def _own_prefix(toolset: object) -> str:
    """Return the prefix that the names of a toolset, or of what it is a view of, have by themselves."""
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
    confirm = ConfirmSpec(hint=hint or design.hint, payload=design.payload)
    return replace(tool, spec=replace(tool.spec, confirm=confirm))


async def _chosen(predicate: Predicate, listed: Sequence[BoundTool], context: ReadonlyContext) -> bytes:
    """Return for each tool whether it is there for a request: 1 or 0."""
    chosen = bytearray()
    for tool in listed:
        answer = predicate(tool.spec, context)
        chosen.append(bool(await answer if inspect.isawaitable(answer) else answer))
    return bytes(chosen)
