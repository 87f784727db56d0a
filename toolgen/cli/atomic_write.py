"""Writes files of the author: all new ones appear or none does, and one that is there is replaced whole."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from toolgen.codegen.write.staging import stage
from toolgen.contract.errors import ToolgenError

_STAGING = ".toolgen-import-"
_MOST_NAMES = 3


def formatted(texts: list[str]) -> list[str]:
    """Return modules as ruff formats them, whatever the settings of a project say."""
    if not texts:
        return []
    with tempfile.TemporaryDirectory(prefix=_STAGING) as folder:
        modules = {f"{number}.py": text for number, text in enumerate(texts)}
        stage(Path(folder), modules, {})
        return [(Path(folder) / "tree" / name).read_text("utf-8") for name in modules]


def replace_files(texts: Mapping[Path, bytes | None], read: Mapping[Path, bytes | None]) -> None:
    """Replace all files or none, each of them at once; None removes one.

    A run that is killed leaves each file as it was or as it becomes.

    Raises:
        ToolgenError: a file does not hold any more what was read, or cannot be written; all are as they were.
    """
    try:
        for file in texts:
            held = file.read_bytes() if file.exists() else None
            if held != read[file]:
                hint = "run the command again"
                raise ToolgenError(f"{file} changed while it was read; nothing was written", hint=hint)
        with undoing({file: read[file] for file in texts}) as undo, ExitStack() as staged:
            new = {file: _staged(file, data, staged) for file, data in texts.items() if data is not None}
            for file in texts:
                if file in new:
                    os.replace(new[file], os.path.realpath(file))
                else:
                    file.unlink(missing_ok=True)
            undo.pop_all()
    except OSError as error:
        message = f"cannot write {error.filename or 'the design'}: {error.strerror}"
        raise ToolgenError(message, hint="make it writable, and run the command again") from error


@contextmanager
def undoing(files: Mapping[Path, bytes | None]) -> Iterator[ExitStack]:
    """Put files back, and remove the folders that were made for them, unless `pop_all` empties the stack.

    Args:
        files: What each file holds before; None if there is none.
    """
    with ExitStack() as undo:
        for file, data in files.items():
            undo.callback(_put_back, file, data, [each for each in file.parents if not each.exists()])
        yield undo


def _put_back(file: Path, data: bytes | None, made: list[Path]) -> None:
    if data is None:
        with suppress(FileNotFoundError, NotADirectoryError):
            file.unlink()
    elif not file.exists() or file.read_bytes() != data:
        with ExitStack() as staged:
            os.replace(_staged(file, data, staged), os.path.realpath(file))
    _remove_empty(made)


def _remove_empty(folders: list[Path]) -> None:
    for folder in folders:
        with suppress(OSError):  # it is not there, or something of somebody else is in it
            folder.rmdir()


def _staged(file: Path, data: bytes, staged: ExitStack) -> Path:
    """Return a file beside this one with the data, which is removed with `staged` if it is still there."""
    file = Path(os.path.realpath(file))
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_name(f"{_STAGING}{file.name}")  # what a killed run left is written over by the next
    staged.callback(new.unlink, missing_ok=True)
    with open(new, "wb") as written:
        written.write(data)
        written.flush()
        os.fsync(written.fileno())
    if file.exists():
        shutil.copymode(file, new)
    return new


def write_files_atomically(out: Path, texts: Mapping[str, str], *, is_forced: bool) -> None:
    """Write new files atomically: all of them appear, the first one last, or none does.

    The folder is made where it is missing.

    Raises:
        ToolgenError: a file is there already and `is_forced` is not set, or the folder cannot be written.
    """
    files = {out / path: texts[path].encode() for path in reversed(list(texts))}
    there = [str(file) for file in reversed(list(files)) if file.exists() or file.is_symlink()]
    if there and not is_forced:
        more = f" and {len(there) - _MOST_NAMES} more" if len(there) > _MOST_NAMES else ""
        raise ToolgenError(
            f"files exist already: {', '.join(there[:_MOST_NAMES])}{more}; nothing was written",
            hint="overwrite it with --force, or choose another --name or --out",
        )
    replace_files(files, {file: file.read_bytes() if file.is_file() else None for file in files})
