"""Makes the names of new files survive a power failure, by syncing their folder."""

from __future__ import annotations

import os
from pathlib import Path


def sync_folder(folder: Path) -> None:
    """Write the names of a folder's files to its disk; Windows does that automatically.

    Raises:
        OSError: the disk cannot be written to.
    """
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
