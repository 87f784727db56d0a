"""Private files of this user: which files are accepted, how they are opened, and their uses.

One process holds a `Lease`, and the operating system releases it when the process ends. A user who can read
or replace a key file can approve calls, so only private files are accepted, as ssh does for private keys.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import stat
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from .atomic_file import MODE, write_atomically
from .errors import (
    ForeignFileError,
    LeaseLostError,
    StoreCorruptError,
    StoreError,
    UnsafeFileError,
    system_error,
)

_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_SAFELY: Final = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""Flags that follow no link, and wait for no FIFO or device."""
_BYTES: Final = 32
_OR_SECRET: Final = ", or give all processes the same Runtime(secret=…)"


def open_own(path: Path, flags: int, *, content: str, instead: str = "") -> int:
    """Open a file and return its descriptor.

    Args:
        path: The file.
        flags: As for `os.open`.
        content: Purpose of the file, for messages.
        instead: Alternative for another user, for a hint.

    Raises:
        FileNotFoundError: the file is missing, and `flags` do not create it.
        ForeignFileError: it is a link, a folder, a device or a FIFO.
        UnsafeFileError: others can read or write it, or it belongs to another user.
        StoreError: it cannot be opened.
    """
    try:
        descriptor = os.open(path, flags | _SAFELY, MODE)
    except FileNotFoundError:
        raise
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO, errno.EISDIR):
            raise _foreign(path, content) from error
        raise unusable_file(path, error) from error
    try:
        _require_ours(path, os.fstat(descriptor), content, instead)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def is_open_at(path: Path, descriptor: int) -> bool:
    """Return whether a path leads to the open file, so that it was neither removed nor replaced."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except OSError:
        return False


def unusable_file(path: Path, error: OSError) -> StoreError:
    """Return the error for a file that cannot be read, written or created."""
    hint = "let the user of this process read the file, and write to its folder"
    return system_error(error, path, "cannot be read or created", allow=hint, hint=hint)


def _require_ours(path: Path, facts: os.stat_result, content: str, instead: str) -> None:
    """Raise if this is not a regular file, or if other users own it or can access it."""
    if not stat.S_ISREG(facts.st_mode):
        raise _foreign(path, content)
    if facts.st_uid != os.geteuid():
        raise UnsafeFileError(
            f"belongs to the user {facts.st_uid}, but this process runs as {os.geteuid()}",
            path=path,
            hint=f"run it as its owner{instead}",
        )
    if facts.st_mode & _OTHERS:
        raise UnsafeFileError(
            f"has the mode {stat.S_IMODE(facts.st_mode):04o}, which lets other users read or write it",
            path=path,
            hint=f"if nobody else has used it: chmod 600 {path}",
        )


def _foreign(path: Path, content: str) -> ForeignFileError:
    return ForeignFileError(
        f"is not a regular file, which a {content} needs",
        path=path,
        hint=f"move it away and restore the {content}",
    )


class Lease:
    """A lock (`flock`) on a file that contains the id of the process that holds it.

    The lock ends with `release`, when the object is garbage collected, or when the process ends. A forked
    process does not hold it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None
        self._close: Callable[[], object] = lambda: None
        _leases.add(self)

    def acquire(self) -> bool:
        """Take the lease unless it is held, in this process or another; return whether it was taken.

        Raises:
            ForeignFileError: the path does not lead to a regular file.
            UnsafeFileError: others can use the file, or it belongs to another user.
            StoreError: it cannot be opened, locked or written.
        """
        if self._descriptor is not None and is_open_at(self._path, self._descriptor):
            return True
        self.release()
        descriptor = open_own(self._path, os.O_CREAT | os.O_RDWR, content="lock")
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(descriptor, 0)
            os.write(descriptor, str(os.getpid()).encode())
        except BlockingIOError:
            os.close(descriptor)
            return False
        except BaseException as error:
            os.close(descriptor)
            if isinstance(error, OSError):
                raise unusable_file(self._path, error) from error
            raise
        self._descriptor = descriptor
        self._close = weakref.finalize(self, os.close, descriptor)
        return True

    def require_file(self) -> None:
        """Raise if this lease is held but its file is gone from the path, so that another could be taken.

        Raises:
            LeaseLostError: the file was removed or replaced.
        """
        if self._descriptor is not None and not is_open_at(self._path, self._descriptor):
            raise LeaseLostError(
                "was removed or replaced while this process used it",
                path=self._path,
                hint="restart this process, and leave the file where it is",
            )

    def check(self) -> None:
        """Raise if the file cannot be used for a lock; while the lease is not held, the file can be missing.

        Raises:
            StoreError: as `acquire`.
        """
        with suppress(FileNotFoundError):
            os.close(open_own(self._path, os.O_RDONLY, content="lock"))

    def holder(self) -> str:
        """Return the id of the last process that took the lease; for messages."""
        try:
            return self._path.read_text("utf-8").strip()
        except OSError:
            return ""

    def release(self) -> None:
        """Release the lease; no effect if it is not held."""
        self._descriptor = None
        self._close()


_leases: weakref.WeakSet[Lease] = weakref.WeakSet()


def _leave_to_parent() -> None:
    """Close, in a forked process, files that would keep the parent's leases locked after the parent ends."""
    for lease in list(_leases):
        lease.release()


os.register_at_fork(after_in_child=_leave_to_parent)


def read_key(path: Path) -> bytes | None:
    """Return the 32 bytes of a key file; None if it is missing.

    Raises:
        ForeignFileError: it is a link, a folder, a device or a FIFO.
        UnsafeFileError: others can read or write it, or it belongs to another user.
        StoreCorruptError: it has another length.
        StoreError: it cannot be read.
    """
    try:
        descriptor = open_own(path, os.O_RDONLY, content="key", instead=_OR_SECRET)
    except FileNotFoundError:
        return None
    try:
        key = os.read(descriptor, _BYTES + 1)
    except OSError as error:
        raise unusable_file(path, error) from error
    finally:
        os.close(descriptor)
    if len(key) != _BYTES:
        size = "more" if len(key) > _BYTES else len(key)
        raise StoreCorruptError(
            f"has {size} bytes, but a key has {_BYTES}", path=path, hint="restore it from a backup"
        )
    return key


def create_key(path: Path) -> bytes:
    """Create a key file for its owner only, unless it exists, and return its content.

    Raises:
        StoreError: it cannot be created, or as `read_key`.
    """
    try:
        # Data sealed with the key can be stored before the folder is written, so the folder is synced, too.
        write_atomically(path, [secrets.token_bytes(_BYTES)], replaces=False)
    except OSError as error:
        raise unusable_file(path, error) from error
    key = read_key(path)
    assert key is not None, "it was just there"
    return key
