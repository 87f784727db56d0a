"""The target of an import: the module of the last import of a source, with its options, or a new one."""

from __future__ import annotations

import keyword
import shlex
import sys
from dataclasses import replace
from pathlib import Path

from toolgen.contract.errors import ToolgenError
from toolgen.importers.reimport.lock import LOCK_SUFFIX, ImportLock, design_path
from toolgen.shapes.naming import snake

from .import_request import ImportRequest, name_of
from .reimporting import last_import, stored_lock


def remembered(request: ImportRequest, source_name: str) -> tuple[ImportRequest, Path, ImportLock | None]:
    """Return the request with name and options of the last import, the design file, and the last import."""
    name = request.name or name_of(source_name)
    file = _place(request.out, name)
    if request.out.suffix != ".py":
        source = request.stored_source(request.out)
        file = _imported_design(file, request.kind, source, request.name, is_forced=request.is_forced)
    try:
        last = last_import(file, request.kind)
    except ToolgenError:
        if not request.is_forced:
            raise
        last = None
    if last is not None and request.is_forced:
        options = {option: value for option, value in last.options.items() if option != "accept-server"}
        request, last = request.remembered(options), None
    elif last is not None:
        request = request.remembered(last.options)
    return replace(request, name=request.name or name), file, last


def _imported_design(design: Path, kind: str, source: str, name: str, *, is_forced: bool) -> Path:
    """Return the design in the folder that was imported from a source, under any name; otherwise `design`.

    `source` is relative to the folder. With a `name`, designs with other names are ignored.

    Raises:
        ToolgenError: a lock in the folder cannot be read and not `is_forced`, or several designs match.
    """
    found: list[Path] = []
    for file in sorted(design.parent.glob(f"*{LOCK_SUFFIX}")):
        try:
            lock, other = stored_lock(file), Path(design_path(file))
        except ToolgenError:
            if not is_forced:
                raise
            continue
        is_same = lock.kind == kind and lock.source == source and other.exists()
        if is_same and name in ("", lock.options.get("name")):
            found.append(other)
    if len(found) < 2 or design in found:
        return design if design in found or not found else found[0]
    names = ", ".join(each.name for each in found)
    hint = f"choose one of them, for example --out {shlex.quote(str(found[0]))}"
    raise ToolgenError(f"several designs were imported from {source}: {names}", hint=hint)


def _place(out: Path, name: str) -> Path:
    """Return the path of the design module.

    Raises:
        ToolgenError: `out` is a file that Python cannot import, or that would hide a standard module.
    """
    if out.suffix != ".py":
        return out / f"{name}_design.py"
    if not out.stem.isidentifier() or keyword.iskeyword(out.stem):
        hint = f"--out {out.with_name(f'{snake(out.stem) or name}_design.py')}"
        raise ToolgenError(f"--out {str(out)!r} is not a module that Python can import", hint=hint)
    if out.stem in sys.stdlib_module_names and out.parent.resolve() == Path.cwd():
        hint = f"--out {out.with_name(f'{out.stem}_design.py')}"
        raise ToolgenError(f"--out {str(out)!r} would hide Python's own module {out.stem!r}", hint=hint)
    return out
