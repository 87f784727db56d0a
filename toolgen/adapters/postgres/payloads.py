"""Large values of runs in PostgreSQL, by the digest of their content."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from hashlib import sha256
from typing import Final

from toolgen.runs import PayloadGoneError
from toolgen.stores import StoreCorruptError

from .connection import Connection
from .database import Postgres

_REF: Final = re.compile(r"sha256:([0-9a-f]{64}):(0|[1-9][0-9]{0,18})")
_USED_S: Final = 3600.0
"""How exact `last_used` is, in seconds: what was read again within them is not written to."""
_NEWEST: Final = "SELECT data, last_used FROM payload WHERE digest = ? ORDER BY last_used DESC LIMIT 1"
_USE: Final = "UPDATE payload SET last_used = greatest(last_used, ?) WHERE digest = ?"
_ADD: Final = """
    INSERT INTO payload (digest, session_id, created_at, last_used, data)
    VALUES (?, ?, ?, ?, ?) ON CONFLICT (digest, session_id)
    DO UPDATE SET last_used = greatest(payload.last_used, excluded.last_used)
"""


class PostgresPayloads:
    """Keeps each content once for each owner; a `PayloadStore`. A reference is `sha256:<hex>:<bytes>`.

    The column `session_id` of its table holds the owner.
    """

    def __init__(self, database: Postgres, *, clock: Callable[[], float] = time.time) -> None:
        """Construct a store; the clock returns seconds since 1970."""
        self.database = database
        self._clock = clock

    async def put(self, data: bytes, *, owner: str = "") -> str:
        """Store data, if it is not there, and return its reference.

        Raises:
            StoreError: the server cannot be used.
        """
        digest, now = sha256(data).digest(), float(self._clock())

        async def step(tx: Connection) -> None:
            if not await tx.change(f"{_USE} AND session_id = ?", now, digest, owner):  # it is sent once
                await tx.change(_ADD, digest, owner, now, now, bytes(data))

        await self.database.write(step, may_repeat=True)
        return _ref(data)

    async def get(self, ref: str) -> bytes:
        """Return the data of a reference, after it was compared with its digest.

        Raises:
            PayloadGoneError: it was erased or pruned, or never stored.
            StoreCorruptError: the database holds other data there.
            StoreError: the server cannot be used.
        """
        match = _REF.fullmatch(ref)
        if match is None:
            raise _gone(ref)
        digest, now = bytes.fromhex(match[1]), float(self._clock())
        for data, last_used in await self.database.read(lambda tx: tx.rows(_NEWEST, digest)):
            if sha256(data).digest() != digest:
                raise StoreCorruptError(
                    f"holds other data as the payload {ref}",
                    server=self.database.server,
                    hint="restore the database from a backup",
                )
            if len(data) != int(match[2]):
                raise _gone(ref)
            if last_used < now - _USED_S:
                await self._change(_USE, now, digest)
            return bytes(data)
        raise _gone(ref)

    async def prune(self, older_than_s: float) -> int:
        """Drop the payloads that were not used for so many seconds; return how many.

        A payload is used when it is stored, stored again or read. Reading counts to the hour, so give some
        hours, and more than the time for which the engine keeps its runs.

        Raises:
            StoreError: the server cannot be used.
        """
        before = float(self._clock()) - older_than_s
        return await self._change("DELETE FROM payload WHERE last_used < ?", before)

    async def forget(self, owner: str) -> int:
        """Erase what was stored for an owner; return how many payloads it were.

        Raises:
            ValueError: the owner is "".
            StoreError: the server cannot be used.
        """
        if not owner:
            raise ValueError("owner is empty; name the owner whose payloads are erased")
        return await self._change("DELETE FROM payload WHERE session_id = ?", owner)

    async def _change(self, sql: str, *values: object) -> int:
        return await self.database.write(lambda tx: tx.change(sql, *values), may_repeat=True)


def _ref(data: bytes) -> str:
    return f"sha256:{sha256(data).hexdigest()}:{len(data)}"


def _gone(ref: str) -> PayloadGoneError:
    return PayloadGoneError(
        f"the payload {ref} was erased, or never stored in this database",
        hint="give all workers and clients of the engine the same database, and prune later",
    )
