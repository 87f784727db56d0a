"""The lease on a file: one process holds it, and the operating system releases it when that ends."""

from __future__ import annotations

import fcntl
import os
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from .errors import LeaseLostError
from .own_file import is_open_at, open_own


class Lease:
    """A lock (`flock`) on a file that holds the id of the process that has it.

    It is given back by `release`, when nobody has the object any more, or when the process ends. A process
    that is forked off does not have it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None
        self._close: Callable[[], object] = lambda: None
        _leases.add(self)

    def acquire(self) -> bool:
        """Take the lease unless it is held, in this process or another; return whether it was taken.

        Raises:
            ForeignFileError: the path leads to no regular file.
            UnsafeFileError: others may use the file, or it belongs to another user.
            StoreError: it cannot be opened.
        """
        if self._descriptor is not None and is_open_at(self._path, self._descriptor):
            return True
        self.release()
        descriptor = open_own(self._path, os.O_CREAT | os.O_RDWR, content="lock")
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
        except BaseException:
            os.close(descriptor)
            raise
        os.ftruncate(descriptor, 0)
        os.write(descriptor, str(os.getpid()).encode())
        self._descriptor = descriptor
        self._close = weakref.finalize(self, os.close, descriptor)
        return True

    def require_file(self) -> None:
        """Raise where the file of a lease that is held is not at its path any more: another may be taken.

        Raises:
            LeaseLostError: as said.
        """
        if self._descriptor is not None and not is_open_at(self._path, self._descriptor):
            raise LeaseLostError(
                "was removed or replaced under the process that holds it",
                path=self._path,
                hint="restart this process, and leave the file where it is",
            )

    def check(self) -> None:
        """Raise where the file cannot be used for a lock; it may be missing while nobody holds it.

        Raises:
            StoreError: as `acquire`.
        """
        with suppress(FileNotFoundError):
            os.close(open_own(self._path, os.O_RDONLY, content="lock"))

    def holder(self) -> str:
        """Return the id of the process that has taken the lease last; for messages."""
        try:
            return self._path.read_text("utf-8").strip()
        except OSError:
            return ""

    def release(self) -> None:
        """Release the lease; no effect without one."""
        self._descriptor = None
        self._close()


_leases: weakref.WeakSet[Lease] = weakref.WeakSet()


def _leave_to_parent() -> None:
    """Close, in a forked process, files that would hold the leases of its parent after its end."""
    for lease in list(_leases):
        lease.release()


os.register_at_fork(after_in_child=_leave_to_parent)
