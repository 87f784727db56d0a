"""Locks of folders, which are released when the process that holds them ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(
    folder: Path, *, shared: bool = False, on_wait: Callable[[], object] | None = None
) -> Iterator[bool]:
    """Yield whether the folder is locked; Windows and some network file systems cannot lock.

    If another process holds the lock, call `on_wait` and wait; without `on_wait`, do not wait.
    """
    if sys.platform == "win32":
        yield False
        return
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield _lock(opened, shared, on_wait)
    finally:
        os.close(opened)


def _lock(opened: int, shared: bool, on_wait: Callable[[], object] | None) -> bool:
    import fcntl  # not available on Windows

    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        fcntl.flock(opened, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        if on_wait is None:
            return False
        on_wait()
        fcntl.flock(opened, kind)
    except OSError:
        return False
    return True
