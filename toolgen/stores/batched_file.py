"""The tables of a store in a file that is written in batches, such as that of the runs of an engine.

What the store writes is committed with what the owner of the file writes: rows that belong together are in
one transaction, and the others in the order in which they were put.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from .sqlite_batches import SqliteBatches
from .sqlite_connection import on_connection
from .transactions import Step

T = TypeVar("T")


class BatchedFile:
    """The `Database` of a store in the file of somebody else, who opens and closes it."""

    def __init__(self, batches: SqliteBatches) -> None:
        self._batches = batches
        self._put_into = 0
        """The newest batch that the store has put rows into."""

    async def write(
        self, step: Step[T], *, is_brief: bool = False, may_repeat: bool = False, is_snapshot: bool = False
    ) -> T:
        """Run a step in the transaction of the next batch, after its rows, and return its value.

        Raises:
            StoreError: the batch cannot be written, and nothing of the step is kept; or another event loop
                has the file.
        """
        self._batches.require_loop()
        return await self._batches.run(on_connection(step))

    async def put(self, statements: Sequence[tuple[str, Sequence[Any]]]) -> None:
        """Execute statements with the next batch, and do not wait for it.

        What the owner puts afterwards, such as the end of the operation that has made them, is never
        committed without them. They stay in memory until they can be written.

        Raises:
            StoreError: another event loop has the file, or another process.
        """
        self._batches.require_loop()
        for sql, values in statements:
            self._batches.put(sql, *values)
        self._put_into = self._batches.collecting

    async def read(self, step: Step[T], *, is_brief: bool = False) -> T:
        """Run a step on what is committed, all that was put among it, and return its value.

        Raises:
            StoreError: the file cannot be used; the class says why.
        """
        if not self._batches.is_written(self._put_into):
            self._batches.require_loop()
            await self._batches.flush()
        return await self._batches.read_apart(on_connection(step), is_brief=is_brief)

    async def vacuum(self) -> None:
        """Rewrite the file without what was deleted, and empty its write-ahead log.

        Raises:
            StoreError: the file cannot be used; the class says why.
        """
        await self._batches.vacuum()

    async def check(self) -> None:
        """Return where what was put is written, as far as it was tried.

        Raises:
            StoreError: the newest batch was not; the class says why.
        """
        if problem := self._batches.damage or self._batches.fault:
            raise problem

    def close(self) -> None:
        """Do nothing: the owner of the file closes it."""
