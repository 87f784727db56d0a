"""One run of the writer: compares, stages and moves; or only shows the changes."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import field, replace
from pathlib import Path, PurePosixPath

from toolgen.contract.record import frozen_record

from ..manifest import MANIFEST, FileDigests, Manifest, digest
from ..sources import SourceDigests
from .atomic_write import AtomicWrite, Edit, remove_empty
from .comparison import Comparison, compared
from .disk_errors import disk_error
from .safe_paths import SafePath
from .staging import stage, stage_edits, staging, staging_parent, sweep


@frozen_record
class WriteReport:
    """The changes of a run; paths are relative to the folder."""

    manifest: Manifest = field(default_factory=Manifest, compare=False)
    """Files in the folder after the run, including files that were left unchanged."""
    written: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    """Edited files that were overwritten."""
    deleted: tuple[str, ...] = ()
    retained: tuple[str, ...] = ()
    """Edited files that are no longer planned, and were left unchanged."""


@frozen_record
class _Run:
    """The moves of a run, with every new file in the staging folder."""

    before: Comparison
    new: Mapping[str, str]
    """Digest of each file that differs from the existing one."""
    deleted: tuple[str, ...]
    manifest: Manifest


def write(
    out: Path,
    texts: Mapping[str, str],
    *,
    design: str,
    sources: Mapping[str, SourceDigests] | None = None,
    stubs: Mapping[Path, str] | None = None,
    edits: Mapping[Path, Edit] | None = None,
) -> WriteReport:
    """Write the formatted texts to the folder, and the files of `stubs` to their places, which are free.

    `sources` are the sources of the design. `edits` replaces files of the author that have not changed
    since they were read. The caller must ensure that no other run uses the folder.

    Raises:
        ToolgenError: the folder has files that toolgen did not write, or the disk refuses; nothing changed.
    """
    facts, stubs, edits = Manifest(design=design, sources=sources or {}), stubs or {}, edits or {}
    try:
        with staging(out) as folder:
            run = _stage(folder, out, texts, facts, stubs)
            before = run.before
            is_noted = before.manifest.is_of(design, facts.sources)
            if before.is_current and is_noted and not stubs and not edits:
                return WriteReport(manifest=before.manifest)
            stage_edits(folder, edits)
            _move_all(out, folder, run, stubs, edits)
    except OSError as error:
        raise disk_error("write", error, out) from error
    return WriteReport(
        manifest=run.manifest,
        written=tuple(run.new),
        edited=before.edited,
        deleted=run.deleted,
        retained=before.retained,
    )


def compare(out: Path, texts: Mapping[str, str]) -> Comparison:
    """Return the differences between the folder and the formatted texts, without writing to the folder.

    Raises:
        ToolgenError: as `write`.
    """
    with _prepared(out, texts, {}) as (_, run):
        return run.before


def preview(
    out: Path,
    texts: Mapping[str, str],
    *,
    stubs: Mapping[Path, str] | None = None,
    edits: Mapping[Path, Edit] | None = None,
) -> dict[Path, Edit]:
    """Return the edits that `write` would make, except to the manifest, without writing to any place.

    Raises:
        ToolgenError: as `write`.
    """
    stubs, edits = stubs or {}, edits or {}
    with _prepared(out, texts, stubs) as (folder, run):
        files = {path: (folder / "tree" / path).read_bytes() for path in run.new}
        changes = {
            out / path: Edit(
                old=_place(out, path).read() if path in run.before.found else None, new=files.get(path)
            )
            for path in (*run.new, *run.deleted)
        }
        for number, target in enumerate(stubs):
            changes[target] = Edit(new=(folder / f"stubs/{number}.py").read_bytes())
        return changes | dict(edits)


@contextmanager
def replacing(edits: Mapping[Path, Edit]) -> Iterator[ExitStack]:
    """Replace files of the author, all of them or none; a killed run leaves each file complete.

    The yielded stack restores the old contents at the end of the block, unless `pop_all` empties it.

    Raises:
        ToolgenError: a file has changed since it was read, or cannot be written; all files are restored.
    """
    with ExitStack() as staged, ExitStack() as undo:
        try:
            files: dict[Path, tuple[AtomicWrite, Path]] = {}
            for edits_in_folder in _by_staging_parent(edits):
                folder = staged.enter_context(_staged(edits_in_folder))
                moves = AtomicWrite(backup=folder / "attic")
                undo.callback(moves.undo)
                files |= {
                    target: (moves, folder / f"edits/{at}") for at, target in enumerate(edits_in_folder)
                }
            for target, (moves, file) in ((target, files[target]) for target in edits):
                moves.put_edit(file, target, edits[target])
        except OSError as error:
            raise disk_error("write", error, Path()) from error
        yield undo


def replace_files(edits: Mapping[Path, Edit]) -> None:
    """Replace files like `replacing`, permanently."""
    with replacing(edits) as undo:
        undo.pop_all()


def _by_staging_parent(edits: Mapping[Path, Edit]) -> Iterable[dict[Path, Edit]]:
    """Group edits by the folder in which their files are staged."""
    groups: dict[Path, dict[Path, Edit]] = {}
    for target, edit in edits.items():
        groups.setdefault(staging_parent(target), {})[target] = edit
    return groups.values()


@contextmanager
def _staged(edits: Mapping[Path, Edit]) -> Iterator[Path]:
    """Yield a staging folder on the file system of some files, with their new contents."""
    for parent, target in {target.parent: target for target in edits}.items():
        sweep(target, parent)
    with staging(next(iter(edits))) as folder:
        stage_edits(folder, edits)
        yield folder


@contextmanager
def _prepared(out: Path, texts: Mapping[str, str], stubs: Mapping[Path, str]) -> Iterator[tuple[Path, _Run]]:
    """Yield a run with its new files in a temporary folder."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder), _stage(Path(folder), out, texts, Manifest(), stubs)
    except OSError as error:
        raise disk_error("write", error, out) from error


def _stage(
    folder: Path, out: Path, texts: Mapping[str, str], facts: Manifest, stubs: Mapping[Path, str]
) -> _Run:
    """Format the new files; `facts` has the fields of the new manifest other than its files."""
    stage(folder, texts, stubs)
    new = {path: digest((folder / "tree" / path).read_bytes()) for path in texts}
    before = compared(out, new)
    files = {path: FileDigests(written=written) for path, written in new.items()}
    return _Run(
        before=before,
        new={path: new for path, new in new.items() if before.found.get(path) != new},
        deleted=tuple(path for path in before.stale if path in before.found),
        manifest=replace(
            facts, files=files | {path: before.manifest.files[path] for path in before.retained}
        ),
    )


def _move_all(
    out: Path, folder: Path, run: _Run, stubs: Mapping[Path, str], edits: Mapping[Path, Edit]
) -> None:
    """Move all files to their places; after an exception, restore the old files.

    Edits come last: if the run is killed before an edit, the next run inserts the method.
    """
    moves = AtomicWrite(backup=folder / "attic")
    try:
        for number, target in enumerate(stubs):
            moves.put_new(folder / f"stubs/{number}.py", target)
        _move_tree(out, folder, run, moves)
        for number, (target, edit) in enumerate(edits.items()):
            moves.put_edit(folder / f"edits/{number}", target, edit)
    except BaseException:
        moves.undo()
        raise


def _move_tree(out: Path, folder: Path, run: _Run, moves: AtomicWrite) -> None:
    tree = folder / "tree"
    (tree / MANIFEST).write_text(run.manifest.text(), "utf-8")
    if not out.exists():
        moves.put(tree, SafePath.of(out))
        return
    if run.new or run.deleted:
        (folder / MANIFEST).write_text(_transitional_manifest(run).text(), "utf-8")
        moves.put(folder / MANIFEST, _place(out, MANIFEST))
    for path in run.deleted:
        moves.remove(_place(out, path))
    for path in run.new:
        moves.put(tree / path, _place(out, path))
    remove_empty(out, run.before.stale)
    moves.put(tree / MANIFEST, _place(out, MANIFEST))


def _place(out: Path, path: str) -> SafePath:
    return SafePath(root=out, path=PurePosixPath(path))


def _transitional_manifest(run: _Run) -> Manifest:
    """Return the manifest during the move, which accepts the old and the new content of each file."""
    before = run.before
    files = dict(before.manifest.files)
    for path, new in run.new.items():
        written = files[path].written if path in before.edited else before.found.get(path, "")
        files[path] = FileDigests(written=written, staged=new)
    return replace(before.manifest, files=files)
