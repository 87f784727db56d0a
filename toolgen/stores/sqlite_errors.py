"""Errors of SQLite as errors of a store, by their result codes (sqlite.org/rescode.html)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import clear_frames
from typing import Final

from .errors import (
    ForeignFileError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreLockedError,
    StoreReadOnlyError,
)

_BUSY: Final = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
_FULL: Final = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE}
"""SQLite has FULL for ENOSPC only; quotas and limits of file sizes are errors of writing."""
_NOT_TEXT: Final = "decode to UTF-8"
"""A part of the message of the module `sqlite3`, which gives this error no code."""
_REPAIR: Final = "restore it from a backup, or save what can be read with `sqlite3 FILE .recover`"
_OURS: Final = {
    sqlite3.SQLITE_CONSTRAINT,
    sqlite3.SQLITE_MISMATCH,
    sqlite3.SQLITE_MISUSE,
    sqlite3.SQLITE_RANGE,
}
"""What only a wrong statement gives; it says nothing of the file."""


_UNREADABLE: Final = (
    ValueError,
    TypeError,
    LookupError,
    RecursionError,
    OverflowError,
    sqlite3.DatabaseError,
)
"""What reading a row raises that is not as it was written; of those of SQLite only what `is_damage` says."""


class DamagedRowError(Exception):
    """What a row holds is not what was written; the message is what cannot be read, such as a run."""

    def at(self, path: Path) -> StoreCorruptError:
        """Return the error of the file that has the row."""
        return StoreCorruptError(f"is damaged: {self}", path=path, hint=_REPAIR)


@contextmanager
def reading(what: Callable[[], str]) -> Iterator[None]:
    """Read rows; `what` names what they are, such as a run.

    Raises:
        DamagedRowError: a row is not as it was written.
    """
    try:
        yield
    except _UNREADABLE as error:
        if isinstance(error, sqlite3.Error) and not is_damage(error):
            raise
        clear_frames(error.__traceback__)  # they keep the cursor, and that the snapshot of the connection
        raise DamagedRowError(f"{what()} cannot be read: {_reason(error)}") from error


def is_damage(error: sqlite3.Error) -> bool:
    """Return whether the file is damaged, or a text of it not UTF-8, which is a part of the message."""
    code = _primary_code(error)
    return code == sqlite3.SQLITE_CORRUPT or (code is None and _NOT_TEXT in str(error))


def _reason(error: BaseException) -> str:
    """Return what is wrong, without what the row holds."""
    if isinstance(error, sqlite3.Error) and _NOT_TEXT in str(error):
        return "a text is not UTF-8"
    if isinstance(error, sqlite3.Error):
        return str(error)
    return f"it is not as it was written ({type(error).__name__})"


def is_busy(error: sqlite3.Error) -> bool:
    """Return whether another connection holds the file, so that a retry may succeed."""
    return _primary_code(error) in _BUSY


def is_about_the_file(error: sqlite3.Error) -> bool:
    """Return whether the file or its disk is the cause, and not a statement of the caller."""
    code = _primary_code(error)
    return is_damage(error) if code is None else code not in _OURS


def store_error(error: sqlite3.Error, path: Path, *, busy_s: float) -> StoreError:
    """Return the store error for an error of SQLite; `busy_s` is how long the step waited for others."""
    primary = _primary_code(error)
    if primary is None:
        return DamagedRowError(f"a row cannot be read: {_reason(error)}").at(path)
    if primary in _BUSY:
        return StoreLockedError(
            f"has been locked by another process for {busy_s:g} s",
            path=path,
            hint="find the process that has the file open (lsof, fuser), let it end, and try again",
        )
    if primary in _FULL or error.sqlite_errorcode in _FULL:
        return StoreFullError(
            f"cannot grow: {error}",
            path=path,
            hint="free space on its disk, or raise the quota, and try again",
        )
    if primary == sqlite3.SQLITE_READONLY:
        return StoreReadOnlyError(
            f"cannot be written to: {error}",
            path=path,
            hint="let the user of this process write to the file and to its folder",
        )
    if primary == sqlite3.SQLITE_NOTADB:
        return ForeignFileError(
            "is not a SQLite database",
            path=path,
            hint="name a file that toolgen made, or a new one",
        )
    if primary == sqlite3.SQLITE_CORRUPT:
        return StoreCorruptError(f"is damaged: {error}", path=path, hint=_REPAIR)
    if primary == sqlite3.SQLITE_CANTOPEN:
        return StoreError(
            f"cannot be opened: {error}",
            path=path,
            hint="let the user of this process read and write the file and its folder",
        )
    return StoreError(f"cannot be used: {error}", path=path, hint="look at the file, its folder and its disk")


def _primary_code(error: sqlite3.Error) -> int | None:
    """Return the result code without its extension; None for an error of the module `sqlite3` itself."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF
