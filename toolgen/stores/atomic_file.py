"""Writes a store file atomically, so that a kill or a power failure never leaves a partial file."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from .folder_sync import sync_folder

MODE: Final = 0o600
"""Mode of a new file: only its owner can access it."""
_BYTES: Final = 8
"""Number of random bytes in the name of a draft file."""


def write_atomically(path: Path, pieces: Iterable[bytes], *, replaces: bool = True) -> None:
    """Write a file that only its owner can access, and return when it is on disk under its name.

    The file is written under another name in the same folder, synced, and moved. Without `replaces`, an
    existing file stays unchanged, so the first of several processes wins.

    Raises:
        OSError: the file cannot be written; an existing file stays unchanged.
    """
    draft = path.with_name(f"{path.name}.{secrets.token_hex(_BYTES)}.new")
    descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, MODE)
    try:
        with open(descriptor, "wb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(descriptor)
        if replaces:
            os.replace(draft, path)
        else:
            with suppress(FileExistsError):
                os.link(draft, path)
        sync_folder(path.parent)
    finally:
        with suppress(OSError):
            os.unlink(draft)


def remove_drafts(path: Path) -> None:
    """Remove the drafts that killed processes left of a file; no other process may be writing the file."""
    is_draft = re.compile(rf"{re.escape(path.name)}\.[0-9a-f]{{{2 * _BYTES}}}\.new").fullmatch
    for file in path.parent.iterdir():
        if is_draft(file.name):
            file.unlink(missing_ok=True)
