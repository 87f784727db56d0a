"""Finds the tool of a suspended call when its answer comes: in any process, maybe much later."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from ..call.failures import log
from ..call.registered_tool import RegisteredTool
from ..calls import CallMeta
from ..toolsets.directory import Directory
from ..toolsets.dynamic import ReadonlyContext, SnapshotError
from ..toolsets.snapshot import CallService, Snapshot
from ..toolsets.toolsets import Toolsets
from .frozen import FrozenCall

FindTool = Callable[[str, CallMeta, str], Awaitable[RegisteredTool | None]]
"""Finds a tool by id, for a call with these facts, as the run of this id has it."""

FindAnswered = Callable[[FrozenCall, str], Awaitable[RegisteredTool | None]]
"""Finds the tool of a call that waits in the run of this id, when its answer comes."""


class WaitingTools:
    """Finds the current tools of one runtime.

    Of a dynamic toolset they are listed again: a tool that was listed when the call was made may be another
    one since, or gone, and the digest of the frozen call tells.
    """

    def __init__(
        self, caller: CallService, directory: Directory, toolsets: Toolsets, of_run: FindTool
    ) -> None:
        self._caller = caller
        self._directory = directory
        self._toolsets = toolsets
        self._of_run = of_run
        self._given: dict[str, RegisteredTool] = {}
        """By id of a frozen call, its tool in the snapshot with which it is being answered."""
        self._made: dict[str, RegisteredTool] = {}
        """By run of a call that waits here, its tool, of a toolset that this runtime cannot list."""
        self._held: dict[str, RegisteredTool] = {}
        """By run of a call whose caller waits here, its tool."""

    @property
    def is_empty(self) -> bool:
        """Whether this process has no tools at all, such as one that only answers."""
        return not self._directory.specs and not self._toolsets.is_dynamic

    def give(self, frozen: FrozenCall, tool: RegisteredTool) -> None:
        """Set the tool for the next execution of a call in this process."""
        self._given[frozen.id] = tool

    def take_back(self, frozen: FrozenCall) -> None:
        """Drop the tool that was set for a call."""
        self._given.pop(frozen.id, None)

    def can_list(self, tool: RegisteredTool) -> bool:
        """Return whether a toolset of this runtime has the tool, or may list it again."""
        return self._directory.by_id(tool.spec.id) is not None or tool.toolset in self._toolsets.names

    def made(self, run_id: str, tool: RegisteredTool) -> None:
        """Remember the tool of a suspended call that no toolset of this runtime can list again."""
        if not self.can_list(tool):
            self._made[run_id] = tool

    def ended(self, run_id: str) -> None:
        """Drop the remembered tool of a call that no longer waits."""
        self._made.pop(run_id, None)

    def hold(self, run_id: str, tool: RegisteredTool) -> None:
        """Set the tool of a call for as long as its caller waits."""
        self._held[run_id] = tool

    def let_go(self, run_id: str) -> None:
        """Drop the tool that was set by `hold`."""
        self._held.pop(run_id, None)

    async def of_answered(self, frozen: FrozenCall, run_id: str) -> RegisteredTool | None:
        """Return the tool of an answered call: the one set by `give`, else as `find`."""
        return self._given.pop(frozen.id, None) or await self.find(frozen.tool, frozen.meta, run_id)

    async def find(
        self, tool: str, meta: CallMeta, run_id: str, within: Snapshot | None = None
    ) -> RegisteredTool | None:
        """Return a tool of the snapshot, of the caller that waits, of the run's agent or of the runtime."""
        found = self._held.get(run_id) if within is None else within.directory.by_id(tool)
        found = found or await self._of_run(tool, meta, run_id) or self._directory.by_id(tool)
        if found is None and self._toolsets.is_dynamic:
            context = ReadonlyContext(meta=meta)
            found = await listed_now(tool, self._toolsets.snapshot(self._caller, context))
        return found or self._made.get(run_id)


async def listed_now(tool: str, listing: Awaitable[Snapshot]) -> RegisteredTool | None:
    """Return a tool by id from a new snapshot; None where it is missing, or the listing fails."""
    try:
        return (await listing).directory.by_id(tool)
    except SnapshotError:
        log.warning("the toolset that may have %s could not be listed", tool, exc_info=True)
        return None
