"""Errors of the file, the folder or the server of a store; nothing of the failed step was stored.

The exception is a `StoreConnectionError` that says so.

StoreError                   any other failure
├── StoreLockedError         another process writes for too long; temporary
├── StoreDiskError           the disk cannot be read or written; temporary
├── StoreFullError           there is no room for what was to be written; temporary
├── StoreReadOnlyError       the file or its folder cannot be written to; temporary
├── StoreMissingError        the file was removed while it was open, or its folder does not exist; temporary
├── StoreCorruptError        the file is damaged
├── StoreFormatError         another version of toolgen wrote the file
├── ForeignFileError         the file holds something else
├── ForeignSecretError       what it keeps was encrypted with another secret
├── UnsafeFileError          others can write the file, or read a secret in it, or it is a link elsewhere
├── LeaseLostError           the file of a lock was removed or replaced, so that another process may have it
├── ReplacedFileError        the file is another one than before
├── StoreConnectionError     the server cannot be reached, or closed the connection; temporary
└── StoreClosedError         the store was closed

Of a temporary error the same step may work later, since nothing that is kept is wrong (`outages.py`).
"""

from __future__ import annotations

import errno
from pathlib import Path
from typing import ClassVar, Final

from toolgen.contract.errors import ToolgenError

_NOT_ALLOWED: Final = frozenset((errno.EACCES, errno.EPERM))
_NO_ROOM: Final = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG))
"""The disk is full, or the quota or the limit of the size of a file reached."""
_FAILS: Final = frozenset(
    (errno.EIO, errno.ENXIO, errno.ENODEV, errno.ESTALE, errno.ETIMEDOUT, errno.ENOTCONN)
)
_LACKS: Final = frozenset((errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOLCK, errno.EAGAIN))
"""The process or its machine has no more of what it takes to open, lock or read a file."""
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
    """The same step may work later: nothing that is kept is wrong."""
    public_text: ClassVar[str] = "a store of the runtime cannot be used, and the log has the details"
    """Text for clients and models, without the name of a server or file."""

    def __init__(self, message: str, *, path: Path | None = None, server: str = "", hint: str) -> None:
        super().__init__(f"{server or repr(str(path))} {message}", hint=hint)
        self.path = path
        """The file or folder; None for a store on a server."""
        self.server = server
        """The server and its database, without a password; "" for a store in files."""


class StoreLockedError(StoreError):
    """Another process holds the file for longer than a step waits."""

    is_temporary = True
    public_text = "a store of the runtime is locked by another process"


class StoreDiskError(StoreError):
    """The disk of the file cannot be read or written, or nothing more can be opened for now.

    What the file holds is not known to be damaged.
    """

    is_temporary = True
    public_text = "the disk of a store of the runtime fails"


class StoreFullError(StoreError):
    """There is no room for what was to be written."""

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
    """The file holds something else than the store keeps."""


class ForeignSecretError(StoreError):
    """What the store keeps was encrypted with another secret than it was opened with."""


class UnsafeFileError(StoreError):
    """Every user can write the file, others can read the secret in it, or a link leads out of its folder."""


class LeaseLostError(StoreError):
    """The file of a lock was removed or replaced, so that another process may have the lock too."""


class ReplacedFileError(StoreError):
    """The file is another one than what is kept beside it knows."""


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
    """Return the store error for an error of the system.

    Args:
        error: What the system has raised.
        path: The file or folder.
        what: What failed, such as "cannot be created".
        allow: The hint where the user may not write.
        hint: What else to do.
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
