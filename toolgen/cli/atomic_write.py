"""Writes new files of the author: all of them appear, or none does."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from toolgen.codegen.write.staging import stage
from toolgen.contract.errors import ToolgenError

_STAGING = ".toolgen-import-"
_MOST_NAMES = 3


def write_files_atomically(out: Path, texts: Mapping[str, str], *, is_forced: bool) -> None:
    """Write new files atomically: all of them appear, the first one last, or none does.

    The folder is made where it is missing.

    Raises:
        ToolgenError: a file is there already and `is_forced` is not set, or the folder cannot be written.
    """
    try:
        there = [str(out / path) for path in texts if (out / path).exists() or (out / path).is_symlink()]
        if there and not is_forced:
            more = f" and {len(there) - _MOST_NAMES} more" if len(there) > _MOST_NAMES else ""
            raise ToolgenError(
                f"files exist already: {', '.join(there[:_MOST_NAMES])}{more}; nothing was written",
                hint="overwrite it with --force, or choose another --name or --out",
            )
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=_STAGING, dir=out) as folder:
            staging = Path(folder)
            stage(staging, texts, {})
            _move(staging, out, texts)
    except OSError as error:
        raise ToolgenError(
            f"cannot write {error.filename or out}: {error.strerror}",
            hint="choose a folder where you may write, with --out",
        ) from error


def _move(staging: Path, out: Path, texts: Mapping[str, str]) -> None:
    """Move all files from the staging folder to their places; an exception puts everything back."""
    old = staging / "old"
    made: list[Path] = []
    moved: list[Path] = []
    try:
        for path in reversed(list(texts)):
            target = out / path
            made += [parent for parent in reversed(target.parents) if not parent.exists()]
            target.parent.mkdir(parents=True, exist_ok=True)
            moved.append(target)
            if target.exists() or target.is_symlink():
                (old / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.move(target, old / path)
            (staging / "tree" / path).replace(target)
    except BaseException:
        for target in moved:
            previous = old / target.relative_to(out)
            if previous.exists() or previous.is_symlink():
                shutil.move(previous, target)
            elif target.is_file():
                target.unlink()
        for folder in reversed(made):
            folder.rmdir()
        raise
