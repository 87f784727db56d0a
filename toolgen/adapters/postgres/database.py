"""A PostgreSQL database of stores: connections, transactions, and what is done when a connection breaks.

Connections are psycopg's asynchronous ones: they are made when they are needed, wait in the event loop that
made them, and are used for one transaction at a time. There are no threads, tasks or timers behind them.
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

with extra("postgres"):  # the first import of psycopg by this package, whose other modules need it
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

Where a system has no TCP_USER_TIMEOUT, such as macOS, libpq ignores `tcp_user_timeout`.
"""
_ATTEMPTS: Final = 10
"""The most attempts at a transaction that the server rolled back, or whose connection broke."""


class _UnknownCommitError(Exception):
    """The connection broke between COMMIT and its answer."""


class _Connections:
    """The connections of one event loop."""

    def __init__(self, most: int) -> None:
        self.free = asyncio.Semaphore(most)
        self.idle: list[PostgresConnection] = []

    def take(self) -> PostgresConnection | None:
        """Return one that nobody uses; None where all are in use. Another thread may close the others."""
        try:
            return self.idle.pop()
        except IndexError:
            return None

    def finish(self) -> None:
        """Close those that nobody uses; from any thread."""
        while (connection := self.take()) is not None:
            connection.pgconn.finish()  # psycopg warns of one that is deleted before it is closed


class Postgres:
    """A database that stores share. Any number of processes, event loops and stores may use it.

    The first connection creates the tables of the schema `toolgen` if the database lacks them. Open it in
    the process that uses it: connections do not survive a fork.
    """

    def __init__(self, conninfo: str = "", *, connections: int = 10, connect_s: int = 10) -> None:
        """Construct a database; nothing is connected yet.

        Args:
            conninfo: As libpq reads it, such as `postgresql://user@host/database`; what it does not say comes
                from libpq's environment variables and files, where a password belongs. The `keepalives_…`
                and the `tcp_user_timeout` that it does not say are ours, even where a service file has
                them: on Linux a host that vanishes is noticed after a minute. macOS has no
                `tcp_user_timeout`, so there a statement that was sent may wait for longer.
            connections: The most connections of one event loop.
            connect_s: How long a connection may take to be made, in seconds.

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
            StoreError: the server cannot be used; the class says why.
        """
        await self.check()
        return self

    async def __aexit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections that are not in use; the others are closed after their step. Idempotent."""
        self._closed.set()
        with self._lock:
            _finish(self._loops)

    async def check(self) -> None:
        """Return if the server answers and has the tables; as `__aenter__`.

        Raises:
            StoreError: the server cannot be used; the class says why.
        """
        await self.read(_nothing)

    async def write(
        self, step: Step[T], *, is_brief: bool = False, may_repeat: bool = False, is_snapshot: bool = False
    ) -> T:
        """Run the step as one transaction and return its value; it is rolled back when the step raises.

        The step is run again where the server rolled it back for the sake of another transaction, and where
        its connection broke before its COMMIT was sent.

        Args:
            step: What is done; it may run several times, and touches nothing but the connection.
            is_brief: Nothing to a server.
            may_repeat: A step that was stored may be run again without effect, so it is, where the
                connection broke during its COMMIT.
            is_snapshot: All statements see the rows of its beginning.

        Raises:
            StoreError: the server cannot be used; the class says why. `StoreConnectionError.is_unknown` where
                nobody knows whether the step was stored.
        """
        return await self._run(_SNAPSHOT if is_snapshot else _WRITE, step, may_repeat)

    async def read(self, step: Step[T], *, is_brief: bool = False) -> T:
        """Run the step on one snapshot of the database and return its value; it waits for no writer.

        Raises:
            StoreError: the server cannot be used; the class says why.
        """
        return await self._run(_READ, step, True)

    async def put(self, statements: Sequence[tuple[str, Sequence[Any]]]) -> None:
        """Execute statements as one transaction; as `toolgen.stores.transactions.Database.put`."""
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
                    self._discard_idle()  # they broke with it, most likely
        raise AssertionError("the last attempt returns or raises")

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[PostgresConnection]:
        """Yield a connection that is in no transaction."""
        self._require_open()
        mine = self._of_loop()
        async with mine.free:
            self._require_open()  # it may have been closed while all connections were in use
            connection = mine.take() or await self.connect()
            try:
                yield connection
            finally:
                is_clean = connection.pgconn.transaction_status == TransactionStatus.IDLE
                if is_clean and not connection.closed:
                    mine.idle.append(connection)
                else:
                    connection.pgconn.finish()
                if self._closed.is_set():  # maybe since, by another thread
                    mine.finish()

    def _require_open(self) -> None:
        if self._closed.is_set():
            raise StoreClosedError("is closed", server=self.server, hint="construct a new Postgres")

    async def connect(self) -> PostgresConnection:
        """Return a new connection, which its owner closes.

        Raises:
            StoreError: the server cannot be used; the class says why.
        """
        self._require_open()
        try:
            connection = await PostgresConnection.connect(
                self._conninfo,
                autocommit=True,  # transactions begin and end by statements
                prepare_threshold=None,  # poolers give each transaction another connection of the server
                connect_timeout=self._connect_s,
                client_encoding="utf8",
            )
        except psycopg.Error as error:
            raise connection_error(error, self.server) from None  # its frames hold the password
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
        """Return the connections of the running loop; those of loops that are closed are closed."""
        loop = asyncio.get_running_loop()
        with self._lock:
            for closed in [event_loop for event_loop in self._loops if event_loop.is_closed()]:
                self._loops.pop(closed).finish()
            return self._loops.setdefault(loop, _Connections(self._most))

    def _discard_idle(self) -> None:
        self._of_loop().finish()


async def _cancelable(transaction: Work[T]) -> T:
    """Return what a transaction returns; it ends soon after it is cancelled, whatever the server does.

    At the first cancellation psycopg asks the server to cancel the statement, and waits for that: ten seconds
    in 3.3.9, without an end in older versions. At the second one it gives up.
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
    """Run a step in a transaction; the connection is closed unless it is over.

    Raises:
        _UnknownCommitError: the connection broke during the COMMIT.
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
    """Do nothing; a connection was made, and the tables are there."""


def _finish(loops: dict[asyncio.AbstractEventLoop, _Connections]) -> None:
    for connections in loops.values():
        connections.finish()
