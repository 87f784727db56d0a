"""Sessions in the memory of the process."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import ClassVar

from .tables import TableSessionStore


class MemorySessionStore(TableSessionStore):
    """Stores sessions in tables in memory. It can be called from several threads."""

    shared_instead: ClassVar = "PostgresSessionStore(database)"

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        """Construct a store; the clock returns seconds since 1970."""
        from toolgen.stores.sqlite_file import SqliteMemory  # SQLite is only for hosts with sessions

        from .sqlite import SESSIONS

        super().__init__(SqliteMemory(SESSIONS), clock=clock)
