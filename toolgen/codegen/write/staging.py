"""New files before they stand in their places: written into one folder and formatted there."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from toolgen.contract.errors import ToolgenError

from .moves import Edit

STAGING: Final = ".toolgen-staging-"
"""How the names of the folders begin in which runs prepare their files."""

_RUFF_ARGUMENTS: Final = (
    "format --isolated --no-cache --no-respect-gitignore "
    "--config line-length=100 --config exclude=[] --target-version py311 ."
).split()


def stage(folder: Path, texts: Mapping[str, str], beside: Mapping[Path, str]) -> None:
    """Write the tree to `tree` and the files of `beside`, by number, to `beside`; format both."""
    (folder / "tree").mkdir()
    for path, text in texts.items():
        _write(folder / "tree" / path, text.encode())
    for number, text in enumerate(beside.values()):
        _write(folder / f"beside/{number}.py", text.encode())
    if any(path.endswith(".py") for path in texts) or beside:
        _format(folder)


def stage_edits(folder: Path, edits: Mapping[Path, Edit]) -> None:
    """Write what the author's files become, by number, to `edits`."""
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
