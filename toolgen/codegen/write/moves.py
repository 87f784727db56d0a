"""From the staging folder to the places, with a way back."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from toolgen.contract.errors import ToolgenError

from .comparison import CACHES


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """What a file of the author held when it was read, and what it holds after; never formatted."""

    old: bytes
    new: bytes


@dataclass(slots=True, kw_only=True)
class Moves:
    """Moves that can be taken back."""

    attic: Path
    saved: list[tuple[Path, Path | None]] = field(default_factory=list)
    """Each place that was changed, with the copy of what it held."""
    folders: list[Path] = field(default_factory=list)
    """Folders that were made on the way."""

    def put(self, file: Path, target: Path) -> None:
        self._make_folder(target.parent)
        with self._noted(target):
            os.replace(file, target)

    def put_new(self, file: Path, target: Path) -> None:
        """Put a file where nothing stands.

        Raises:
            ToolgenError: somebody has put something there since the place was seen free.
        """
        if os.path.lexists(target):
            raise _changed(target)
        self.put(file, target)

    def put_edit(self, file: Path, target: Path, edit: Edit) -> None:
        """Put what a file of the author becomes in its place; a link stays one.

        Raises:
            ToolgenError: it does not hold any more what was read.
        """
        if target.read_bytes() != edit.old:
            raise _changed(target)
        self.put(file, Path(os.path.realpath(target)))

    def take(self, target: Path) -> None:
        with self._noted(target):
            target.unlink()

    def undo(self) -> None:
        """Put everything back.

        Raises:
            ToolgenError: the disk refuses; the manifest still says what the folder may hold.
        """
        try:
            for target, copy in reversed(self.saved):
                if copy is not None:
                    target.parent.mkdir(parents=True, exist_ok=True)
                    os.replace(copy, target)
                elif target.is_dir():
                    shutil.rmtree(target)
                else:
                    target.unlink(missing_ok=True)
        except OSError as error:
            raise ToolgenError(
                f"cannot put back {error.filename2 or error.filename}: {error.strerror}",
                hint="make the place writable and run toolgen gen again, which repairs what it wrote",
            ) from error
        for folder in reversed(self.folders):
            with suppress(OSError):
                folder.rmdir()

    @contextmanager
    def _noted(self, target: Path) -> Iterator[None]:
        """Note the change before it happens, so that no signal comes between, but not one that is refused."""
        self.saved.append((target, self._copy(target)))
        try:
            yield
        except OSError:
            self.saved.pop()
            raise

    def _copy(self, target: Path) -> Path | None:
        if not target.is_file():
            return None
        self.attic.mkdir(exist_ok=True)
        return Path(shutil.copy2(target, self.attic / str(len(self.saved))))

    def _make_folder(self, folder: Path) -> None:
        if not folder.exists():
            self._make_folder(folder.parent)
            folder.mkdir()
            self.folders.append(folder)


def remove_empty(out: Path, deleted: Iterable[str]) -> None:
    """Remove the folders, deepest first, in which deleting left nothing but caches."""
    parents = {parent for path in deleted for parent in (out / path).parents if out in parent.parents}
    for folder in sorted(parents, key=lambda path: len(path.parts), reverse=True):
        if folder.is_dir() and all(child.name in CACHES for child in folder.iterdir()):
            shutil.rmtree(folder, ignore_errors=True)


def _changed(target: Path) -> ToolgenError:
    return ToolgenError(f"{target} changed while it was read; nothing was changed", hint="run: toolgen gen")
