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
    """Keeps sessions in a SQLite file.

    `Agents(runtime)` makes one for the file of its engine. There, what a run says is committed with the end
    of the operation that has said it, so that a run and its conversation never disagree.

    In a file of its own each step is one transaction of that file, and a loss of power may leave the two
    files at different moments. With FULL in both files a conversation has at least what its run has. With
    NORMAL the newest steps of a conversation may be missing although its run has them. Where a conversation
    has lost calls of which it has results, its readers find a message of the runtime that says so.
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
            path: Of a file of its own, which is made where it is missing; or the open file of an engine.
            synchronous: What a step survives in a file of its own: FULL a loss of power, NORMAL only the
                end of the process. In the file of an engine it is as the engine has it.
            clock: Gives seconds since 1970.

        Raises:
            StoreError: it cannot be opened, or it is something else than a file of sessions.
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
        """Close a file of its own now, not when the store is garbage collected."""
        self._file.close()
