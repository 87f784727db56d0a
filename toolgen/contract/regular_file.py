"""Reads untrusted files: only regular files, of a bounded size."""

from __future__ import annotations

from errno import EFBIG, EINVAL
from pathlib import Path
from stat import S_ISREG


def read_regular(file: Path, most_bytes: int) -> bytes:
    """Return the bytes of a file.

    Raises:
        OSError: it cannot be read, has more bytes, or is a FIFO or a device, which could be read forever.
    """
    if not S_ISREG(file.stat().st_mode):
        raise OSError(EINVAL, "it is not a regular file")
    with file.open("rb") as opened:
        data = opened.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise OSError(EFBIG, f"it has more than {most_bytes:,} bytes")
    return data
