"""The snapshot of the tools of one model request; its calls can name only these tools."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Sequence, Set
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from ..call import NO_META, CallMeta, ToolCall
from ..errors import UnknownToolError
from .directory import Directory
from .dynamic import SnapshotError, ToolList

if TYPE_CHECKING:
    from toolgen.contract.json_value import Json

    from ..call import CallName
    from ..results import Suspended, ToolResult
    from ..specs import NativeTool, ToolSpec
    from ..steps.frame import HostArguments

    AnyTool: TypeAlias = str | ToolSpec

_LONG_RUNNING: Final = (
    "{} can return before its work is done. Do not call it again for the same work; the result "
    "arrives later by itself."
)
Listing: TypeAlias = "Callable[[], Awaitable[Snapshot]]"
"""Lists the current tools."""


class SuspensionService(Protocol):
    """Shows and answers suspended calls: `Runtime.suspensions`."""

    def within(self, snapshot: Snapshot | None) -> SuspensionService: ...

    async def answer(
        self,
        token: str,
        answer: Json,
        *,
        session_id: str | None = None,
        by: str = "",
        wait_s: float | None = 30.0,
    ) -> ToolResult: ...

    async def show(self, token: str, *, session_id: str | None = None) -> Suspended: ...

    async def list(self, session_id: str | None = None) -> tuple[Suspended, ...]: ...


class CallService(Protocol):
    """Executes the calls of a snapshot: the `Runtime`."""

    async def call(
        self,
        tool: AnyTool,
        arguments: HostArguments,
        meta: CallMeta = NO_META,
        *,
        within: Snapshot | None = None,
    ) -> ToolResult: ...

    async def call_once(
        self,
        name: CallName,
        tool: AnyTool,
        arguments: HostArguments,
        meta: CallMeta = NO_META,
        *,
        within: Snapshot | None = None,
    ) -> ToolResult: ...

    async def call_all(
        self, calls: Iterable[ToolCall], *, within: Snapshot | None = None
    ) -> tuple[ToolResult, ...]: ...

    @property
    def suspensions(self) -> SuspensionService: ...


class Snapshot:
    """The tools that a request advertises. Its calls find exactly these tools, even if the toolsets have
    changed."""

    def __init__(
        self,
        caller: CallService,
        lists: Sequence[ToolList],
        former: Iterable[str],
        *,
        disabled: Collection[str] = (),
    ) -> None:
        """Construct a snapshot of the lists; tools whose ID is in `disabled` are not advertised.

        Raises:
            SnapshotError: two tools have the same ID or wire name.
        """
        self._caller = caller
        self._lists = lists
        self._disabled = frozenset(disabled)
        _refuse_clashes(lists)
        self.directory = Directory((tool for listed in lists for tool in listed.tools), former)
        """Internal: tools by name, with disabled tools and former names of the run."""
        self.native: tuple[NativeTool, ...] = tuple(tool for listed in lists for tool in listed.native)
        """Tools that the model's provider executes."""
        self.specs: tuple[ToolSpec, ...] = self.directory.specs
        """Advertised tools: those of static toolsets in the order of registration, then each dynamic one by
        name."""
        if self._disabled:
            self.specs = tuple(spec for spec in self.specs if spec.id not in self._disabled)
        self.failures: dict[str, str] = {listed.toolset: listed.failure for listed in lists if listed.failure}
        """Reasons why toolsets are missing or stale, by name."""
        self.left_out: dict[str, str] = {
            tool: why for listed in lists for tool, why in listed.left_out.items()
        }
        """Reasons why tools are left out, by ID."""
        self.dropped: dict[str, str] = {
            listed.toolset: listed.public_failure for listed in lists if listed.failure and not listed.tools
        }
        """Reasons why toolsets are missing, without the texts of foreign exceptions, by name."""
        self.instructions = self.instructions_by(_LONG_RUNNING)
        """Instructions for the model."""

    def instructions_by(self, long_running: str) -> str:
        """Return the instructions, with this text for each long-running tool; `{}` stands for its name."""
        return "\n\n".join(_instructions(self._lists, self._disabled, long_running))

    def fits(self, lists: Sequence[ToolList], disabled: Collection[str], previous: Snapshot | None) -> bool:
        """Internal: return whether a new snapshot of these lists would be equal."""
        return previous in (None, self) and self._lists is lists and self._disabled == frozenset(disabled)

    def of_toolset(self, name: str) -> Snapshot:
        """Return a snapshot of one toolset; an empty one if it does not exist."""
        lists = [listed for listed in self._lists if listed.toolset == name]
        return Snapshot(self._caller, lists, (), disabled=self._disabled)

    def declarations(self) -> list[dict[str, Json]]:
        """Return the tools for a model: name, description and JSON Schema of the arguments."""
        return [
            {
                "name": spec.name,
                "description": model_description(spec, self.specs),
                "parameters": spec.payload.schema,
            }
            for spec in self.specs
        ]

    async def call(self, tool: AnyTool, arguments: HostArguments, meta: CallMeta = NO_META) -> ToolResult:
        """Execute a call, as `Runtime.call`."""
        return await self._caller.call(tool, arguments, meta, within=self)

    async def call_once(
        self, name: CallName, tool: AnyTool, arguments: HostArguments, meta: CallMeta = NO_META
    ) -> ToolResult:
        """Execute a call once under a name, as `Runtime.call_once`."""
        return await self._caller.call_once(name, tool, arguments, meta, within=self)

    async def call_all(self, calls: Iterable[ToolCall]) -> tuple[ToolResult, ...]:
        """Execute calls concurrently, as `Runtime.call_all`."""
        return await self._caller.call_all(calls, within=self)

    @property
    def suspensions(self) -> SuspensionService:
        """Suspended calls, as `Runtime.suspensions`. Answers find the tools of this snapshot."""
        return self._caller.suspensions.within(self)


def _refuse_clashes(lists: Sequence[ToolList]) -> None:
    """Raise if IDs or wire names are not unique.

    Raises:
        SnapshotError: two tools have the same ID or wire name; the message names both toolsets.
    """
    seen: dict[tuple[str, str], str] = {}
    for listed in lists:
        for spec in (tool.spec for tool in listed.tools):
            for kind, key in (("id", spec.id), ("wire name", spec.name)):
                if (first := seen.get((kind, key))) is not None:
                    raise SnapshotError(
                        f"two tools have the {kind} {key!r}: one in toolset {first!r}, one in toolset "
                        f"{listed.toolset!r}",
                        hint="give one of the toolsets a prefix: prefixed(toolset, …)",
                    )
                seen[kind, key] = listed.toolset


def _instructions_of(spec: ToolSpec, long_running: str) -> str:
    if spec.long_running is None:
        return spec.instructions
    return f"{spec.instructions} {long_running.format(spec.name)}".lstrip()


def _instructions(lists: Sequence[ToolList], disabled: Set[str], long_running: str) -> Iterator[str]:
    for listed in lists:
        tools = [tool for tool in listed.tools if tool.spec.id not in disabled]
        if (tools or listed.native) and listed.instructions:
            yield listed.instructions
        for tool in tools:
            if text := _instructions_of(tool.spec, long_running):
                yield text
    for listed in lists:
        if listed.failure and not listed.tools:
            yield f"The tools of {listed.toolset} are not available now."


def model_description(spec: ToolSpec, among: Iterable[ToolSpec]) -> str:
    """Return the description of a tool, followed by its deprecation if it is deprecated.

    A replacement is named by its wire name, and only if the model can call it.
    """
    if spec.deprecated is None:
        return spec.description
    id_ = spec.deprecated.replacement
    name = next((candidate.name for candidate in among if candidate.id == id_), "")
    return spec.deprecated.added_to(spec.description, name)


async def id_of_tool(name: str, registered: Directory, listings: Sequence[Listing]) -> str:
    """Return the ID of a tool from its ID or a unique wire name; registered tools come first.

    Raises:
        UnknownToolError: no tool, or more than one, has the name; the message has similar names.
        SnapshotError: no listed tool has the name, and a toolset cannot list its tools.
    """
    if tool := registered.by_name.get(name):
        return tool.spec.id
    snapshots = await asyncio.gather(*(listing() for listing in listings), return_exceptions=True)
    tools = dict(registered.by_id)
    for snapshot in snapshots:
        if isinstance(snapshot, Snapshot):
            tools = {**snapshot.directory.by_id, **tools}
    directory = Directory(tools.values())
    if tool := directory.by_name.get(name):
        return tool.spec.id
    for error in snapshots:
        if isinstance(error, BaseException):
            raise error
    raise UnknownToolError(directory.unknown_tool_message(name))
