"""The database interface for stores that use tables, so that their SQL is written once.

A store passes a step to its database, which is a SQLite file or memory (`sqlite_file.py`), the file of an
engine (`batched_file.py`) or a PostgreSQL server (`adapters/postgres/database.py`). Statements use only
syntax that all of them support: `?` is the placeholder of a value, table names have no schema, and SQL
keywords are in capitals. A step awaits only its transaction, which might be repeated. A `StoreServer` reports
whether a database of a server, or of an engine's file, can be used now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar, runtime_checkable

from toolgen.contract.tasks import Work

T = TypeVar("T")


class Transaction(Protocol):
    """A transaction of a database; an exception rolls it back."""

    async def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Return the rows of a statement; none if a value is a text that UTF-8 cannot encode."""
        ...

    async def locked(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Return rows as `rows` does, and lock them against other transactions until this one ends."""
        ...

    async def change(self, sql: str, *values: object) -> int:
        """Execute a statement and return the number of rows that it has changed.

        Raises:
            UnicodeEncodeError: a value is a text that UTF-8 cannot encode.
        """
        ...


Step: TypeAlias = Callable[[Transaction], Work[T]]


class Database(Protocol):
    """Database that stores the tables of a store."""

    async def write(
        self, step: Step[T], *, is_brief: bool = False, may_repeat: bool = False, is_snapshot: bool = False
    ) -> T:
        """Run the step as one transaction and return its value; roll back if the step raises.

        Args:
            step: The step.
            is_brief: Whether it writes only a few rows, so that a file need not hand it to its thread.
            may_repeat: Whether a step that was stored can run again without effect.
            is_snapshot: Whether all statements see the rows of the beginning, as is always the case with a
                file.

        Raises:
            StoreError: the database cannot be used; the class says why.
        """
        ...

    async def read(self, step: Step[T], *, is_brief: bool = False) -> T:
        """Run the step on one snapshot of the database and return its value, without waiting for writers.

        Raises:
            StoreError: the database cannot be used; the class says why.
        """
        ...

    async def put(self, statements: Sequence[tuple[str, Sequence[Any]]]) -> None:
        """Execute statements with their values in one transaction; repeating them must have no effect.

        The file of an engine commits them later, but never after rows that its engine writes from now on.

        Raises:
            StoreError: the database cannot be used; the class says why.
        """
        ...


def putting(statements: Sequence[tuple[str, Sequence[object]]]) -> Step[None]:
    """Return the step that executes statements; as `Database.put`."""

    async def step(transaction: Transaction) -> None:
        for sql, values in statements:
            await transaction.change(sql, *values)

    return step


@runtime_checkable
class StoreServer(Protocol):
    """The server of stores, or a file that an engine writes; `database` of a store, `file` of an engine."""

    async def check(self) -> None:
        """Return if stores can use the server now; the check costs the server almost nothing.

        Raises:
            StoreError: they cannot; the class says why.
        """
        ...


def servers_of(stores: Iterable[object]) -> tuple[StoreServer, ...]:
    """Return the servers of stores, each once; stores in memory or with their own file have none."""
    servers = (getattr(store, name, None) for store in stores for name in ("database", "file"))
    return tuple({id(server): server for server in servers if isinstance(server, StoreServer)}.values())
