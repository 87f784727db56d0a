"""Sessions in a SQLite file that processes share: the file of the runs, or a separate one."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, Final

from toolgen.stores.batched_file import BatchedFile
from toolgen.stores.session_tables import SESSION_TABLES
from toolgen.stores.sqlite_connection import Synchronous
from toolgen.stores.sqlite_file import SqliteFile
from toolgen.stores.sqlite_format import SqliteFormat

from .tables import TableSessionStore

SESSIONS: Final = SqliteFormat(
    content="sessions", application_id=0x74675365, version=2, statements=SESSION_TABLES
)
"""Its application_id is "tgSe"."""


class SqliteSessionStore(TableSessionStore):
    """Stores sessions in a SQLite file.

    `Agents(runtime)` creates such a store in the file of its engine. There, the messages of a run are
    committed with the end of the operation that wrote them, so that a run and its conversation always agree.

    In a separate file, each step is one transaction of that file, and a power failure may leave the two files
    at different points in time. With FULL in both files, a conversation has at least the steps of its run.
    With NORMAL, the newest steps of a conversation may be missing although its run has them. If a
    conversation lost calls but has their results, readers get a message of the runtime that reports the loss.
    """

    shared_instead: ClassVar = "PostgresSessionStore(database)"

    def __init__(
        self,
        path: str | Path | BatchedFile,
        *,
        synchronous: Synchronous = "FULL",
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Open the file.

        Args:
            path: Path of a separate file, which is created if it is missing; or the open file of an engine.
            synchronous: Durability of a step in a separate file: FULL survives a power failure, NORMAL only
                the end of the process. In the file of an engine, the engine's setting applies.
            clock: Returns seconds since 1970.

        Raises:
            StoreError: it cannot be opened, or it is not a session file.
        """
        self._file: BatchedFile | SqliteFile
        if isinstance(path, BatchedFile):
            self._file = path
        else:
            self._file = SqliteFile(path, SESSIONS, synchronous=synchronous)
        super().__init__(self._file, clock=clock)

    async def vacuum(self) -> None:
        """Rewrite the file without what was deleted; as `Vacuuming`."""
        await self._file.vacuum()

    def close(self) -> None:
        """Close a separate file now, not when the store is garbage collected."""
        self._file.close()
