"""The tool of a call that waits, when its answer comes: in whatever process, maybe long after."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from ..call.entry import Entry
from ..call.failures import log
from ..toolsets.directory import Directory
from ..toolsets.dynamic import ReadonlyContext, SnapshotError
from ..toolsets.resolution import Toolsets
from ..toolsets.snapshot import Caller, Snapshot
from .frozen import FrozenCall

FindTool = Callable[[FrozenCall, str], Awaitable[Entry | None]]
"""Finds the tool of a call that waits in a run."""
SeenEntry = Callable[[str, str], Entry | None]
"""Finds a tool by id as a run saw it last."""


class WaitingTools:
    """Finds the tools of one runtime."""

    def __init__(self, caller: Caller, directory: Directory, toolsets: Toolsets, seen: SeenEntry) -> None:
        self._caller = caller
        self._directory = directory
        self._toolsets = toolsets
        self._seen = seen
        self.entries: dict[str, Entry] = {}
        """By run of a call that waits, its tool as this process knows it; of a snapshot, say."""

    @property
    def is_empty(self) -> bool:
        """Whether this process has no tools at all, such as one that only answers."""
        return not self._directory.specs and not self._toolsets.is_dynamic

    async def find(self, frozen: FrozenCall, run_id: str, within: Snapshot | None = None) -> Entry | None:
        """Return the tool as the snapshot has it, or the run knows it, or it is registered or listed now."""
        tool = frozen.tool
        found = None if within is None else within.directory.by_id(tool)
        found = found or self._seen(tool, run_id) or self.entries.get(run_id) or self._directory.by_id(tool)
        if found is not None or not self._toolsets.is_dynamic:
            return found
        try:
            listed = await self._toolsets.snapshot(self._caller, ReadonlyContext(meta=frozen.meta), None)
        except SnapshotError:
            log.warning("the tools are not listed among which %s may be", tool, exc_info=True)
            return None
        return listed.directory.by_id(tool)
