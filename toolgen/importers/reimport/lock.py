"""The lock file of an import: its source and result, by which the next import recognizes edits."""

from __future__ import annotations

import dataclasses
import hashlib
from dataclasses import field
from pathlib import PurePath
from typing import Any, Final, TypeGuard, get_args

from toolgen.contract.json_value import Json
from toolgen.contract.lock_file import LockError, lock_file_text, read_lock_file
from toolgen.contract.record import frozen_record

from ..tool import Kind
from .conflicts import OpenConflict, OpenConflicts
from .targets import Targets

LOCK_SUFFIX: Final = ".import.json"
_COMMAND: Final = "toolgen import KIND SOURCE --force, which discards your edits of the design"


def is_kind(text: str) -> TypeGuard[Kind]:
    """Return whether a text is a kind of source."""
    return text in get_args(Kind)


@frozen_record
class ImportLock:
    """The result of the last import, and its source."""

    kind: Kind
    source: str
    """Source; a file is relative to the folder of the lock."""
    options: dict[str, Any] = field(default_factory=dict)
    """Options that affect the result, by their names on the command line."""
    module: str
    """Design as it was imported, formatted."""
    files: dict[str, str] = field(default_factory=dict)
    """SHA-256 of each file next to the design, in hexadecimal digits, by relative path."""
    names: dict[str, str] = field(default_factory=dict)
    """Names assigned by the import, by identity in the source."""
    targets: Targets
    """Target in the source of each part of the module, by place."""
    open: OpenConflicts = field(default_factory=dict[str, OpenConflict])
    """Changes of targets that the author has not resolved, by place."""


def lock_path(design: PurePath) -> PurePath:
    """Return the path of the lock next to a design module."""
    return design.with_suffix(LOCK_SUFFIX)


def design_path(lock: PurePath) -> PurePath:
    """Return the path of the design module next to a lock."""
    return lock.with_name(f"{lock.name.removesuffix(LOCK_SUFFIX)}.py")


def digest(text: str) -> str:
    """Return the digest of a file for the lock."""
    return hashlib.sha256(text.encode()).hexdigest()


def lock_text(lock: ImportLock) -> str:
    """Return the text of a lock; it contains the module line by line, so that diffs are readable."""
    facts: dict[str, Json] = {
        "source": lock.source,
        "options": lock.options,
        "files": dict(lock.files.items()),
        "names": dict(sorted(lock.names.items())),
        "targets": dict(sorted(lock.targets.items())),
        "open": {place: dataclasses.asdict(each) for place, each in sorted(lock.open.items())},
        "module": [*lock.module.split("\n")],
    }
    return lock_file_text(lock.kind, facts)


def read_lock(text: str) -> ImportLock:
    """Return the lock in a text.

    Raises:
        LockError: The text is not a lock file of toolgen import, or has another format.
    """
    match read_lock_file(text, _COMMAND):
        case {
            "kind": str(kind),
            "source": str(source),
            "options": dict(options),
            "files": dict(files),
            "names": dict(names),
            "targets": dict(targets),
            "open": dict(conflicts),
            "module": list(lines),
        } if is_kind(kind) and _are_texts([*lines, *files.values(), *names.values(), *targets.values()]):
            return ImportLock(
                kind=kind,
                source=source,
                options=options,
                module="\n".join(lines),
                files=files,
                names=names,
                targets=targets,
                open={place: _conflict(each) for place, each in conflicts.items()},
            )
    raise LockError("is not a lock file of toolgen import")


def _conflict(value: object) -> OpenConflict:
    match value:
        case {"was": str(was), "now": str(now), "guards": list(guards), "path": list(keys)} if _are_texts(
            guards
        ) and all(isinstance(key, list) and key and _are_texts(key) for key in keys):
            return OpenConflict(
                was=was, now=now, guards=tuple(guards), path=tuple(tuple(key) for key in keys)
            )
    raise LockError("is not a lock file of toolgen import")


def _are_texts(values: list[Any]) -> bool:
    return all(isinstance(each, str) for each in values)
