"""Checks the disk of a file without SQLite, which cannot distinguish damage from a failing read.

SQLite reports an unreadable page as damage, and reports every failed write as the same error unless the disk
is full.
"""

from __future__ import annotations

import errno
import os
import resource
import tempfile
from pathlib import Path
from typing import Final

_PIECE: Final = 2**12
"""Size of one read in bytes; with many reads, a disk that fails only sometimes is likely to fail once."""
_DRAFT: Final = bytes(2**16)
_descriptors: dict[tuple[int, int], int] = {}
"""Descriptors of SQLite files, by device and inode. Closing one would drop the locks that SQLite has on the
file (POSIX), so they stay open. Only files that were suspected of damage are here."""


def read_fault(path: Path) -> OSError | None:
    """Return why a SQLite file or its write-ahead log cannot be read to its end; None if both can."""
    try:
        status = os.stat(path)
        key = (status.st_dev, status.st_ino)
        if key not in _descriptors:
            _descriptors[key] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        _read_all(_descriptors[key], status.st_size)
    except OSError as error:
        return error
    try:
        log = os.open(f"{path}-wal", os.O_RDONLY | os.O_CLOEXEC)  # SQLite has no locks on it
    except FileNotFoundError:
        return None
    except OSError as error:
        return error
    try:
        _read_all(log, 0)
    except OSError as error:
        return error
    finally:
        os.close(log)
    return None


def _read_all(descriptor: int, size: int) -> None:
    """Read a file to its end.

    Raises:
        OSError: it cannot be read, or is shorter than `size` bytes.
    """
    offset = 0
    while piece := os.pread(descriptor, _PIECE, offset):
        offset += len(piece)
    if offset < size:
        raise OSError(errno.EIO, "its end cannot be read")


def write_fault(path: Path) -> OSError:
    """Return why nothing can be written beside a file; an `EIO` error if writing works."""
    soft, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    if soft != resource.RLIM_INFINITY:
        return OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f"{path.name}.") as draft:
            draft.write(_DRAFT)
            draft.flush()
            os.fsync(draft.fileno())
    except OSError as error:
        return error
    return OSError(errno.EIO, os.strerror(errno.EIO))


def is_read_only(path: Path) -> bool:
    """Return whether the disk of a file is mounted read-only."""
    try:
        return bool(os.statvfs(path.parent).f_flag & os.ST_RDONLY)
    except OSError:
        return False
