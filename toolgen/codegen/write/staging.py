"""Staging of new files: they are written to one folder and formatted there.

The process that fills a folder locks it, so the next run removes only the folders of killed runs.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Final

from toolgen.contract.errors import ToolgenError

from .atomic_write import Edit
from .folder_lock import locked
from .safe_paths import SafePath

STAGING: Final = ".toolgen-staging-"
"""Prefix of the folders in which runs prepare their files."""

_MARKER: Final = PurePosixPath(".toolgen-staging")
"""The file that identifies a staging folder."""
_MARKER_TEXT: Final = b"toolgen prepares files here; its next run removes those of a run that was killed.\n"

_RUFF_ARGUMENTS: Final = (
    "format --isolated --no-cache --no-respect-gitignore "
    "--config line-length=100 --config exclude=[] --target-version py311 ."
).split()


def staging_parent(out: Path) -> Path:
    """Return the folder above `out` that contains its staging folder."""
    return next(parent for parent in Path(os.path.realpath(out)).parents if parent.is_dir())


@contextmanager
def staging(out: Path) -> Iterator[Path]:
    """Yield an empty folder on the file system of `out`, above it, so that its readers do not see it."""
    parent = staging_parent(out)
    with ExitStack() as stack:
        folder = None
        while folder is None:
            folder = _marked_folder(parent, stack)
        yield folder


def _marked_folder(parent: Path, stack: ExitStack) -> Path | None:
    """Return a new folder, registered in `stack`; None if another run removed it while it was empty."""
    folder = Path(tempfile.mkdtemp(prefix=STAGING, dir=parent))
    stack.callback(_remove, folder)
    try:
        stack.enter_context(locked(folder))
        (folder / _MARKER).write_bytes(_MARKER_TEXT)
    except FileNotFoundError:
        return None
    return folder


def sweep(out: Path, project: Path) -> None:
    """Remove staging folders of killed runs beside and above `out`, a place inside the project."""
    staging_parents = {parent for parent in out.parents if parent.is_relative_to(project)}
    for parent in (*staging_parents, Path(os.path.realpath(out)).parent):
        for folder in parent.glob(f"{STAGING}*"):
            with suppress(OSError):
                folder.rmdir()  # a kill without a marker leaves an empty folder
            with suppress(OSError), locked(folder) as alone:
                marker = SafePath(root=parent, path=PurePosixPath(folder.name) / _MARKER)
                if alone and marker.read() == _MARKER_TEXT:
                    _remove(folder)


def _remove(folder: Path) -> None:
    """Remove a staging folder, its marker last, so that the next run recognizes it after a kill."""
    with suppress(OSError):
        for name in os.listdir(folder):
            if name != _MARKER.name:
                shutil.rmtree(folder / name, ignore_errors=True)
                (folder / name).unlink(missing_ok=True)
        (folder / _MARKER).unlink(missing_ok=True)
        folder.rmdir()


def stage(folder: Path, texts: Mapping[str, str], stubs: Mapping[Path, str]) -> None:
    """Write the tree to `tree` and the files of `stubs`, by number, to `stubs`; format both."""
    (folder / "tree").mkdir()
    for path, text in texts.items():
        _write(folder / "tree" / path, text.encode())
    for number, text in enumerate(stubs.values()):
        _write(folder / f"stubs/{number}.py", text.encode())
    if stubs or any(path.endswith(".py") for path in texts):
        _format(folder)


def formatted(texts: list[str]) -> list[str]:
    """Return modules as ruff formats them, independent of project settings."""
    if not texts:
        return []
    with tempfile.TemporaryDirectory(prefix=STAGING) as folder:
        modules = {f"{number}.py": text for number, text in enumerate(texts)}
        stage(Path(folder), modules, {})
        return [(Path(folder) / "tree" / name).read_text("utf-8") for name in modules]


def stage_edits(folder: Path, edits: Mapping[Path, Edit]) -> None:
    """Write the new contents of the author's files, by number, to `edits`."""
    for number, (target, edit) in enumerate(edits.items()):
        if edit.new is None:
            continue
        file = folder / f"edits/{number}"
        _write(file, edit.new)
        with open(file, "rb") as written:
            os.fsync(written.fileno())  # it cannot be generated again
        if target.exists():
            shutil.copymode(target, file)


def _write(file: Path, data: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)


def _format(folder: Path) -> None:
    """Run `ruff format` once over the folder; settings of the user's project do not apply.

    Raises:
        ToolgenError: ruff is not installed.
        RuntimeError: ruff rejects generated code, which is a bug of toolgen.
    """
    from ruff import find_ruff_bin  # from the extra `gen`; not needed to read the output

    try:
        done = subprocess.run(
            [find_ruff_bin(), *_RUFF_ARGUMENTS],
            cwd=folder,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        raise ToolgenError(f"ruff cannot be started: {error}", hint="pip install 'toolgen[gen]'") from error
    if done.returncode != 0:
        raise RuntimeError(f"ruff format ended with {done.returncode}:\n{done.stderr}")
