"""A disk that fails for a process and its children, by a library that replaces calls (`LD_PRELOAD`)."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

SOURCE: Final = Path(__file__).parent / "lab" / "disk.c"
FAULT: Final = "fault"
"""The file in the folder of a process that says what fails now."""


@functools.cache
def library() -> Path:
    """Return the compiled library.

    Raises:
        RuntimeError: this machine has no C compiler, or that does not take the source.
    """
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise RuntimeError("no C compiler is on this machine, which failing disks need (apt-get install gcc)")
    target = Path(tempfile.mkdtemp(prefix="disk-")) / "disk.so"
    command = [
        compiler,
        "-O1",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-shared",
        "-fPIC",
        str(SOURCE),
        "-o",
        str(target),
    ]
    done = subprocess.run([*command, "-ldl"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return target


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of a process whose disk fails as the file `fault` of a folder says."""
    return {**os.environ, "LD_PRELOAD": str(library()), "LAB_FAULT": str(folder / FAULT)}


def break_disk(folder: Path, *, error: int, calls: str, names: str, every: int = 1) -> None:
    """Let every call, or every n-th, fail on files whose names begin so."""
    draft = folder / f"{FAULT}.new"
    draft.write_text(f"{error} {calls} {names} {every}")
    draft.rename(folder / FAULT)


def repair_disk(folder: Path) -> None:
    (folder / FAULT).unlink(missing_ok=True)


def printed(module: str, folder: Path, *arguments: Any) -> str:
    """Return what a module prints that is executed with such a disk."""
    command = [sys.executable, "-m", module, str(folder), *map(str, arguments)]
    done = subprocess.run(
        command, env=environment(folder), capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
