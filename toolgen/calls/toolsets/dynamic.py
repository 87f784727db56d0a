"""Dynamic toolsets, which list their tools for each request.

Static toolsets are registered with `Runtime.tools.register`. Any object with a name and `async
tools(context)` is a dynamic toolset. It can be an asynchronous context manager, which the runtime then opens
and closes.

A design can have a tool `search` in each of two toolsets. If all tools of a runtime are advertised at once, a
model needs a separate name for each: wire names that several tools have get a prefix.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import AbstractAsyncContextManager
from dataclasses import field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeAlias, get_args, runtime_checkable

from toolgen.contract.record import frozen_record
from toolgen.shapes.naming import LONGEST_NAME

from ..call import NO_META, CallMeta
from ..errors import RegistrationError
from ..specs import ToolSpec
from .registration import BoundTool, ToolsetRegistration, bound_tools, registered_bound_tools

if TYPE_CHECKING:
    from toolgen.contract.json_value import Json

    from ..specs import NativeTool
    from ..steps.registered_tool import RegisteredTool, RuntimeOptions

OnError: TypeAlias = Literal["fail", "drop", "stale"]
"""If a toolset cannot list its tools: `fail` the request, `drop` the tools, or use the last list of the
session (`stale`), which fails if there is none."""

WIRE_NAME: Final = re.compile(rf"[A-Za-z0-9_-]{{1,{LONGEST_NAME}}}")
"""Wire names that all model providers accept."""
Prefix = Callable[[ToolSpec], str]

_PREFIXES: Final[tuple[Prefix, ...]] = (
    lambda spec: spec.toolset.rpartition(".")[2],
    lambda spec: spec.toolset.replace(".", "_"),
)
"""Prefixes from the toolset, or from the service and the toolset if that is not unique."""


@frozen_record
class ReadonlyContext:
    """Request for which tools are listed; read-only."""

    meta: CallMeta = NO_META
    """Facts about the request that only the host knows."""
    state: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    """State of the session, the user and the application, with the keys of `ctx.state.get`.

    The runtime adds it if it has a `StateCapability`; values that the host passes take precedence.
    """

    def __post_init__(self) -> None:
        object.__setattr__(self, "state", MappingProxyType(dict(self.state)))


@runtime_checkable
class DynamicToolset(Protocol):
    """Protocol of a toolset that lists its tools for each request.

    Optional attributes:

    - `instructions`: text for the model.
    - `native`: tuple of tools that the model's provider executes.
    - `is_foreign`: true if somebody else describes the tools. A tool whose name is invalid or taken is left
      out.
    - `on_error`: `fail`, `drop` or `stale`, if the toolset belongs to an agent.
    - `tool_ids`: IDs of all tools that it can list, so that hooks can name a tool that a request lacks.
    """

    @property
    def name(self) -> str:
        """Name of the toolset, such as `home.devices`."""
        ...

    async def tools(self, context: ReadonlyContext) -> Sequence[BoundTool]:
        """Return the tools for a request. It is called for each request, so it should be fast."""
        ...


class ListedTools(list[BoundTool]):
    """The tools of a request, and the reasons why other tools of the toolset are left out.

    It is a list, so that callers of a toolset can use it as one. It is immutable: a toolset that lists other
    tools returns a new object.
    """

    def __init__(self, tools: Iterable[BoundTool], left_out: Mapping[str, str]) -> None:
        """Construct the list; `left_out` has the reasons by ID of the tools that are left out."""
        super().__init__(tools)
        self.left_out = left_out
        self.registered: tuple[DynamicToolset, RuntimeOptions, ToolList] | None = None
        """Result of `list_tools`, with the toolset and the runtime options for which it was created.

        It is reused while the list stays the same.
        """


@frozen_record
class StaticToolset:
    """A toolset with fixed tools, each with its own function. `function_toolset` creates it."""

    name: str
    """Name of the toolset, such as `home.devices`."""
    bound: tuple[BoundTool, ...]
    """Tools."""
    instructions: str = ""
    """Instructions for the model."""
    native: tuple[NativeTool, ...] = ()
    """Tools that the model's provider executes."""
    _listed: ListedTools = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_listed", ListedTools(self.bound, {}))

    @property
    def tool_ids(self) -> frozenset[str]:
        """IDs of the tools."""
        return frozenset(tool.spec.id for tool in self.bound)

    async def tools(self, context: ReadonlyContext) -> Sequence[BoundTool]:
        """Return the tools, as a dynamic toolset does."""
        return self._listed


class SnapshotError(RegistrationError):
    """The tools of a request cannot be listed. The message names the toolset."""


@frozen_record
class ToolList:
    """The tools of one toolset for one request."""

    toolset: str
    tools: tuple[RegisteredTool, ...] = ()
    instructions: str = ""
    native: tuple[NativeTool, ...] = ()
    failure: str = ""
    """Reason why the list is empty or outdated; "" otherwise."""
    public_failure: str = ""
    """The same for subscribers: without the text of a third-party exception."""
    left_out: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Reasons why tools are not offered, by tool ID."""
    is_foreign: bool = False
    """Whether a third party determines the listed tools."""


def as_toolset(toolset: DynamicToolset | ToolsetRegistration) -> DynamicToolset:
    """Return the toolset as a dynamic toolset.

    Raises:
        RegistrationError: it is not a toolset, or its executor lacks a method.
    """
    if isinstance(toolset, ToolsetRegistration):
        name, bound, native = toolset.name, bound_tools(toolset), tuple(toolset.native)
        return StaticToolset(name=name, bound=bound, instructions=toolset.instructions, native=native)
    if isinstance(toolset, type) or not isinstance(toolset, DynamicToolset):
        name = getattr(toolset, "__name__", type(toolset).__name__)
        hint = "a toolset has a `name` and `async def tools(self, context)`"
        raise RegistrationError(f"{name} is not a toolset", hint=hint)
    return toolset


def _innermost(toolset: object) -> object:
    """Return the toolset behind nested views."""
    while (inner := getattr(toolset, "inner", None)) is not None:
        toolset = inner
    return toolset


def resource_of(toolset: object) -> AbstractAsyncContextManager[Any] | None:
    """Return the context manager to enter before the toolset is listed; None if there is none."""
    return inner if isinstance(inner := _innermost(toolset), AbstractAsyncContextManager) else None


def instructions_of(toolset: object) -> str:
    return text if isinstance(text := getattr(toolset, "instructions", ""), str) else ""


def native_of(toolset: object) -> tuple[NativeTool, ...]:
    return tuple(native) if isinstance(native := getattr(toolset, "native", ()), list | tuple) else ()


def tool_ids_of(toolset: object) -> frozenset[str] | None:
    """Return the IDs that a toolset, or the one behind a view, can list; None if undeclared.

    Raises:
        RegistrationError: they are not a set of strings.
    """
    toolset = _innermost(toolset)
    ids: object = getattr(toolset, "tool_ids", None)
    if ids is None:
        return None
    if not isinstance(ids, Set) or not all(isinstance(id_, str) for id_ in ids):
        name = getattr(toolset, "name", "")
        raise RegistrationError(f"tool_ids of toolset {name!r} is {ids!r}, not a frozenset of ids")
    return frozenset(ids)


def on_error_of(toolset: object) -> OnError:
    """Return `on_error` of a toolset, or of the toolset behind a view; `fail` by default."""
    policy: OnError = getattr(_innermost(toolset), "on_error", "fail")
    return policy if policy in get_args(OnError) else "fail"


def is_foreign(toolset: object) -> bool:
    """Return whether a third party determines the tools of a toolset, or of the toolset behind a view."""
    return getattr(_innermost(toolset), "is_foreign", False) is True


async def list_tools(toolset: DynamicToolset, context: ReadonlyContext, options: RuntimeOptions) -> ToolList:
    """List the tools of a dynamic toolset, sorted by wire name.

    Raises:
        RegistrationError: an item of the list is not a tool, or cannot be served.
        Exception: an exception of the toolset.
    """
    listed = listing = await toolset.tools(context)
    last = listing.registered if isinstance(listing, ListedTools) else None
    if last is not None and last[0] is toolset and last[1] is options:
        return last[2]
    if not isinstance(listed, list | tuple):
        what = f"listed a value of type {type(listed).__name__}, not a list of BoundTool"
        raise SnapshotError(f"toolset {toolset.name!r} {what}")
    foreign, left_out = is_foreign(toolset), dict(getattr(listed, "left_out", {}))
    problems = [(tool, problem) for tool in listed if (problem := _problem(tool))]
    if foreign:
        left_out |= {tool.spec.id: f"its name is {problem}" for tool, problem in problems}
        listed = [tool for tool in listed if tool.spec.id not in left_out]
    elif problems:
        raise SnapshotError(f"toolset {toolset.name!r} lists {'; '.join(problem for _, problem in problems)}")
    ordered = sorted(listed, key=lambda tool: tool.spec.name)
    registered = ToolList(
        toolset=toolset.name,
        tools=registered_bound_tools(toolset.name, ordered, options),
        instructions=instructions_of(toolset),
        native=native_of(toolset),
        left_out=left_out,
        is_foreign=foreign,
    )
    if isinstance(listing, ListedTools):
        listing.registered = toolset, options, registered
    return registered


def _problem(tool: object) -> str:
    if not isinstance(tool, BoundTool):
        return f"a value of type {type(tool).__name__}, which is not a BoundTool"
    if not WIRE_NAME.fullmatch(name := tool.spec.name):
        return f"{name!r}, but a wire name must have 1 to {LONGEST_NAME} letters, digits, - and _"
    return ""


def with_own_names(lists: Sequence[ToolList], options: RuntimeOptions) -> tuple[ToolList, ...]:
    """Return the lists with a prefix for each wire name that tools of several toolsets have.

    All tools with such a name get a prefix, including the first one, so that names do not depend on the order
    of registration. Names that no prefix makes unique stay unchanged.
    """
    names = _prefixed_names([tool.spec for listed in lists for tool in listed.tools])
    if not names:
        return tuple(lists)
    return tuple(
        replace(
            listed,
            tools=tuple(
                tool.with_spec(replace(tool.spec, name=names[tool.spec.id]), options)
                if tool.spec.id in names
                else tool
                for tool in listed.tools
            ),
        )
        for listed in lists
    )


def _prefixed_names(specs: Sequence[ToolSpec]) -> Mapping[str, str]:
    """Return prefixed wire names, by ID, for tools with clashing names that a prefix can resolve."""
    by_name: dict[str, list[ToolSpec]] = {}
    for spec in specs:
        by_name.setdefault(spec.name, []).append(spec)
    taken = set(by_name)
    names: dict[str, str] = {}
    for name in sorted(name for name, same in by_name.items() if len(same) > 1):
        for prefix in _PREFIXES:
            chosen = {spec.id: f"{prefix(spec)}_{name}" for spec in by_name[name]}
            if _are_free(chosen, len(by_name[name]), taken):
                names |= chosen
                taken.update(chosen.values())
                break
    return names


def _are_free(chosen: Mapping[str, str], count: int, taken: set[str]) -> bool:
    """Return whether these are `count` unique, unused names that all model providers accept."""
    distinct = set(chosen.values())
    return len(distinct) == count and distinct.isdisjoint(taken) and all(map(WIRE_NAME.fullmatch, distinct))


def without_clashes(lists: Sequence[ToolList]) -> list[ToolList]:
    """Return the lists without third-party tools whose ID or wire name is in use, with the reasons.

    The host's own tools come first, then the tools of third-party toolsets in the order in which they were
    added: a server cannot take the name of a tool that is not its own. Clashes among the host's own tools are
    kept.
    """
    owners = {
        key: listed.toolset
        for listed in lists
        if not listed.is_foreign
        for tool in listed.tools
        for key in (tool.spec.id, tool.spec.name)
    }
    return [_without_taken(listed, owners) if listed.is_foreign else listed for listed in lists]


def _without_taken(listed: ToolList, owners: dict[str, str]) -> ToolList:
    """Return the list without tools whose names are in use, and mark its other names as in use."""
    tools, left_out = [], dict(listed.left_out)
    for tool in listed.tools:
        keys = (tool.spec.id, tool.spec.name)
        if taken := next((key for key in keys if key in owners), None):
            left_out[tool.spec.id] = f"toolset {owners[taken]!r} already has a tool {taken!r}"
        else:
            owners.update(dict.fromkeys(keys, listed.toolset))
            tools.append(tool)
    return replace(listed, tools=tuple(tools), left_out=left_out)
