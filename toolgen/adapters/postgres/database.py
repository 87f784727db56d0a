"""A PostgreSQL database for stores: connections, transactions, and recovery from broken connections.

Connections are psycopg's asynchronous ones: they are created on demand, belong to the event loop that created
them, and serve one transaction at a time. There are no threads, tasks or timers behind them.
"""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, TypeAlias, TypeVar

from toolgen.contract.extras import extra
from toolgen.contract.tasks import Work
from toolgen.stores import StoreClosedError, StoreError
from toolgen.stores.transactions import putting

with extra("postgres"):  # the package's first import of psycopg, which its other modules need
    import psycopg
    from psycopg.conninfo import conninfo_to_dict, make_conninfo
    from psycopg.pq import TransactionStatus

from .connection import PostgresConnection, connection_error, is_lost, server_of, store_error, unknown_commit
from .tables import create_tables

T = TypeVar("T")
Step: TypeAlias = Callable[[PostgresConnection], Awaitable[T]]

_LOCK_S: Final = 10
"""Maximum wait of a statement for other transactions, in seconds."""
_WRITE: Final = f"BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL lock_timeout = '{_LOCK_S}s'"
_SNAPSHOT: Final = f"BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE; SET LOCAL lock_timeout = '{_LOCK_S}s'"
_READ: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_CANCEL_S: Final = 0.2
"""Seconds for the server to end a statement that is cancelled; then its connection is closed."""
_KEEPALIVE: Final = {
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,  # milliseconds
}
"""Keepalive settings, which end a TCP connection whose host has vanished: on Linux after a minute, not after
hours.

Systems without TCP_USER_TIMEOUT, for example macOS, ignore `tcp_user_timeout`.
"""
_ATTEMPTS: Final = 10
"""Maximum number of attempts at a transaction that was rolled back, or whose connection broke."""


class _UnknownCommitError(Exception):
    """The connection broke between COMMIT and its answer."""


class _Connections:
    """The connections of one event loop."""

    def __init__(self, most: int) -> None:
        self.free = asyncio.Semaphore(most)
        self.idle: list[PostgresConnection] = []

    def take(self) -> PostgresConnection | None:
        """Return an unused connection; None if there is none. Another thread can close the others."""
        try:
            return self.idle.pop()
        except IndexError:
            return None

    def finish(self) -> None:
        """Close the unused connections, from any thread."""
        while (connection := self.take()) is not None:
            connection.pgconn.finish()  # psycopg warns if it is deleted before it is closed


class Postgres:
    """A database for stores. Any number of processes, event loops and stores can share it.

    The first connection creates the tables of the schema `toolgen` if the database lacks them. Open it in
    the process that uses it: connections do not survive a fork.
    """

    def __init__(self, conninfo: str = "", *, connections: int = 10, connect_s: int = 10) -> None:
        """Create a database without connecting.

        Args:
            conninfo: Connection string of libpq, for example `postgresql://user@host/database`. Missing parts
                come from libpq's environment variables and files, which are the right place for a password.
                `keepalives_…` and `tcp_user_timeout` have our own defaults, which override a service file: on
                Linux a vanished host is detected after a minute. macOS has no `tcp_user_timeout`, so there a
                sent statement can wait longer.
            connections: Maximum number of connections per event loop.
            connect_s: Seconds to establish a connection.

        Raises:
            StoreError: `conninfo` has another syntax.
        """
        self.server = server_of(conninfo)
        """Name of the database in messages, without the password."""
        self._conninfo = make_conninfo(conninfo, **(_KEEPALIVE | conninfo_to_dict(conninfo)))
        self._most = connections
        self._connect_s = connect_s
        self._is_ready = False
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._loops: dict[asyncio.AbstractEventLoop, _Connections] = {}
        weakref.finalize(self, _finish, self._loops)

    async def __aenter__(self) -> Postgres:
        """Connect, and create the tables if the database lacks them.

        Raises:
            StoreError: The server cannot be used; the subclass tells why.
        """
        await self.check()
        return self

    async def __aexit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close unused connections; the others are closed after their step. Idempotent."""
        self._closed.set()
        with self._lock:
            _finish(self._loops)

    async def check(self) -> None:
        """Return if the server answers and has the tables; like `__aenter__`.

        Raises:
            StoreError: The server cannot be used; the subclass tells why.
        """
        await self.read(_nothing)

    async def write(
        self, step: Step[T], *, is_brief: bool = False, may_repeat: bool = False, is_snapshot: bool = False
    ) -> T:
        """Run the step as one transaction and return its value; roll it back if the step raises.

        The step is repeated if the server rolled it back because of another transaction, and if its
        connection broke before the COMMIT was sent.

        Args:
            step: The work; it can run several times, and must only use the connection.
            is_brief: No effect for a server database.
            may_repeat: Whether repeating a committed step has no effect; if so, the step is also repeated if
                the connection broke during its COMMIT.
            is_snapshot: Whether all statements see the rows as of the beginning.

        Raises:
            StoreError: The server cannot be used; the subclass tells why. `StoreConnectionError.is_unknown`
                is set if it is unknown whether the step was committed.
        """
        return await self._run(_SNAPSHOT if is_snapshot else _WRITE, step, may_repeat)

    async def read(self, step: Step[T], *, is_brief: bool = False) -> T:
        """Run the step on one snapshot of the database and return its value, without waiting for writers.

        Raises:
            StoreError: The server cannot be used; the subclass tells why.
        """
        return await self._run(_READ, step, True)

    async def put(self, statements: Sequence[tuple[str, Sequence[Any]]]) -> None:
        """Execute statements as one transaction, like `toolgen.stores.transactions.Database.put`."""
        await self.write(putting(statements), may_repeat=True)

    async def _run(self, begin: str, step: Step[T], may_repeat: bool) -> T:
        if not self._is_ready:
            await self._transact(_WRITE, self._create_tables, True)
            self._is_ready = True
        return await self._transact(begin, step, may_repeat)

    async def _create_tables(self, connection: PostgresConnection) -> None:
        await create_tables(connection, self.server)

    async def _transact(self, begin: str, step: Step[T], may_repeat: bool) -> T:
        for attempt in range(_ATTEMPTS):
            async with self._connection() as connection:
                try:
                    return await _cancelable(_transaction(connection, begin, step))
                except _UnknownCommitError as error:
                    self._discard_idle()
                    if not may_repeat or attempt == _ATTEMPTS - 1:
                        raise unknown_commit(self.server) from error.__cause__
                except (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected) as error:
                    if attempt == _ATTEMPTS - 1:
                        raise store_error(error, self.server, lock_s=_LOCK_S) from error
                except psycopg.Error as error:
                    if not is_lost(error) or attempt == _ATTEMPTS - 1:
                        raise store_error(error, self.server, lock_s=_LOCK_S) from error
                    self._discard_idle()  # they are most likely broken as well
        raise AssertionError("the last attempt returns or raises")

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[PostgresConnection]:
        """Yield a connection without an open transaction."""
        self._require_open()
        mine = self._of_loop()
        async with mine.free:
            self._require_open()  # it can have been closed while all connections were in use
            connection = mine.take() or await self.connect()
            try:
                yield connection
            finally:
                is_clean = connection.pgconn.transaction_status == TransactionStatus.IDLE
                if is_clean and not connection.closed:
                    mine.idle.append(connection)
                else:
                    connection.pgconn.finish()
                if self._closed.is_set():  # possibly by another thread
                    mine.finish()

    def _require_open(self) -> None:
        if self._closed.is_set():
            raise StoreClosedError("is closed", server=self.server, hint="construct a new Postgres")

    async def connect(self) -> PostgresConnection:
        """Return a new connection, which the caller must close.

        Raises:
            StoreError: The server cannot be used; the subclass tells why.
        """
        self._require_open()
        try:
            connection = await PostgresConnection.connect(
                self._conninfo,
                autocommit=True,  # transactions begin and end with statements
                prepare_threshold=None,  # poolers assign another server connection to each transaction
                connect_timeout=self._connect_s,
                client_encoding="utf8",
            )
        except psycopg.Error as error:
            raise connection_error(error, self.server) from None  # its frames contain the password
        connection.register_texts()
        encoding = connection.info.parameter_status("server_encoding")
        if encoding not in (None, "UTF8"):
            connection.pgconn.finish()
            raise StoreError(
                f"has the encoding {encoding}, which cannot store all characters",
                server=self.server,
                hint="create the database with ENCODING 'UTF8' TEMPLATE template0",
            )
        return connection

    def _of_loop(self) -> _Connections:
        """Return the connections of the running loop, and close the connections of closed loops."""
        loop = asyncio.get_running_loop()
        with self._lock:
            for closed in [event_loop for event_loop in self._loops if event_loop.is_closed()]:
                self._loops.pop(closed).finish()
            return self._loops.setdefault(loop, _Connections(self._most))

    def _discard_idle(self) -> None:
        self._of_loop().finish()


async def _cancelable(transaction: Work[T]) -> T:
    """Return the result of a transaction; if it is cancelled, it ends soon, regardless of the server.

    At the first cancellation psycopg asks the server to cancel the statement, and waits for that: ten seconds
    in 3.3.9, without a limit in older versions. At the second one it gives up.
    """
    task = asyncio.get_running_loop().create_task(transaction)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait([task], timeout=_CANCEL_S)
        raise
    finally:
        while not task.done():
            task.cancel()
            await asyncio.wait([task])


async def _transaction(connection: PostgresConnection, begin: str, step: Step[T]) -> T:
    """Run a step in a transaction; close the connection if the transaction cannot be ended.

    Raises:
        _UnknownCommitError: The connection broke during the COMMIT.
    """
    try:
        await connection.execute(begin.encode())
        value = await step(connection)
    except asyncio.CancelledError:
        connection.pgconn.finish()
        raise
    except Exception:
        await _roll_back(connection)
        raise
    try:
        done = await connection.execute("COMMIT")
    except psycopg.Error as error:
        if is_lost(error):
            connection.pgconn.finish()
            raise _UnknownCommitError from error
        raise
    assert done.statusmessage == "COMMIT"  # a failed statement has raised
    return value


async def _roll_back(connection: PostgresConnection) -> None:
    try:
        await connection.execute("ROLLBACK")
    except psycopg.Error:
        connection.pgconn.finish()


async def _nothing(connection: PostgresConnection) -> None:
    """Do nothing; the connection was established, and the tables exist."""


def _finish(loops: dict[asyncio.AbstractEventLoop, _Connections]) -> None:
    for connections in loops.values():
        connections.finish()
