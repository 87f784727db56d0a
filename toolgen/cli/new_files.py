"""Writes new files of the author."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from toolgen.codegen.write import Edit
from toolgen.codegen.write.output import replace_files
from toolgen.contract.errors import ToolgenError

_MOST_NAMES = 3


def write_new_files(out: Path, texts: Mapping[str, str], *, is_forced: bool) -> None:
    """Write all files, the first one last, or none of them.

    The folder is created if it is missing.

    Raises:
        ToolgenError: a file exists and `is_forced` is not set, or the folder cannot be written.
    """
    files = {out / path: texts[path].encode() for path in reversed(list(texts))}
    there = [str(file) for file in reversed(list(files)) if file.exists() or file.is_symlink()]
    if there and not is_forced:
        more = f" and {len(there) - _MOST_NAMES} more" if len(there) > _MOST_NAMES else ""
        raise ToolgenError(
            f"these files already exist: {', '.join(there[:_MOST_NAMES])}{more}; nothing was written",
            hint="overwrite them with --force, or choose another --name or --out",
        )
    olds = {file: file.read_bytes() if file.is_file() else None for file in files}
    replace_files({file: Edit(old=olds[file], new=new) for file, new in files.items()})
