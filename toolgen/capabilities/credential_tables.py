"""Credentials in tables of a store database, encrypted with a secret of the host."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import Json
from toolgen.stores.errors import ForeignSecretError, StoreCorruptError
from toolgen.stores.sqlite_file import FileStore, SqliteFile, SqliteMemory
from toolgen.stores.sqlite_format import SqliteFormat
from toolgen.stores.transactions import Database, Transaction

from .credential_places import CredentialPlace, CredentialScope

if TYPE_CHECKING:
    from .encryption import Cipher

CREDENTIALS: Final = SqliteFormat(
    content="credentials",
    application_id=0x74674372,  # "tgCr"
    version=1,
    statements=(
        """
            CREATE TABLE credential (
                scope TEXT NOT NULL,
                owner TEXT NOT NULL,
                name TEXT NOT NULL,
                expires_at REAL,
                key_id TEXT NOT NULL,
                data BLOB NOT NULL,
                PRIMARY KEY (scope, owner, name)
            ) STRICT
            """,
        "CREATE INDEX credential_by_name ON credential (name)",
        "CREATE INDEX credential_by_end ON credential (expires_at)",
    ),
)
_LOAD: Final = """
    SELECT key_id, data FROM credential WHERE scope = ? AND owner = ? AND name = ?
    AND (expires_at IS NULL OR expires_at > ?)
"""
_SAVE: Final = """
    INSERT INTO credential (scope, owner, name, expires_at, key_id, data) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (scope, owner, name) DO UPDATE
    SET expires_at = excluded.expires_at, key_id = excluded.key_id, data = excluded.data
"""
_PRUNE: Final = "DELETE FROM credential WHERE expires_at <= ?"
_DROP: Final = "DELETE FROM credential WHERE scope = ? AND owner = ? AND name = ?"
_FIND: Final = "SELECT scope, owner FROM credential WHERE name = ? AND expires_at > ?"
_LEASE: Final = """
    INSERT INTO credential (scope, owner, name, expires_at, key_id, data) VALUES (?, ?, ?, ?, '', ?)
    ON CONFLICT (scope, owner, name) DO UPDATE SET expires_at = excluded.expires_at
    WHERE credential.data = excluded.data
"""
"""`_PRUNE` runs first, so expired rows are deleted."""
_FORGET: Final = "DELETE FROM credential WHERE scope = ? AND owner = ?"


class TableCredentialStore:
    """Stores each document in one row; a row that was moved to another place cannot be read."""

    def __init__(
        self,
        database: Database,
        cipher: Cipher | None,
        *,
        where: Mapping[str, str | Path],
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Create a store.

        Args:
            database: Database with the tables.
            cipher: Encrypts the documents; None for a store in memory.
            where: Location for the errors of the store: `path` or `server`.
            clock: Returns seconds since 1970.
        """
        self.database = database
        self._cipher = cipher
        self._where = dict(where)
        self._clock = clock

    async def load(self, place: CredentialPlace) -> dict[str, Json] | None:
        now = self._clock()

        async def step(tx: Transaction) -> Sequence[tuple[str, bytes]]:
            return await tx.rows(_LOAD, place.scope, place.owner, place.name, now)

        for key_id, data in await self.database.read(step):
            document: dict[str, Json] = json.loads(self._decrypted(key_id, bytes(data), place))
            return document
        return None

    async def save(
        self, place: CredentialPlace, document: Mapping[str, Json], *, expires_at: float | None = None
    ) -> None:
        text, now = json.dumps(document).encode(), self._clock()
        key_id, data = ("", text) if self._cipher is None else self._cipher.encrypt(text, _bound(place))

        async def step(tx: Transaction) -> None:
            await tx.change(_PRUNE, now)
            await tx.change(_SAVE, place.scope, place.owner, place.name, expires_at, key_id, data)

        await self.database.write(step, may_repeat=True)

    async def drop(self, place: CredentialPlace) -> bool:
        return await self._change(_DROP, place.scope, place.owner, place.name) > 0

    async def find(self, name: str) -> CredentialPlace | None:
        now = self._clock()
        for scope, owner in await self.database.read(lambda tx: tx.rows(_FIND, name, now)):
            return CredentialPlace(scope, owner, name)
        return None

    async def forget(self, scope: CredentialScope, owner: str) -> int:
        return await self._change(_FORGET, scope, owner)

    async def lease(self, place: CredentialPlace, holder: str, *, expires_at: float) -> bool:
        now = self._clock()

        async def step(tx: Transaction) -> bool:
            await tx.change(_PRUNE, now)
            values = place.scope, place.owner, place.name, expires_at, holder.encode()
            return await tx.change(_LEASE, *values) > 0

        return await self.database.write(step, may_repeat=True)

    async def _change(self, statement: str, *values: object) -> int:
        return await self.database.write(lambda tx: tx.change(statement, *values))

    def _decrypted(self, key_id: str, data: bytes, place: CredentialPlace) -> bytes:
        """Return the document in a row.

        Raises:
            ForeignSecretError: The document was encrypted with another secret.
            StoreCorruptError: The document was changed or moved.
        """
        if self._cipher is None:
            return data
        from .encryption import ChangedDocumentError, OtherSecretError

        where: dict[str, Any] = self._where
        try:
            return self._cipher.decrypt(key_id, data, _bound(place))
        except OtherSecretError:
            raise ForeignSecretError(
                "has credentials that were encrypted with another secret",
                hint="pass the old secret too, after the new one: secret=(new, old)",
                **where,
            ) from None
        except ChangedDocumentError:
            raise StoreCorruptError(
                f"has a credential for the {place.scope} that was changed or moved from another entry",
                hint="find out who changed the store, then enter the credential again",
                **where,
            ) from None


class MemoryCredentialStore(TableCredentialStore):
    """Stores credentials in the memory of the process."""

    shared_instead: ClassVar = "PostgresCredentialStore(database, secret=…)"

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        """Create a store; the clock returns seconds since 1970."""
        super().__init__(SqliteMemory(CREDENTIALS), None, where={}, clock=clock)


class SqliteCredentialStore(FileStore, TableCredentialStore):
    """Stores encrypted credentials in a SQLite file, which processes with the same secret can share."""

    shared_instead: ClassVar = "PostgresCredentialStore(database, secret=…)"

    def __init__(
        self, path: str | Path, *, secret: bytes | Sequence[bytes], clock: Callable[[], float] = time.time
    ) -> None:
        """Open the file, or create it.

        Args:
            path: File of the store.
            secret: Secret of the host, as in `Runtime(secret=…)`; if there are several, the first one
                encrypts.
            clock: Returns seconds since 1970.

        Raises:
            StoreError: The file cannot be opened, or it is not a credential file.
            ToolgenError: The secret is too short, or the extra `http` is not installed.
        """
        cipher = cipher_of(secret)
        self._file = SqliteFile(path, CREDENTIALS)
        super().__init__(self._file, cipher, where={"path": Path(path)}, clock=clock)


def cipher_of(secret: bytes | Sequence[bytes]) -> Cipher:
    """Return the cipher for the secret of a host.

    Raises:
        ToolgenError: The secret is too short, or the extra `http` is not installed.
    """
    try:
        from .encryption import Cipher

        return Cipher(secret)
    except ModuleNotFoundError as error:
        message = f"encrypting credentials needs the package {error.name!r}, which is not installed"
        raise ToolgenError(message, hint="pip install 'toolgen[http]'") from error
    except ValueError as error:
        raise ToolgenError(
            str(error), hint="pass the secret of the runtime: secrets.token_bytes(32)"
        ) from None


def _bound(place: CredentialPlace) -> bytes:
    return json.dumps([place.scope, place.owner, place.name]).encode()
