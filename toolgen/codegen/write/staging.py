"""New files before they stand in their places: written into one folder and formatted there.

A file in the folder says whose it is: the next run removes what a killed one left, and nothing else.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Final

from toolgen.contract.errors import ToolgenError

from .atomic_write import Edit
from .safe_paths import SafePath

STAGING: Final = ".toolgen-staging-"
"""How the names of the folders begin in which runs prepare their files."""

_MARKER: Final = PurePosixPath(".toolgen-staging")
"""The file that says which output a staging folder is for."""

_RUFF_ARGUMENTS: Final = (
    "format --isolated --no-cache --no-respect-gitignore "
    "--config line-length=100 --config exclude=[] --target-version py311 ."
).split()


@contextmanager
def staging(out: Path) -> Iterator[Path]:
    """Yield an empty folder on the file system of `out`, above it and so not in the way of its readers."""
    real = Path(os.path.realpath(out))
    room = next(parent for parent in real.parents if parent.is_dir())
    folder = _marked_folder(room, _marker_text(out))
    try:
        yield folder
    finally:
        _remove(folder)


def _marked_folder(room: Path, marker: bytes) -> Path:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=STAGING, dir=room))
        try:
            (folder / _MARKER).write_bytes(marker)
        except FileNotFoundError:
            continue  # the sweep of another run saw it while it was empty
        except BaseException:
            _remove(folder)
            raise
        return folder


def sweep(out: Path, project: Path) -> None:
    """Remove staging folders of killed runs for `out`, a folder inside the project, and empty ones."""
    rooms = {parent for parent in out.parents if parent.is_relative_to(project)}
    for room in (*rooms, Path(os.path.realpath(out)).parent):
        for left in room.glob(f"{STAGING}*"):
            with suppress(OSError):
                left.rmdir()  # a kill before there is a marker, or after it is gone, leaves nothing in it
            with suppress(OSError):
                if SafePath(root=room, path=PurePosixPath(left.name) / _MARKER).read() == _marker_text(out):
                    _remove(left)


def _remove(folder: Path) -> None:
    """Remove a staging folder, its marker last, so that what a kill leaves is known to the next run."""
    with suppress(OSError):
        for name in os.listdir(folder):
            if name != _MARKER.name:
                shutil.rmtree(folder / name, ignore_errors=True)
                (folder / name).unlink(missing_ok=True)
        (folder / _MARKER).unlink(missing_ok=True)
        folder.rmdir()


def _marker_text(out: Path) -> bytes:
    """Return the text in the marker of a staging folder for `out`."""
    text = b"toolgen gen prepares files here, and its next run removes them. They are for:\n"
    return text + os.fsencode(os.path.realpath(out)) + b"\n"


def stage(folder: Path, texts: Mapping[str, str], stubs: Mapping[Path, str]) -> None:
    """Write the tree to `tree` and the files of `stubs`, by number, to `stubs`; format both."""
    (folder / "tree").mkdir()
    for path, text in texts.items():
        _write(folder / "tree" / path, text.encode())
    for number, text in enumerate(stubs.values()):
        _write(folder / f"stubs/{number}.py", text.encode())
    if stubs or any(path.endswith(".py") for path in texts):
        _format(folder)


def stage_edits(folder: Path, edits: Mapping[Path, Edit]) -> None:
    """Write the new contents of the author's files, by number, to `edits`."""
    for number, (target, edit) in enumerate(edits.items()):
        file = folder / f"edits/{number}"
        _write(file, edit.new)
        shutil.copymode(target, file)


def _write(file: Path, data: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)


def _format(folder: Path) -> None:
    """Run `ruff format` once over the folder; no settings of the user's project reach it.

    Raises:
        ToolgenError: ruff is not there.
        RuntimeError: it refuses what toolgen generated, which is our bug.
    """
    from ruff import find_ruff_bin  # comes with the extra `gen`; reading the output needs no ruff

    try:
        done = subprocess.run(
            [find_ruff_bin(), *_RUFF_ARGUMENTS],
            cwd=folder,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        raise ToolgenError(f"ruff does not start: {error}", hint="pip install 'toolgen[gen]'") from error
    if done.returncode != 0:
        raise RuntimeError(f"ruff format ended with {done.returncode}:\n{done.stderr}")
