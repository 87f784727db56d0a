"""A secret in a file of its own."""

from __future__ import annotations

import errno
import os
import secrets
from pathlib import Path
from typing import Final

from .errors import StoreCorruptError, StoreError

_BYTES: Final = 32
_MODE: Final = 0o600


def read_or_create_key(path: Path) -> bytes:
    """Return the 32 bytes of a key file, which is created where it is missing, for its owner only.

    Raises:
        StoreCorruptError: the file has another length.
        StoreError: it cannot be read or created.
    """
    try:
        try:
            key = path.read_bytes()
        except FileNotFoundError:
            _create(path)
            key = path.read_bytes()
    except OSError as error:
        raise StoreError(
            f"cannot be read or created: {error.strerror}",
            path=path,
            hint="let the user of this process read the file, and write to its folder",
        ) from error
    if len(key) != _BYTES:
        raise StoreCorruptError(
            f"has {len(key)} bytes and not the {_BYTES} of a key", path=path, hint="restore it from a backup"
        )
    return key


def _create(path: Path) -> None:
    """Create the file whole or not at all; the first of several processes counts."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, _MODE)
    try:
        try:
            os.write(descriptor, secrets.token_bytes(_BYTES))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.link(draft, path)
    except OSError as error:
        if error.errno != errno.EEXIST:
            raise
    finally:
        os.unlink(draft)
