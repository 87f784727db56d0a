"""Sessions in the memory of the process."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import ClassVar

from .tables import TableSessionStore


class MemorySessionStore(TableSessionStore):
    """Keeps sessions in tables in memory. Its calls may come from many threads."""

    shared_instead: ClassVar = "PostgresSessionStore(database)"

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        """Construct a store; the clock returns seconds since 1970."""
        from toolgen.stores.sqlite_file import SqliteMemory  # SQLite is for those who keep sessions

        from .sqlite import SESSIONS

        super().__init__(SqliteMemory(SESSIONS), clock=clock)
