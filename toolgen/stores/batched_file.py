"""Tables of a store in a file that is written in batches, for example the file of an engine's runs.

Rows of the store are committed with rows of the file's owner: rows that belong together are in one
transaction, and the others in the order in which they were put.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from .sqlite_batches import SqliteBatches
from .sqlite_connection import on_connection
from .transactions import Step

T = TypeVar("T")


class BatchedFile:
    """The `Database` of a store in a file that its owner opens and closes."""

    def __init__(self, batches: SqliteBatches) -> None:
        self._batches = batches
        self._put_into = 0
        """Number of the newest batch that contains rows of the store."""

    async def write(
        self, step: Step[T], *, is_brief: bool = False, may_repeat: bool = False, is_snapshot: bool = False
    ) -> T:
        """Run a step in the transaction of the next batch, after its rows, and return its value.

        Raises:
            StoreError: the batch cannot be written, and nothing of the step is stored; or another event loop
                owns the file.
        """
        self._batches.require_loop()
        return await self._batches.run(on_connection(step))

    async def put(self, statements: Sequence[tuple[str, Sequence[Any]]]) -> None:
        """Execute statements with the next batch, without waiting for it.

        Rows that the owner puts afterwards, for example the end of the operation that executed this, are
        never committed without them. The statements stay in memory until they can be written.

        Raises:
            StoreError: another event loop, or another process, owns the file.
        """
        self._batches.require_loop()
        for sql, values in statements:
            self._batches.put(sql, *values)
        self._put_into = self._batches.collecting

    async def read(self, step: Step[T], *, is_brief: bool = False) -> T:
        """Run a step on committed rows, after committing all rows that were put, and return its value.

        Raises:
            StoreError: the file cannot be used; the class says why.
        """
        if not self._batches.is_written(self._put_into):
            self._batches.require_loop()
            await self._batches.flush()
        return await self._batches.read_apart(on_connection(step), is_brief=is_brief)

    async def vacuum(self) -> None:
        """Rewrite the file without the deleted rows, and empty its write-ahead log.

        Raises:
            StoreError: the file cannot be used; the class says why.
        """
        await self._batches.vacuum()

    async def check(self) -> None:
        """Return if all rows that were put are written, or if no write has failed yet.

        Raises:
            StoreError: the newest batch could not be written; the class says why.
        """
        if problem := self._batches.damage or self._batches.fault:
            raise problem

    def close(self) -> None:
        """Do nothing: the owner of the file closes it."""
