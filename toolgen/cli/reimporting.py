"""Repeated imports of a source: the lock, and the merge into the author's files."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from tokenize import detect_encoding
from typing import Any, Final, get_args

from toolgen.codegen.write import Edit
from toolgen.codegen.write.staging import formatted
from toolgen.contract.errors import ToolgenError
from toolgen.contract.findings import Code, Finding, Format, Place
from toolgen.contract.lock_file import LockError
from toolgen.contract.printable import printable, visible
from toolgen.contract.record import frozen_record
from toolgen.importers.codes import CONFLICT, DECLINED, REMOVED, UPDATED
from toolgen.importers.reimport.clause_merge import ChangeKind, DesignChange
from toolgen.importers.reimport.conflicts import LastImport, OpenConflict
from toolgen.importers.reimport.lock import (
    ImportLock,
    digest,
    lock_path,
    lock_text,
    read_lock,
)
from toolgen.importers.reimport.merge import Merged, merge
from toolgen.importers.reimport.places import described, tool_of
from toolgen.importers.reimport.source_text import UnreadableDesignError

from .trust import require_trusted

_CODES: Final[Mapping[ChangeKind, Code]] = {
    "added": UPDATED,
    "changed": UPDATED,
    "removed": UPDATED,
    "conflict": CONFLICT,
    "gone": REMOVED,
    "declined": DECLINED,
}
_BOM: Final = "\ufeff"
TAKE_LOCK: Final = (
    "restore the lock from version control; or import into a new module (--out other_design.py) and copy "
    "your edits there; or overwrite the design and its lock with --force, which discards your edits"
)


@frozen_record
class Effect:
    """A change that an import makes, or does not make, to the author's files."""

    kind: ChangeKind
    subject: str
    file: Path
    line: int = 0
    tool: str = ""
    now: str = ""
    """New value in the source; "" unless this is a conflict."""
    place: str = ""
    """Name of a conflict that stays open until the author resolves it; "" for other effects."""
    was: str = ""
    """The target that the author decided on."""
    guards: tuple[str, ...] = ()
    """Guards of the author that stay in effect until then."""
    design: Path = Path()
    """The design of an open conflict."""
    is_old: bool = False
    """Whether an earlier import already reported it."""

    @property
    def text(self) -> str:
        if self.place and self.kind == "conflict":
            return f"{printable(self.place)}: {self._target_text}"
        match self.kind:
            case "added" | "changed" | "removed":
                return f"{self.kind}: {self.subject}"
            case "conflict":
                return f"{self.subject} was edited here, and the source changed it to: {self.now}"
            case "gone":
                return f"the source no longer has {self.subject}, which was edited or is used here"
            case "declined":
                return f"not changed: {self.subject}, which was removed here and changed in the source"

    @property
    def _target_text(self) -> str:
        """The change of a target, and its consequence."""
        was, now = self.was, self.now
        match self.place.partition(":")[0]:
            case "server" if not was:
                return f"the source has a new server, {now!r}, which is not accepted"
            case "server":
                return f"the address was {was!r} and is now {now!r}, which is not accepted"
            case "credential":
                return f"the credential was {was!r} and is now {now!r}"
            case "security" if not was:
                return f"it is new, and sends {now!r}, which was not sent there"
            case "security":
                return f"the credentials that it sends were {was!r} and are now {now!r}"
            case "tool":
                text = f"the tool sent {was!r} and now sends {now!r}"
            case _ if not now:
                return f"the source no longer has {was!r}, to which you added a guard"
            case _:
                text = f"this was {was!r} and is now {now!r}"
        guards = ", ".join(self.guards)
        return f"{text}; until you resolve it, the tool keeps {guards}" if guards else text

    @property
    def note(self) -> str:
        """The effect as a line for people."""
        place = f"{self.file}:{self.line}" if self.line else str(self.file)
        return f"{place}: {visible(self.text)}"

    def finding(self, format: Format) -> Finding:
        """Return the effect as a finding; the text names its tool already."""
        place = Place(file=str(self.file))
        if self.line:
            place = Place(file=str(self.file), line=self.line, column=1, end_line=self.line, end_column=1)
        hint = {
            "conflict": "edit it as you want; the next import keeps your edit",
            "gone": "remove it, if nothing needs it",
        }
        if self.place:
            command = f"toolgen import --resolve {shlex.quote(self.place)}"
            if self.file.parent != Path():
                command += f" --out {shlex.quote(str(self.design))}"
            then = "remove it, if nothing needs it" if self.kind == "gone" else "check it and edit the design"
            hint = {self.kind: f"{then}, then run: {command}"}
        return _CODES[self.kind].finding(
            self.text, place=place, tool=self.tool if format != "text" else "", hint=hint.get(self.kind, "")
        )


@frozen_record
class Update:
    """The edits of an import, with their effects."""

    edits: Mapping[Path, Edit]
    """Edits by file: first the schemas, then the design, then the lock."""
    effects: tuple[Effect, ...]


def last_import(design: Path, kind: str) -> ImportLock | None:
    """Return the lock of the last import of a design; None if there is no lock or no design.

    Raises:
        ToolgenError: the lock cannot be read, or is of another kind of source.
    """
    file = Path(lock_path(design))
    if not design.exists() or not file.exists():
        return None
    lock = stored_lock(file)
    if lock.kind != kind:
        message = f"{design} was imported from {lock.kind}, not from {kind}"
        raise ToolgenError(message, hint="choose another --name or --out, or overwrite it with --force")
    return lock


def stored_lock(file: Path) -> ImportLock:
    """Return the lock in a file.

    Raises:
        ToolgenError: it cannot be read, or belongs to another user, since its module is run for comparisons.
    """
    require_trusted(file.absolute())
    try:
        return read_lock(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, LockError) as error:
        raise ToolgenError(f"{file} {error}", hint=TAKE_LOCK) from error


def planned_update(
    design: Path,
    last: ImportLock,
    lock: ImportLock,
    files: Mapping[str, str],
    unread: Collection[str],
    *,
    chosen: Collection[str],
    is_check: bool,
) -> Update:
    """Return the update of a design that was imported before, and of the files beside it.

    `lock` is the lock of the new import and `files` are its schemas, by relative path; `unread` are tools of
    the source that could not be read; `chosen` are addresses that the command names. `last` has the open
    conflicts. With `is_check`, line numbers refer to the current design.

    Raises:
        ToolgenError: a file cannot be read, or the design cannot be merged.
    """
    folder = design.parent
    read = {folder / path: _bytes_of(folder / path) for path in dict.fromkeys([*last.files, *files])}
    texts: dict[Path, bytes | None] = {}
    effects: list[Effect] = []
    for path in read:
        now = files.get(str(path.relative_to(folder).as_posix()))
        last_digest = last.files.get(path.relative_to(folder).as_posix())
        kind = _file_change(read[path], last_digest, now)
        if kind in ("added", "changed", "removed"):
            texts[path] = now.encode() if now is not None else None
        if kind is not None and kind != "gone":
            new_text = "the new version of the file" if now is not None else ""
            effects.append(Effect(kind=kind, subject="this schema", file=path, now=new_text))
    data = _bytes_of(design) or b""
    merged = _merged(design, data, last, lock, unread, chosen)
    lasting = {**_removed_files(folder, read, last, files), **merged.open}
    effects = [
        *_conflicts(design, lasting, merged.lines_before if is_check else merged.lines, last),
        *(_effect(change, design, is_check=is_check) for change in merged.changes if change.kind != "gone"),
        *effects,
    ]
    if (new := _encoded(merged.text, data)) != data:
        texts[design] = new
    lock = replace(lock, module=last.module) if merged.is_same else lock
    lock = replace(lock, open=lasting, options=_without_open(lock.options, lasting))
    file = Path(lock_path(design))
    if (text := lock_text(lock).encode()) != _bytes_of(file):
        texts[file] = text
    read |= {design: data, file: _bytes_of(file)}
    edits = {file: Edit(old=read[file], new=text) for file, text in texts.items()}
    return Update(edits=edits, effects=tuple(effects))


def _removed_files(
    folder: Path, read: Mapping[Path, bytes | None], last: ImportLock, files: Mapping[str, str]
) -> dict[str, OpenConflict]:
    """Return the conflicts about schemas that were edited here and removed from the source."""
    paths = {path.relative_to(folder).as_posix(): data for path, data in read.items()}
    return {
        name: OpenConflict(was=name, now="")
        for name, data in paths.items()
        if _file_change(data, last.files.get(name), files.get(name)) == "gone"
    }


def _conflicts(
    design: Path, conflicts: Mapping[str, OpenConflict], lines: Mapping[str, int], last: ImportLock
) -> Iterator[Effect]:
    """Yield the conflicts that the author has to resolve."""
    for place, conflict in sorted(conflicts.items(), key=lambda each: lines.get(each[0], 0)):
        is_file = not conflict.path and ":" not in place
        name = place.partition(":")[2].partition(".")[0]
        yield Effect(
            kind="gone" if is_file or conflict.path else "conflict",
            subject="this schema" if is_file else described(conflict.path),
            file=design.parent / place if is_file else design,
            line=lines.get(place, 0),
            tool=tool_of(conflict.path) or ("" if is_file or place.startswith("server:") else name),
            now=conflict.now,
            place=place,
            was=conflict.was,
            guards=conflict.guards,
            design=design,
            is_old=last.open.get(place) == conflict,
        )


def _without_open(options: Mapping[str, Any], conflicts: Mapping[str, OpenConflict]) -> dict[str, Any]:
    """Return the options of a lock without accepted addresses that are in conflict."""
    now = {each.now for each in conflicts.values()}
    accepted = [each for each in options.get("accept-server", ()) if each not in now]
    rest = {name: value for name, value in options.items() if name != "accept-server"}
    return rest | ({"accept-server": accepted} if accepted else {})


def _file_change(here: bytes | None, last: str | None, now: str | None) -> ChangeKind | None:
    """Return the kind of change of a file beside a design; None if it stays the same."""
    new = digest(now) if now is not None else None
    old = digest(here.decode("utf-8", "surrogateescape")) if here is not None else None
    if new in (last, old):
        return None
    if old == last:
        return "added" if last is None else "removed" if new is None else "changed"
    if here is None:
        return "added" if new is not None else None
    return "gone" if new is None else "conflict"


def _merged(
    design: Path,
    data: bytes,
    last: ImportLock,
    lock: ImportLock,
    unread: Collection[str],
    chosen: Collection[str],
) -> Merged:
    """Return the merged design, with a text that has no byte order mark and only line feeds."""
    try:
        if not detect_encoding(BytesIO(data).readline)[0].startswith("utf-8"):
            raise _refused(design, 1, "is not UTF-8")
        ours = data.decode().removeprefix(_BOM).replace(_line_end(data), "\n")
        return merge(
            last.module,
            ours,
            lock.module,
            unread=unread,
            recorded=LastImport(targets=last.targets, open=last.open, chosen=chosen),
            formatted=formatted,
        )
    except (UnicodeDecodeError, SyntaxError) as error:
        raise _refused(design, 1, "is not UTF-8") from error
    except RecursionError as error:
        raise _refused(design, 1, "is nested too deeply") from error
    except UnreadableDesignError as error:
        raise _refused(design, error.line, str(error)) from error


def _encoded(text: str, data: bytes) -> bytes:
    """Return the bytes of a text with the byte order mark and the line ends that a file had."""
    mark = _BOM if data.startswith(_BOM.encode()) else ""
    return (mark + text.replace("\n", _line_end(data))).encode()


def _line_end(data: bytes) -> str:
    """Return the line end of a file; a line feed if the line ends differ."""
    return "\r\n" if b"\r\n" in data and b"\n" not in data.replace(b"\r\n", b"") else "\n"


def _refused(design: Path, line: int, message: str) -> ToolgenError:
    hint = "correct it and import again, or write a new design with --force"
    return ToolgenError(f"{design}:{line}: {message}; nothing was written", hint=hint)


def _effect(change: DesignChange, design: Path, *, is_check: bool) -> Effect:
    return Effect(
        kind=change.kind,
        subject=described(change.path),
        file=design,
        line=change.line_before if is_check else change.line,
        tool=tool_of(change.path),
        now=change.now,
    )


def counts_of(effects: Collection[Effect]) -> Iterator[str]:
    """Yield the number of effects of each kind."""
    counts = Counter(effect.kind for effect in effects)
    words: dict[ChangeKind, str] = {"conflict": "in conflict", "declined": "not taken"}
    for kind in get_args(ChangeKind):
        if counts[kind]:
            yield f"{counts[kind]:,} {words.get(kind, kind)}"


def _bytes_of(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ToolgenError(f"cannot read {file}: {error.strerror}", hint="make it a readable file") from error
