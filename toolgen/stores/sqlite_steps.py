"""Steps of stores on a connection of SQLite, which never makes them wait."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any, TypeVar

from .transactions import Step

T = TypeVar("T")


class SqliteTransaction:
    """A `Transaction` whose methods are done when they return."""

    __slots__ = ("_database",)

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    async def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        try:
            return self._database.execute(sql, values).fetchall()
        except UnicodeEncodeError:
            return []

    locked = rows  # a transaction of SQLite that writes is the only one

    async def change(self, sql: str, *values: Any) -> int:
        return self._database.execute(sql, values).rowcount


def on_connection(step: Step[T]) -> Callable[[sqlite3.Connection], T]:
    """Return the function that runs a step to its end within a transaction of the caller."""

    def run(database: sqlite3.Connection) -> T:
        running = step(SqliteTransaction(database))
        try:
            running.send(None)
        except StopIteration as done:
            value: T = done.value
            return value
        running.close()
        raise RuntimeError("a step of a store has awaited something else than its transaction")

    return run
