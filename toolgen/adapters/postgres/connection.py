"""A connection to PostgreSQL, with conversions of store statements, texts and errors.

PostgreSQL cannot store the character U+0000, which ids of hosts can contain. U+0000 is stored as U+0001
U+0001, and U+0001 as U+0001 U+0002, which preserves the order by code points and common prefixes.

psycopg errors are converted to store errors by their SQLSTATE (PostgreSQL, appendix A). They name the server
without its password, and quote only the primary text of the server's message, which contains no row values.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import TupleRow
from psycopg.types.string import StrDumper, TextLoader

from toolgen.stores import (
    StoreConnectionError,
    StoreError,
    StoreFullError,
    StoreLockedError,
    StoreReadOnlyError,
)

_TABLE: Final = re.compile(r"\b(FROM|JOIN|INTO|UPDATE) (?=[a-z])")
_FULL: Final = {"53100", "53200", "53400"}
"""Disk full, out of memory, configuration limit exceeded."""
_NOT_WRITABLE: Final = {"25006", "42501"}
"""Read-only transaction, insufficient privilege."""
_LOST: Final = {"57P01", "57P02", "57P03", "57P05", "25P03"}
"""Shutdown by an administrator or after a crash, not yet started, and timeouts that close a connection."""
_LOCKED: Final = "55P03"
_CANCELED: Final = "57014"
_ROLLED_BACK: Final = {
    "40001": "could not serialize the step with other transactions",
    "40P01": "chose the step as the victim of a deadlock",
}


class PostgresConnection(psycopg.AsyncConnection[TupleRow]):
    """Connection that is the `Transaction` of `toolgen.stores.transactions` within a step."""

    async def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        try:
            cursor = await self.execute(_statement(sql), values)
        except UnicodeEncodeError:
            return []
        return await cursor.fetchall()

    async def locked(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        return await self.rows(f"{sql} FOR UPDATE", *values)

    async def change(self, sql: str, *values: object) -> int:
        return (await self.execute(_statement(sql), values)).rowcount

    def register_texts(self) -> None:
        """Encode and decode texts with all their characters from now on."""
        self.adapters.register_dumper(str, _Dumper)
        self.adapters.register_loader("text", _Loader)


@lru_cache(maxsize=256)
def _statement(sql: str) -> bytes:
    """Return a statement with the schema of its tables, and with placeholders of psycopg."""
    return _TABLE.sub(r"\1 toolgen.", sql).replace("?", "%s").encode()


class _Dumper(StrDumper):
    def dump(self, obj: str) -> bytes:
        """Return the text in UTF-8.

        Raises:
            UnicodeEncodeError: The text contains a lone surrogate.
        """
        return obj.replace("\x01", "\x01\x02").replace("\x00", "\x01\x01").encode()


class _Loader(TextLoader):
    def load(self, data: bytes | bytearray | memoryview) -> str:
        return bytes(data).decode().replace("\x01\x01", "\x00").replace("\x01\x02", "\x01")


def server_of(conninfo: str) -> str:
    """Return the name of a connection string's server and database for messages, without the password.

    Raises:
        StoreError: The text is not a connection string of libpq.
    """
    try:
        parts = conninfo_to_dict(conninfo)
    except psycopg.ProgrammingError:
        raise StoreError(  # libpq's message can contain the password
            "cannot be used: its connection string does not follow the syntax of libpq",
            server="the PostgreSQL database",
            hint="write postgresql://user@host:5432/database, with special characters percent-encoded",
        ) from None
    user = f"{parts['user']}@" if parts.get("user") else ""
    host = str(parts.get("host") or parts.get("hostaddr") or "")
    place, folder = ("", f"?host={host}") if host.startswith("/") else (host, "")
    port = f":{parts['port']}" if parts.get("port") else ""
    return f"'postgresql://{user}{place}{port}/{parts.get('dbname', '')}{folder}'"


def is_lost(error: psycopg.Error) -> bool:
    """Return whether the connection broke, or the server is about to close it."""
    code = error.sqlstate
    if code is None:
        return isinstance(error, psycopg.OperationalError)
    return code.startswith("08") or code in _LOST


def store_error(error: psycopg.Error, server: str, *, lock_s: float) -> StoreError:
    """Return the store error for a statement error; `lock_s` is the lock timeout in seconds."""
    code = error.sqlstate or ""
    text = error.diag.message_primary or _first_line(error)
    if code == _LOCKED:
        return StoreLockedError(
            f"was locked by another transaction for {lock_s:g} s: {text}",
            server=server,
            hint="look for long transactions in pg_stat_activity, let them end, and try again",
        )
    if code in _ROLLED_BACK:
        return StoreLockedError(
            f"{_ROLLED_BACK[code]}, each time it was tried: {text}",
            server=server,
            hint="try again when fewer processes write the same rows",
        )
    if code == _CANCELED:
        return StoreError(
            f"canceled the statement: {text}",
            server=server,
            hint="raise the statement_timeout of the role or the database, or find out who canceled it",
        )
    if code in _FULL:
        return StoreFullError(
            f"is out of space: {text}",
            server=server,
            hint="free space on the disk of the server, and try again",
        )
    if code in _NOT_WRITABLE:
        return StoreReadOnlyError(
            f"cannot be written to: {text}",
            server=server,
            hint="connect to the primary as a role that owns the schema toolgen, or can create it",
        )
    if is_lost(error):
        return connection_error(error, server)
    return StoreError(f"cannot be used: {text}", server=server, hint="check the log of the server")


def connection_error(error: psycopg.Error, server: str) -> StoreConnectionError:
    """Return the error for a server that refused or closed a connection."""
    return StoreConnectionError(
        f"cannot be reached: {error.diag.message_primary or _first_line(error)}",
        server=server,
        hint="start the server, and check host, port, user and password of the connection string",
    )


def unknown_commit(server: str) -> StoreConnectionError:
    """Return the error for a connection that broke during the commit of a step."""
    return StoreConnectionError(
        "closed the connection during a COMMIT, so it is unknown whether the step was stored",
        server=server,
        hint="read what is stored before you repeat the step",
        is_unknown=True,
    )


def _first_line(error: psycopg.Error) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
