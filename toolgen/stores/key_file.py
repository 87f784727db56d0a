"""A secret in a file of its own, which only the user of this process can read.

Whoever can read the file can approve calls, and whoever can replace it too, so nothing else is taken: as ssh
does with private keys.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Final

from .errors import StoreCorruptError
from .own_file import MODE, open_own, unusable_file

_BYTES: Final = 32
_OR_SECRET: Final = ", or give all processes the same Runtime(secret=…)"


def read_key(path: Path) -> bytes | None:
    """Return the 32 bytes of a key file; None where it is missing.

    Raises:
        ForeignFileError: it is a link, a folder, a device or a FIFO.
        UnsafeFileError: others may read or write it, or it belongs to another user.
        StoreCorruptError: it has another length.
        StoreError: it cannot be read.
    """
    try:
        descriptor = open_own(path, os.O_RDONLY, content="key", instead=_OR_SECRET)
    except FileNotFoundError:
        return None
    try:
        key = os.read(descriptor, _BYTES + 1)
    except OSError as error:
        raise unusable_file(path, error) from error
    finally:
        os.close(descriptor)
    if len(key) != _BYTES:
        size = "more" if len(key) > _BYTES else len(key)
        raise StoreCorruptError(
            f"has {size} bytes and not the {_BYTES} of a key", path=path, hint="restore it from a backup"
        )
    return key


def create_key(path: Path) -> bytes:
    """Create a key file for its owner only, unless it is there, and return its content.

    Raises:
        StoreError: it cannot be created, or as `read_key`.
    """
    try:
        _create(path)
    except OSError as error:
        raise unusable_file(path, error) from error
    key = read_key(path)
    assert key is not None, "it was just there"
    return key


def _create(path: Path) -> None:
    """Create the file whole or not at all; the first of several processes counts."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, MODE)
    try:
        try:
            os.write(descriptor, secrets.token_bytes(_BYTES))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.link(draft, path)
        _sync_folder(path.parent)
    except FileExistsError:
        pass
    finally:
        os.unlink(draft)


def _sync_folder(folder: Path) -> None:
    """Keep the name of a new file over a loss of power: what is sealed with it may be kept before."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
