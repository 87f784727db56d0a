"""The tables of a store in a file that is written in batches, such as that of the runs of an engine.

What the store writes is committed with what the owner of the file writes: rows that belong together are in
one transaction, and the others in the order in which they were put.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from .sqlite_batches import SqliteBatches

T = TypeVar("T")


class BatchedFile:
    """What a store uses in the place of a `SqliteFile` of its own; its owner opens and closes the file."""

    def __init__(self, batches: SqliteBatches) -> None:
        self._batches = batches
        self._put_into = 0
        """The newest batch that the store has put rows into."""

    async def write(self, step: Callable[[sqlite3.Connection], T], *, is_brief: bool = False) -> T:
        """Run a step in the transaction of the next batch, after its rows, and return its value.

        Raises:
            StoreError: the batch cannot be written, and nothing of the step is kept; or another event loop
                has the file.
        """
        self._batches.require_loop()
        return await self._batches.run(step)

    async def put(self, rows: Sequence[tuple[str, Sequence[Any]]]) -> None:
        """Write rows, each a statement and its values, with the next batch, and do not wait for it.

        What the owner puts afterwards, such as the end of the operation that has made them, is never
        committed without them. They stay in memory until they can be written.

        Raises:
            StoreError: another event loop has the file, or another process.
        """
        self._batches.require_loop()
        for sql, values in rows:
            self._batches.put(sql, *values)
        self._put_into = self._batches.collecting

    async def read(self, step: Callable[[sqlite3.Connection], T], *, is_brief: bool = False) -> T:
        """Run a step on what is committed, all that was put among it, and return its value.

        Raises:
            StoreError: the file cannot be used; the class says why.
        """
        if not self._batches.is_written(self._put_into):
            self._batches.require_loop()
            await self._batches.run(_fail_with_batch)
        return await self._batches.read_beside(step, is_brief=is_brief)

    async def vacuum(self) -> None:
        """Rewrite the file without what was deleted, and empty its write-ahead log.

        Raises:
            StoreError: the file cannot be used; the class says why.
        """
        await self._batches.vacuum()

    def close(self) -> None:
        """Do nothing: the owner of the file closes it."""


def _fail_with_batch(database: sqlite3.Connection) -> None:
    """Do nothing; the step fails where its batch does, such as on a full disk or a closed file."""
