"""Errors of the operating system, with remedies."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Final, Literal

from toolgen.contract.errors import ToolgenError

_REMEDIES: Final = {
    errno.ENOSPC: "free some space",
    errno.EDQUOT: "free some space",
    errno.EFBIG: "raise the limit on file sizes",
    errno.ENAMETOOLONG: "use shorter names, or a folder with a shorter path",
    errno.EXDEV: "put the folder and its parent on one file system",
}


def disk_error(verb: Literal["read", "write"], error: OSError, place: Path) -> ToolgenError:
    """Return an error of the operating system as a ToolgenError with a remedy."""
    able = {"read": "readable", "write": "writable"}[verb]
    remedy = _REMEDIES.get(error.errno or 0, f"make the place {able}")
    return ToolgenError(
        f"cannot {verb} {error.filename2 or error.filename or place}: {error.strerror or error}",
        hint=f"{remedy} and run the command again; nothing was changed",
    )
