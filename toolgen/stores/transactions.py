"""The interface of a database to the stores that use tables, so that their SQL is written once.

A store passes a step to its database, which is a SQLite file or memory (`sqlite_file.py`), the file of an
engine (`batched_file.py`) or a PostgreSQL server (`adapters/postgres/database.py`). The statements are those
that all of them understand: `?` stands for a value, table names have no schema, and SQL keywords are in
capitals. A step awaits only its transaction, which may be repeated. A `StoreServer` reports whether a
database of a server, or of an engine's file, can be used now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar, runtime_checkable

from toolgen.contract.tasks import Work

T = TypeVar("T")


class Transaction(Protocol):
    """A transaction of a database; what raises in it is rolled back."""

    async def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Return the rows of a statement; none where a value is a text that UTF-8 cannot encode."""
        ...

    async def locked(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Return rows as `rows`, which no other transaction changes before the end of this one."""
        ...

    async def change(self, sql: str, *values: object) -> int:
        """Execute a statement and return how many rows it has changed.

        Raises:
            UnicodeEncodeError: a value is a text that UTF-8 cannot encode.
        """
        ...


Step: TypeAlias = Callable[[Transaction], Work[T]]


class Database(Protocol):
    """Where the tables of a store are."""

    async def write(
        self, step: Step[T], *, is_brief: bool = False, may_repeat: bool = False, is_snapshot: bool = False
    ) -> T:
        """Run the step as one transaction and return its value; it is rolled back when the step raises.

        Args:
            step: What is done.
            is_brief: It writes a few rows, so that a file need not hand it to its thread.
            may_repeat: A step that was stored may be run again without effect.
            is_snapshot: All statements see the rows of its beginning, as a file always has it.

        Raises:
            StoreError: the database cannot be used; the class says why.
        """
        ...

    async def read(self, step: Step[T], *, is_brief: bool = False) -> T:
        """Run the step on one snapshot of the database and return its value; it waits for no writer.

        Raises:
            StoreError: the database cannot be used; the class says why.
        """
        ...

    async def put(self, statements: Sequence[tuple[str, Sequence[Any]]]) -> None:
        """Execute statements with their values, which may be repeated without effect, in one transaction.

        The file of an engine commits them later, but never after what its engine writes from now on.

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
        """Return where stores can use the server now; it costs the server next to nothing.

        Raises:
            StoreError: they cannot; the class says why.
        """
        ...


def servers_of(stores: Iterable[object]) -> tuple[StoreServer, ...]:
    """Return the servers of stores, each once; those in memory or in a file of their own have none."""
    servers = (getattr(store, name, None) for store in stores for name in ("database", "file"))
    return tuple({id(server): server for server in servers if isinstance(server, StoreServer)}.values())
