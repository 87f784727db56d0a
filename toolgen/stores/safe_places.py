"""Checks that files and folders of stores can be changed only by trusted users."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from .errors import UnsafeFileError

_BESIDE: Final = ("", "-wal", "-shm", "-journal")
"""Suffixes of a SQLite file and its companion files; a journal is rolled back in any mode."""


def require_own_place(path: Path) -> None:
    """Check a file or folder of a store, which may be missing; its group may have any access.

    In a folder of all users, such as /tmp, it also has to belong to this user or root.

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
        except OSError:  # what opens it says so
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
