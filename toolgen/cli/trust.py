"""Checks that commands only run code of this user or root, or code that this user has allowed.

A project is code, and the nearest one can be in a parent folder that all users can write to, such as /tmp
(CVE-2022-24765 of Git).
"""

from __future__ import annotations

import os
import shlex
import stat
import sys
from pathlib import Path
from typing import Final

from toolgen.contract.errors import ToolgenError

VARIABLE: Final = "TOOLGEN_CONFIG"
"""Environment variable with the pyproject.toml to use; an absolute path also allows the project."""


def require_trusted(file: Path, *, is_project: bool = False) -> None:
    """Check that no other user can write a file that is run, or add files beside it; the file can be missing.

    Folders in the settings of this user are trusted with everything below them.

    Args:
        file: The file, by its absolute path.
        is_project: Whether it is the pyproject.toml of a project, which the environment can allow.

    Raises:
        ToolgenError: another user can write it, and the folder is not listed.
    """
    if sys.platform == "win32":
        return
    for path in dict.fromkeys((file, file.parent, file.resolve().parent)):
        if (problem := _problem(path)) and not _is_listed(file.parent):
            raise ToolgenError(
                f"toolgen does not run this code: {path} {problem}", hint=_hint(file, is_project)
            )


def _problem(path: Path) -> str:
    """Return how another user can change the content of a path; "" if none can, or it does not exist."""
    try:
        facts = path.stat()
    except OSError:
        return ""
    if facts.st_uid not in (0, os.geteuid()):
        return f"belongs to user {facts.st_uid}, not to you (user {os.geteuid()}) or root"
    if facts.st_mode & stat.S_ISVTX and facts.st_mode & stat.S_IWOTH:
        return "is a folder that all users can write to"
    return ""


def _list() -> Path | None:
    """Return the file of trusted folders, one per line; None if this user has no settings folder."""
    folder = os.environ.get("XDG_CONFIG_HOME", "")
    try:
        settings = Path(folder) if os.path.isabs(folder) else Path.home() / ".config"
    except RuntimeError:
        return None
    return settings / "toolgen" / "trusted"


def _is_listed(folder: Path) -> bool:
    file = _list()
    if file is None or _problem(file) or _problem(file.parent):
        return False
    try:
        if file.stat().st_mode & stat.S_IWOTH:
            return False
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return False
    return any(
        os.path.isabs(line) and folder.resolve().is_relative_to(Path(line).resolve()) for line in lines
    )


def _hint(file: Path, is_project: bool) -> str:
    if not str(file).isprintable():  # the shown command would be misleading
        return "copy it into a folder of your own"
    ways = [f"export {VARIABLE}={shlex.quote(str(file))}"] if is_project else []
    if (listed := _list()) is not None:
        folder, place = shlex.quote(str(file.parent)), shlex.quote(str(listed))
        ways.append(f"mkdir -p {shlex.quote(str(listed.parent))} && echo {folder} >> {place}")
    return f"if you trust its author, run: {', or permanently: '.join(ways)}"
