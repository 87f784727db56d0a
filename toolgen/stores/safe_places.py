"""Checks that only trusted users can change files and folders of stores."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from .errors import UnsafeFileError

_BESIDE: Final = ("", "-wal", "-shm", "-journal")
"""Suffixes of a SQLite file and its companion files; SQLite rolls back a `-journal` in any mode."""


def require_own_place(path: Path) -> None:
    """Check a file or folder of a store, which can be missing; its group can have any access.

    In a folder that all users can write, for example /tmp, it must also belong to this user or root.

    Raises:
        UnsafeFileError: every user can write it, or it is a link out of its folder.
    """
    folder = Path(os.path.realpath(path.parent))
    if not (real := Path(os.path.realpath(path))).is_relative_to(folder):
        hint = "pass the path of its target"
        raise UnsafeFileError(f"is a link to {str(real)!r}, outside its folder", path=path, hint=hint)
    if os.name == "nt":
        return
    for file in (Path(f"{real}{end}") for end in _BESIDE):
        try:
            facts, around = file.stat(), file.parent.stat()
        except OSError:  # the code that opens the file reports the error
            continue
        if facts.st_mode & stat.S_IWOTH:
            raise UnsafeFileError(
                f"has the mode {stat.S_IMODE(facts.st_mode):04o}, which lets every user write it",
                path=file,
                hint=f"if nobody else has changed it: chmod o-w {file}",
            )
        if around.st_mode & stat.S_IWOTH and facts.st_uid not in (0, os.geteuid()):
            raise UnsafeFileError(
                f"belongs to the user {facts.st_uid}, in a folder that every user can write",
                path=file,
                hint="store it in a folder of your own",
            )
