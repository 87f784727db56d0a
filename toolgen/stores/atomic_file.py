"""Writes a file of a store whole or not at all, so that a kill or a loss of power leaves no half of it."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from glob import escape
from pathlib import Path
from typing import Final

from .folder_sync import sync_folder

MODE: Final = 0o600
"""The mode of a new file: what it holds is the business of its owner."""


def write_atomically(path: Path, pieces: Iterable[bytes], *, replaces: bool = True) -> None:
    """Write a file for its owner only, and return when it is on the disk under its name.

    It is written under another name beside its place, synced, and moved. Without `replaces`, a file that is
    there stays as it is: the first of several processes counts.

    Raises:
        OSError: it cannot be written; what was there stays.
    """
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}.new")
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
    for draft in path.parent.glob(f"{escape(path.name)}.*.new"):
        draft.unlink(missing_ok=True)
