"""A database of one store in the memory of the process."""

from __future__ import annotations

import sqlite3
import threading
import weakref
from collections.abc import Sequence
from typing import Any, TypeVar

from .sqlite_connection import in_transaction, on_connection
from .sqlite_format import SqliteFormat
from .transactions import Step, putting

T = TypeVar("T")


class SqliteMemory:
    """A `Database` that is gone with the object. Its calls may come from many threads."""

    def __init__(self, format: SqliteFormat) -> None:
        self._lock = threading.Lock()
        self._database = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        weakref.finalize(self, self._database.close)
        for statement in format.statements():
            self._database.execute(statement)

    async def write(
        self, step: Step[T], *, is_brief: bool = False, may_repeat: bool = False, is_snapshot: bool = False
    ) -> T:
        with self._lock:
            return in_transaction(self._database, "BEGIN", on_connection(step))

    async def read(self, step: Step[T], *, is_brief: bool = False) -> T:
        with self._lock:
            return on_connection(step)(self._database)

    async def put(self, statements: Sequence[tuple[str, Sequence[Any]]]) -> None:
        await self.write(putting(statements))
