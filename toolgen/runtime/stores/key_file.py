"""A secret in a file of its own, which only the user of this process can read.

Whoever can read the file can approve calls, and whoever can replace it too, so nothing else is taken: as ssh
does with private keys.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from pathlib import Path
from typing import Final

from .errors import ForeignFileError, StoreCorruptError, StoreError, UnsafeFileError

_BYTES: Final = 32
_MODE: Final = 0o600
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""No link is followed, and no FIFO or device is waited for."""


def read_key(path: Path) -> bytes | None:
    """Return the 32 bytes of a key file; None where it is missing.

    Raises:
        ForeignFileError: it is a link, a folder, a device or a FIFO.
        UnsafeFileError: others may read or write it, or it belongs to another user.
        StoreCorruptError: it has another length.
        StoreError: it cannot be read.
    """
    try:
        descriptor = os.open(path, _READ)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):
            raise _foreign(path) from error
        raise _unusable(path, error) from error
    try:
        _require_ours(path, os.fstat(descriptor))
        key = os.read(descriptor, _BYTES + 1)
    except OSError as error:
        raise _unusable(path, error) from error
    finally:
        os.close(descriptor)
    if len(key) != _BYTES:
        size = "more" if len(key) > _BYTES else len(key)
        raise StoreCorruptError(
            f"has {size} bytes and not the {_BYTES} of a key", path=path, hint="restore it from a backup"
        )
    return key


def create_key(path: Path) -> bytes:
    """Create a key file for its owner only, unless it is there, and return its content.

    Raises:
        StoreError: it cannot be created, or as `read_key`.
    """
    try:
        _create(path)
    except OSError as error:
        raise _unusable(path, error) from error
    key = read_key(path)
    assert key is not None, "it was just there"
    return key


def _require_ours(path: Path, facts: os.stat_result) -> None:
    """Raise for what is no file, and for a file that is not for this user alone."""
    if not stat.S_ISREG(facts.st_mode):
        raise _foreign(path)
    if facts.st_uid != os.geteuid():
        raise UnsafeFileError(
            f"belongs to the user {facts.st_uid}, and this process is {os.geteuid()}",
            path=path,
            hint="run as its owner, or give all processes the same Runtime(secret=…)",
        )
    if facts.st_mode & _OTHERS:
        raise UnsafeFileError(
            f"has the mode {stat.S_IMODE(facts.st_mode):04o}, by which others may read or write it",
            path=path,
            hint=f"if nobody else has read it: chmod 600 {path}",
        )


def _foreign(path: Path) -> ForeignFileError:
    return ForeignFileError(
        "is no regular file, and a key is kept in one", path=path, hint="move it away, and restore the key"
    )


def _unusable(path: Path, error: OSError) -> StoreError:
    return StoreError(
        f"cannot be read or created: {error.strerror}",
        path=path,
        hint="let the user of this process read the file, and write to its folder",
    )


def _create(path: Path) -> None:
    """Create the file whole or not at all; the first of several processes counts."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, _MODE)
    try:
        try:
            os.write(descriptor, secrets.token_bytes(_BYTES))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.link(draft, path)
        _sync_folder(path.parent)
    except FileExistsError:
        pass
    finally:
        os.unlink(draft)


def _sync_folder(folder: Path) -> None:
    """Keep the name of a new file over a loss of power: what is sealed with it may be kept before."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
