"""The lease on a file: one process holds it, and the operating system releases it when that ends."""

from __future__ import annotations

import fcntl
import os
import weakref
from collections.abc import Callable
from pathlib import Path

_MODE = 0o600


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
        """Take the lease unless it is held, in this process or another; return whether it was taken."""
        if self._descriptor is not None:
            return True
        descriptor = os.open(self._path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, _MODE)
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
