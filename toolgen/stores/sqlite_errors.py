"""SQLite errors as store errors, by their result codes (sqlite.org/rescode.html)."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import clear_frames
from typing import Final

from .disk import is_read_only, read_fault, write_fault
from .errors import (
    FAILING,
    READ_ONLY,
    ROOM,
    ForeignFileError,
    StoreCorruptError,
    StoreDiskError,
    StoreError,
    StoreFullError,
    StoreLockedError,
    StoreReadOnlyError,
    system_error,
)

_BUSY: Final = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
_WRITING: Final = {sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE}
"""SQLite has FULL only for ENOSPC; all other causes of a failed write have these codes."""
_SEEMS_DAMAGED: Final = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
"""Error codes of a file that is unreadable, and possibly damaged."""
_READING: Final = {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN}
_NOT_TEXT: Final = "decode to UTF-8"
"""Part of the message of the module `sqlite3`, which gives this error no code."""
_REPAIR: Final = "restore it from a backup, or save what can be read with `sqlite3 FILE .recover`"
_ALLOW: Final = "let the user of this process read and write the file and its folder"
_PROBLEMS: Final[dict[int, tuple[type[StoreError], str, str]]] = {
    sqlite3.SQLITE_FULL: (StoreFullError, "cannot grow: {}", ROOM),
    sqlite3.SQLITE_NOTADB: (
        ForeignFileError,
        "is not a SQLite database",
        "pass a file that toolgen created, or a new one",
    ),
    sqlite3.SQLITE_CORRUPT: (StoreCorruptError, "is damaged: {}", _REPAIR),
    sqlite3.SQLITE_CANTOPEN: (StoreDiskError, "cannot be opened: {}", f"{_ALLOW}; {FAILING}"),
    sqlite3.SQLITE_IOERR: (StoreDiskError, "cannot be read or written: {}", FAILING),
}
_OTHER_PROBLEM: Final = (StoreError, "cannot be used: {}", "check the file, its folder and its disk")
_OURS: Final = {
    sqlite3.SQLITE_CONSTRAINT,
    sqlite3.SQLITE_MISMATCH,
    sqlite3.SQLITE_MISUSE,
    sqlite3.SQLITE_RANGE,
}
"""Error codes that only a wrong statement causes; the file is not at fault."""


_UNREADABLE: Final = (
    ValueError,
    TypeError,
    LookupError,
    RecursionError,
    OverflowError,
    sqlite3.DatabaseError,
)
"""Exceptions when reading a damaged row; of the SQLite errors, only those that `is_damage` accepts."""


class SuspectedDamageError(Exception):
    """A row looked damaged at the first read; a second read decides whether it is."""


class _Look(threading.local):
    """State of the thread while it reads a file."""

    is_first = False


look: Final = _Look()
"""Set by code that reads a file again, with a new connection, before it reports damage."""


class DamagedRowError(Exception):
    """A row was changed or damaged; the message names the unreadable object, for example a run."""

    def at(self, path: Path) -> StoreCorruptError:
        """Return the error for the file that contains the row."""
        return StoreCorruptError(f"is damaged: {self}", path=path, hint=_REPAIR)


@contextmanager
def reading(what: Callable[[], str]) -> Iterator[None]:
    """Read rows; `what` returns the name of their object, for example a run.

    Raises:
        DamagedRowError: a row was changed or damaged.
        SuspectedDamageError: a row looks damaged, at the first read.
    """
    try:
        yield
    except _UNREADABLE as error:
        if isinstance(error, sqlite3.Error) and not is_damage(error):
            raise
        # the frames keep the cursor, which keeps the snapshot of the connection
        clear_frames(error.__traceback__)
        if look.is_first:
            raise SuspectedDamageError from error
        raise DamagedRowError(f"{what()} cannot be read: {_reason(error)}") from error


def require_second_look(error: DamagedRowError | None = None) -> None:
    """Raise at the first read, so that suspected damage is read again before it is skipped or reported.

    Raises:
        SuspectedDamageError: this is the first read.
    """
    if look.is_first:
        raise SuspectedDamageError from error


def is_damage(error: sqlite3.Error) -> bool:
    """Return whether the file is damaged, or a text in it is not UTF-8 according to the message."""
    code = _primary_code(error)
    return code == sqlite3.SQLITE_CORRUPT or (code is None and _NOT_TEXT in str(error))


def _reason(error: BaseException) -> str:
    """Return the cause without any content of the row."""
    if isinstance(error, sqlite3.Error) and _NOT_TEXT in str(error):
        return "a text is not UTF-8"
    if isinstance(error, sqlite3.Error):
        return str(error)
    return f"it is damaged ({type(error).__name__})"


def is_busy(error: sqlite3.Error) -> bool:
    """Return whether another connection locks the file, so that a retry could succeed."""
    return _primary_code(error) in _BUSY


def is_worth_a_second_look(error: BaseException, *, reads: bool) -> bool:
    """Return whether to retry with a new connection: the file seems damaged, or a read failed."""
    if not isinstance(error, sqlite3.Error):
        return isinstance(error, DamagedRowError | SuspectedDamageError | UnicodeDecodeError)
    code = _primary_code(error)
    return is_damage(error) or code in _SEEMS_DAMAGED or (reads and code in _READING)


def is_about_the_file(error: sqlite3.Error) -> bool:
    """Return whether the file or its disk is the cause, and not a wrong statement of the caller."""
    code = _primary_code(error)
    return is_damage(error) if code is None else code not in _OURS


def store_error(error: Exception, path: Path, *, busy_s: float) -> StoreError:
    """Return the store error for an error of SQLite or of a row, after the last read of the file.

    `busy_s` is the number of seconds that the step waited for others. A file only counts as damaged if the
    system can read it completely.
    """
    problem = _store_error(error, path, busy_s)
    if isinstance(problem, StoreCorruptError | ForeignFileError) and (fault := read_fault(path)):
        return unreadable(path, fault)
    return problem


def unreadable(path: Path, fault: OSError) -> StoreError:
    """Return the error for a file that the system cannot read."""
    return system_error(fault, path, "cannot be read", allow=_ALLOW, hint=FAILING)


def _store_error(error: Exception, path: Path, busy_s: float) -> StoreError:
    if isinstance(error, DamagedRowError):
        return error.at(path)
    if isinstance(error, UnicodeDecodeError):  # raised for a SQLite message that quotes the file
        return DamagedRowError("its tables cannot be read").at(path)
    assert isinstance(error, sqlite3.Error), "no other error is about a file"
    primary = _primary_code(error)
    if primary is None:
        return DamagedRowError(f"a row cannot be read: {_reason(error)}").at(path)
    if primary in _BUSY:
        return StoreLockedError(
            f"has been locked by another process for {busy_s:g} s",
            path=path,
            hint="find the process that has the file open (lsof, fuser), stop it, and try again",
        )
    if error.sqlite_errorcode in _WRITING:
        return system_error(write_fault(path), path, "cannot be written to", allow=_ALLOW, hint=FAILING)
    if primary == sqlite3.SQLITE_READONLY:
        hint = READ_ONLY if is_read_only(path) else _ALLOW
        return StoreReadOnlyError(f"cannot be written to: {error}", path=path, hint=hint)
    kind, problem, hint = _PROBLEMS.get(primary, _OTHER_PROBLEM)
    return kind(problem.format(error), path=path, hint=hint)


def _primary_code(error: sqlite3.Error) -> int | None:
    """Return the result code without its extension; None for an error of the module `sqlite3` itself."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF
