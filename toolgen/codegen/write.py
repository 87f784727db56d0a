"""Brings a generated tree to disk, whole or not at all.

Everything is staged beside the folder, formatted by one ruff call, and then moved file by file, the
manifest last. An exception puts the old files back; a kill between two moves is repaired by the next run.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from toolgen.codegen.manifest import MANIFEST, Manifest, Written, digest, read_manifest
from toolgen.contract.errors import ToolgenError

_CACHES: Final = frozenset(["__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".DS_Store"])
_RUFF_ARGUMENTS: Final = (
    "format --isolated --no-cache --no-respect-gitignore "
    "--config line-length=100 --config exclude=[] --target-version py311 ."
).split()


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The planned texts held against the folder; each path stands in one group, all in stable order."""

    manifest: Manifest
    missing: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    """Generated from a text that is not the planned one."""
    edited: tuple[str, ...] = ()
    """Not as toolgen wrote them."""
    unrecorded: tuple[str, ...] = ()
    """Planned and there, but the manifest does not know them."""
    stale: tuple[str, ...] = ()
    """Written by an earlier run and no longer planned."""
    kept: tuple[str, ...] = ()
    """Stale, but somebody edited them."""

    @property
    def is_current(self) -> bool:
        return not any((self.missing, self.changed, self.edited, self.unrecorded, self.stale, self.kept))


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a run did; paths inside the folder."""

    written: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    """Had been edited, and were written again."""
    deleted: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    """No longer planned, but edited: left alone."""


def compare(out: Path, texts: Mapping[str, str]) -> Comparison:
    """Return how the folder differs from the planned texts.

    Raises:
        ToolgenError: the folder holds files that are not ours, or its manifest is of no use.
    """
    try:
        found = _digests(out)
    except OSError as error:
        raise ToolgenError(
            f"cannot read {error.filename}: {error.strerror}", hint="make it readable"
        ) from error
    manifest = Manifest()
    if found.pop(MANIFEST, None) is not None:
        manifest = read_manifest((out / MANIFEST).read_text("utf-8", "replace"), str(out / MANIFEST))
        foreign = [path for path in found if path not in texts and path not in manifest.files]
    else:
        foreign = list(found)
    if foreign:
        raise _foreign(out, foreign)
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for path, text in texts.items():
        group = _group(found.get(path), manifest.files.get(path), digest(text.encode()))
        if group is not None:
            groups[group].append(path)
    for path, file in manifest.files.items():
        if path not in texts:
            groups["kept" if found.get(path, file.written) != file.written else "stale"].append(path)
    return Comparison(manifest=manifest, **{group: tuple(paths) for group, paths in groups.items()})


def _group(found: str | None, file: Written | None, source: str) -> str | None:
    if found is None:
        return "missing"
    if file is None:
        return "unrecorded"
    if file.written != found:
        return "edited"
    return "changed" if file.source != source else None


def write(
    out: Path, texts: Mapping[str, str], *, design: str, beside: Mapping[Path, str] | None = None
) -> Report:
    """Bring the texts into the folder, formatted, and the files of `beside` to their places, which are free.

    Raises:
        ToolgenError: the folder holds files that are not ours, or the disk refuses; nothing was changed.
    """
    before = compare(out, texts)
    unlike = {*before.missing, *before.changed, *before.edited, *before.unrecorded}
    dirty = [path for path in texts if path in unlike]
    if before.is_current and before.manifest.design == design and not beside:
        return Report()
    room = next(parent for parent in out.parents if parent.is_dir())
    try:
        with tempfile.TemporaryDirectory(prefix=".toolgen-", dir=room) as staging:
            staged = _stage(Path(staging), {path: texts[path] for path in dirty}, beside or {})
            written = {path: digest((staged / path).read_bytes()) for path in dirty}
            found = {path: digest((out / path).read_bytes()) for path in dirty if (out / path).is_file()}
            if strange := [path for path in before.unrecorded if found[path] != written[path]]:
                raise _foreign(out, strange)
            manifest = _manifest(texts, written, before, design)
            (staged / MANIFEST).write_text(manifest.text(), "utf-8")
            new = [path for path in dirty if found.get(path) != written[path]]
            deleted = [path for path in before.stale if (out / path).is_file()]
            _move_all(out, Path(staging), new, deleted, beside or {})
    except OSError as error:
        raise ToolgenError(
            f"cannot write {error.filename2 or error.filename or out}: {error.strerror or error}",
            hint="make the place writable and run toolgen gen again; nothing was changed",
        ) from error
    _remove_empty(out, deleted)
    edited = tuple(path for path in before.edited if path in new)
    return Report(written=tuple(new), edited=edited, deleted=tuple(deleted), kept=before.kept)


def _manifest(
    texts: Mapping[str, str], written: Mapping[str, str], before: Comparison, design: str
) -> Manifest:
    old = before.manifest.files
    files = {
        path: Written(source=digest(text.encode()), written=written[path]) if path in written else old[path]
        for path, text in texts.items()
    }
    return Manifest(design=design, files=files | {path: old[path] for path in before.kept})


def _stage(staging: Path, texts: Mapping[str, str], beside: Mapping[Path, str]) -> Path:
    """Write everything into the staging folder, format it, and return the place of the tree."""
    tree = staging / "tree"
    tree.mkdir()
    for path, text in texts.items():
        _write(tree / path, text)
    for number, text in enumerate(beside.values()):
        _write(staging / f"beside/{number}.py", text)
    if any(path.endswith(".py") for path in texts) or beside:
        _format(staging)
    return tree


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())


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


def _move_all(
    out: Path, staging: Path, new: Iterable[str], deleted: Iterable[str], beside: Mapping[Path, str]
) -> None:
    """Move everything to its place; on an exception put back what was there."""
    moves = _Moves(attic=staging / "attic")
    tree = staging / "tree"
    try:
        for number, target in enumerate(beside):
            moves.put(staging / f"beside/{number}.py", target)
        if not out.exists():
            moves.put(tree, out)
            return
        for path in new:
            moves.put(tree / path, out / path)
        for path in deleted:
            moves.take(out / path)
        moves.put(tree / MANIFEST, out / MANIFEST)
    except BaseException:
        moves.undo()
        raise


@dataclass(slots=True, kw_only=True)
class _Moves:
    """Moves that can be taken back."""

    attic: Path
    saved: list[tuple[Path, Path | None]] = field(default_factory=list)
    """Each place that was changed, with the copy of what it held."""
    folders: list[Path] = field(default_factory=list)
    """Folders that were made on the way."""

    def put(self, file: Path, target: Path) -> None:
        self._make_folder(target.parent)
        copy = self._copy(target)
        os.replace(file, target)
        self.saved.append((target, copy))

    def take(self, target: Path) -> None:
        copy = self._copy(target)
        target.unlink()
        self.saved.append((target, copy))

    def undo(self) -> None:
        for target, copy in reversed(self.saved):
            if copy is not None:
                os.replace(copy, target)
            elif target.is_dir():
                shutil.rmtree(target)
            else:
                target.unlink(missing_ok=True)
        for folder in reversed(self.folders):
            folder.rmdir()

    def _copy(self, target: Path) -> Path | None:
        if not target.is_file():
            return None
        self.attic.mkdir(exist_ok=True)
        return Path(shutil.copy2(target, self.attic / str(len(self.saved))))

    def _make_folder(self, folder: Path) -> None:
        for parent in reversed([folder, *folder.parents]):
            if not parent.exists():
                parent.mkdir()
                self.folders.append(parent)


def _digests(out: Path) -> dict[str, str]:
    """Return the digest of every file in the folder but caches, by path, sorted."""
    if not out.is_dir():
        if out.exists():
            raise ToolgenError(
                f"{out} is not a folder", hint="move it away, or correct 'out' in [tool.toolgen]"
            )
        return {}
    digests: dict[str, str] = {}
    for folder, folders, files in os.walk(out):
        folders[:] = [name for name in folders if name not in _CACHES]
        for name in files:
            if name not in _CACHES:
                file = Path(folder, name)
                digests[file.relative_to(out).as_posix()] = digest(file.read_bytes())
    return dict(sorted(digests.items()))


def _remove_empty(out: Path, deleted: Iterable[str]) -> None:
    """Remove the folders, deepest first, in which deleting left nothing but caches."""
    parents = {parent for path in deleted for parent in (out / path).parents if out in parent.parents}
    for folder in sorted(parents, key=lambda path: len(path.parts), reverse=True):
        if folder.is_dir() and all(child.name in _CACHES for child in folder.iterdir()):
            shutil.rmtree(folder, ignore_errors=True)


def _foreign(out: Path, paths: list[str]) -> ToolgenError:
    shown = "".join(f"\n  {out / path}" for path in paths[:10])
    more = f"\n  and {len(paths) - 10} more" if len(paths) > 10 else ""
    return ToolgenError(
        f"{out} holds files that toolgen did not write; nothing was changed:{shown}{more}",
        hint="move them elsewhere, or set 'out' in [tool.toolgen] to a folder of its own",
    )
