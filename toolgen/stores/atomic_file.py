"""Writes a file of a store atomically, so that a kill or power failure never leaves half of it."""

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
"""The mode of a new file: what it holds is the business of its owner."""
_BYTES: Final = 8
"""Random bytes in the name of a draft."""


def write_atomically(path: Path, pieces: Iterable[bytes], *, replaces: bool = True) -> None:
    """Write a file for its owner only, and return when it is on the disk under its name.

    It is written under another name beside its place, synced, and moved. Without `replaces`, a file that is
    there stays as it is: the first of several processes counts.

    Raises:
        OSError: it cannot be written; what was there stays.
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
    """Remove what killed processes left of a file that no other process writes now."""
    is_draft = re.compile(rf"{re.escape(path.name)}\.[0-9a-f]{{{2 * _BYTES}}}\.new").fullmatch
    for file in path.parent.iterdir():
        if is_draft(file.name):
            file.unlink(missing_ok=True)
