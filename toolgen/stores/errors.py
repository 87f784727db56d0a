"""Errors of the file, the folder or the server of a store; nothing of the failed step was stored.

The exception is a `StoreConnectionError` that says so.

StoreError                   any other failure, such as of the disk
├── StoreLockedError         another process writes for too long; temporary
├── StoreFullError           there is no room for what was to be written
├── StoreReadOnlyError       the file or its folder cannot be written to
├── StoreMissingError        the file was removed while it was open, or its folder does not exist
├── StoreCorruptError        the file is damaged
├── StoreFormatError         another version of toolgen wrote the file
├── ForeignFileError         the file holds something else
├── ForeignSecretError       what it keeps was encrypted with another secret
├── UnsafeFileError          others than the user of this process can read or write the file
├── LeaseLostError           the file of a lock was removed or replaced, so that another process may have it
├── ReplacedFileError        the file is another one than before
├── StoreConnectionError     the server cannot be reached, or closed the connection; temporary
└── StoreClosedError         the store was closed

Of a temporary error the same step may work later, without anybody who repairs something (`outages.py`).
"""

from __future__ import annotations

import errno
from pathlib import Path
from typing import ClassVar, Final

from toolgen.contract.errors import ToolgenError

_NOT_WRITABLE: Final = frozenset((errno.EACCES, errno.EPERM, errno.EROFS))
_NO_ROOM: Final = frozenset((errno.ENOSPC, errno.EDQUOT))
"""The disk is full, or the quota reached."""


class StoreError(ToolgenError):
    """A store cannot be used; the message names its file or its server."""

    is_temporary: ClassVar[bool] = False
    """The same step may work later, without anybody who repairs something."""

    def __init__(self, message: str, *, path: Path | None = None, server: str = "", hint: str) -> None:
        super().__init__(f"{server or repr(str(path))} {message}", hint=hint)
        self.path = path
        """The file or folder; None for a store on a server."""
        self.server = server
        """The server and its database, without a password; "" for a store in files."""


class StoreLockedError(StoreError):
    """Another process holds the file for longer than a step waits."""

    is_temporary = True


class StoreFullError(StoreError):
    """There is no room for what was to be written."""


class StoreReadOnlyError(StoreError):
    """The file, or the folder that holds it, cannot be written to."""


class StoreMissingError(StoreError):
    """The file was removed while it was open, or its folder does not exist."""


class StoreCorruptError(StoreError):
    """The file is damaged."""


class StoreFormatError(StoreError):
    """The file has a format that this version of toolgen does not read."""


class ForeignFileError(StoreError):
    """The file holds something else than the store keeps."""


class ForeignSecretError(StoreError):
    """What the store keeps was encrypted with another secret than it was opened with."""


class UnsafeFileError(StoreError):
    """Others than the user of this process can read or write the file, which holds a secret."""


class LeaseLostError(StoreError):
    """The file of a lock was removed or replaced, so that another process may have the lock too."""


class ReplacedFileError(StoreError):
    """The file is another one than what is kept beside it knows."""


class StoreConnectionError(StoreError):
    """The server cannot be reached, or closed the connection."""

    is_temporary = True

    def __init__(self, message: str, *, server: str, hint: str, is_unknown: bool = False) -> None:
        super().__init__(message, server=server, hint=hint)
        self.is_unknown = is_unknown
        """Nobody knows whether the step was stored."""


class StoreClosedError(StoreError):
    """The store was closed."""


def system_error(error: OSError, path: Path, what: str, *, allow: str, hint: str) -> StoreError:
    """Return the store error for an error of the system.

    Args:
        error: What the system has raised.
        path: The file or folder.
        what: What failed, such as "cannot be created".
        allow: The hint where the user may not write.
        hint: What else to do.
    """
    message = f"{what}: {error.strerror}"
    if error.errno in _NOT_WRITABLE:
        return StoreReadOnlyError(message, path=path, hint=allow)
    if error.errno in _NO_ROOM:
        return StoreFullError(message, path=path, hint="free space on its disk, or raise the quota")
    return StoreError(message, path=path, hint=hint)
