"""Files for the user of this process alone, such as keys and locks: which are taken, and how they open."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Final

from .errors import ForeignFileError, StoreError, UnsafeFileError, system_error

MODE: Final = 0o600
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_SAFELY: Final = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""No link is followed, and no FIFO or device is waited for."""


def open_own(path: Path, flags: int, *, content: str, instead: str = "") -> int:
    """Open a file and return its descriptor.

    Args:
        path: The file.
        flags: As those of `os.open`.
        content: What it is for, in messages.
        instead: What another user may do, in a hint.

    Raises:
        FileNotFoundError: it is missing, and not to be created.
        ForeignFileError: it is a link, a folder, a device or a FIFO.
        UnsafeFileError: others may read or write it, or it belongs to another user.
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
    """Return whether a path leads to the file that is open: nobody has removed or replaced it."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except OSError:
        return False


def unusable_file(path: Path, error: OSError) -> StoreError:
    """Return the error of a file that cannot be read, written or created."""
    hint = "let the user of this process read the file, and write to its folder"
    return system_error(error, path, "cannot be read or created", allow=hint, hint=hint)


def _require_ours(path: Path, facts: os.stat_result, content: str, instead: str) -> None:
    """Raise for what is no file, and for a file that is not for this user alone."""
    if not stat.S_ISREG(facts.st_mode):
        raise _foreign(path, content)
    if facts.st_uid != os.geteuid():
        raise UnsafeFileError(
            f"belongs to the user {facts.st_uid}, and this process is {os.geteuid()}",
            path=path,
            hint=f"run as its owner{instead}",
        )
    if facts.st_mode & _OTHERS:
        raise UnsafeFileError(
            f"has the mode {stat.S_IMODE(facts.st_mode):04o}, by which others may read or write it",
            path=path,
            hint=f"if nobody else has used it: chmod 600 {path}",
        )


def _foreign(path: Path, content: str) -> ForeignFileError:
    return ForeignFileError(
        f"is no regular file, and a {content} is kept in one",
        path=path,
        hint=f"move it away, and restore the {content}",
    )
