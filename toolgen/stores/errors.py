"""Errors of the file, the folder or the server of a store; nothing of the failed step was stored.

Only a `StoreConnectionError` with `is_unknown` leaves open whether the step was stored.

StoreError                   any other failure
├── StoreLockedError         another process writes for too long; temporary
├── StoreDiskError           the disk cannot be read or written; temporary
├── StoreFullError           the disk or the quota has no room for the data; temporary
├── StoreReadOnlyError       the file or its folder cannot be written to; temporary
├── StoreMissingError        the file was removed while it was open, or its folder does not exist; temporary
├── StoreCorruptError        the file is damaged
├── StoreFormatError         another version of toolgen wrote the file
├── ForeignFileError         the file has other contents
├── ForeignSecretError       its data was encrypted with another secret
├── UnsafeFileError          others can write the file, or read its secret, or it links out of its folder
├── LeaseLostError           the file of a lock was removed or replaced, so another process might hold it
├── ReplacedFileError        the file was replaced by another one
├── StoreConnectionError     the server cannot be reached, or closed the connection; temporary
└── StoreClosedError         the store was closed

After a temporary error, the same step might work later, because no stored data is wrong (`outages.py`).
"""

from __future__ import annotations

import errno
from pathlib import Path
from typing import ClassVar, Final

from toolgen.contract.errors import ToolgenError

_NOT_ALLOWED: Final = frozenset((errno.EACCES, errno.EPERM))
_NO_ROOM: Final = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG))
"""The disk is full, or the quota or the file size limit is reached."""
_FAILS: Final = frozenset(
    (errno.EIO, errno.ENXIO, errno.ENODEV, errno.ESTALE, errno.ETIMEDOUT, errno.ENOTCONN)
)
_LACKS: Final = frozenset((errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOLCK, errno.EAGAIN))
"""The process or its machine has run out of a resource for opening, locking or reading files."""
READ_ONLY: Final = (
    "mount its disk for writing, and find out why it is read-only: a system does that after disk errors"
)
FAILING: Final = (
    "check the messages of the system about its disk (dmesg); do not restore the file yet, it may be intact"
)
_LIMITS: Final = "stop processes with many open files, or raise the limits of this process (ulimit -n)"
ROOM: Final = "free space on its disk, or raise the quota, and try again"


class StoreError(ToolgenError):
    """A store cannot be used; the message names its file or its server."""

    is_temporary: ClassVar[bool] = False
    """Whether the same step might work later, because no stored data is wrong."""
    public_text: ClassVar[str] = "a store of the runtime cannot be used, and the log has the details"
    """Text for clients and models, without the name of a server or file."""

    def __init__(self, message: str, *, path: Path | None = None, server: str = "", hint: str) -> None:
        super().__init__(f"{server or repr(str(path))} {message}", hint=hint)
        self.path = path
        """Path of the file or folder; None for a store on a server."""
        self.server = server
        """Server and database, without a password; "" for a store in files."""


class StoreLockedError(StoreError):
    """Another process locks the file for longer than a step waits."""

    is_temporary = True
    public_text = "a store of the runtime is locked by another process"


class StoreDiskError(StoreError):
    """The disk of the file cannot be read or written, or the process cannot open more files for now.

    The contents of the file are not known to be damaged.
    """

    is_temporary = True
    public_text = "the disk of a store of the runtime fails"


class StoreFullError(StoreError):
    """The disk or the quota has no room for the data to be written."""

    is_temporary = True
    public_text = "a store of the runtime is out of space"


class StoreReadOnlyError(StoreError):
    """The file, or the folder that holds it, cannot be written to."""

    is_temporary = True
    public_text = "a store of the runtime cannot be written to"


class StoreMissingError(StoreError):
    """The file was removed while it was open, or its folder does not exist."""

    is_temporary = True
    public_text = "a store of the runtime is missing"


class StoreCorruptError(StoreError):
    """The file is damaged."""


class StoreFormatError(StoreError):
    """The file has a format that this version of toolgen does not read."""


class ForeignFileError(StoreError):
    """The file has other contents than the store expects."""


class ForeignSecretError(StoreError):
    """The data of the store was encrypted with another secret than the one passed now."""


class UnsafeFileError(StoreError):
    """Every user can write the file, others can read its secret, or it links out of its folder."""


class LeaseLostError(StoreError):
    """The file of a lock was removed or replaced, so another process might hold the lock too."""


class ReplacedFileError(StoreError):
    """The file is another one than the files beside it expect."""


class StoreConnectionError(StoreError):
    """The server cannot be reached, or closed the connection."""

    is_temporary = True
    public_text = "a store of the runtime cannot be reached"

    def __init__(self, message: str, *, server: str, hint: str, is_unknown: bool = False) -> None:
        super().__init__(message, server=server, hint=hint)
        self.is_unknown = is_unknown
        """Whether it is unknown if the step was stored."""


class StoreClosedError(StoreError):
    """The store was closed."""


def system_error(error: OSError, path: Path, what: str, *, allow: str, hint: str) -> StoreError:
    """Return the store error for an error of the operating system.

    Args:
        error: The error.
        path: The file or folder.
        what: The failed operation, for example "cannot be created".
        allow: Hint if the process lacks the permission.
        hint: Hint for all other causes.
    """
    message = f"{what}: {error.strerror}"
    if error.errno in _NOT_ALLOWED:
        return StoreReadOnlyError(message, path=path, hint=allow)
    if error.errno == errno.EROFS:
        return StoreReadOnlyError(message, path=path, hint=READ_ONLY)
    if error.errno in _NO_ROOM:
        return StoreFullError(message, path=path, hint=ROOM)
    if error.errno in _FAILS:
        return StoreDiskError(message, path=path, hint=FAILING)
    if error.errno in _LACKS:
        return StoreDiskError(message, path=path, hint=_LIMITS)
    return StoreError(message, path=path, hint=hint)
