"""`python -m tests.parts ARGUMENTS`: pytest in two processes for each core, each with its part of the files.

Many tests wait for files, sockets and processes, which leaves a core with one process idle for a third of the
time.

A part collects its own files alone, and reports to nobody: what a worker of pytest-xdist sends of a test
takes as long as pytest itself needs for it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final

import pytest

MOST: Final = 8
"""The most processes."""


def main(arguments: Sequence[str]) -> int:
    """Return an exit code; what the first part prints is shown as it comes, that of another when it ends."""
    count = min(2 * (os.cpu_count() or 1), MOST)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    with ExitStack() as files:
        outputs = [None, *(files.enter_context(TemporaryFile()) for _ in range(1, count))]
        parts = [
            subprocess.Popen([*command, f"--part={at}/{count}"], stdout=output, stderr=output)
            for at, output in enumerate(outputs)
        ]
        codes = {part.wait() for part in parts}
        for output in filter(None, outputs):
            output.seek(0)
            shutil.copyfileobj(output, sys.stdout.buffer)
    failed = codes - {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}
    return pytest.ExitCode.TESTS_FAILED if failed else min(codes)


def is_elsewhere(file: Path, part: str) -> bool:
    """Return whether a file of tests is of another part than `part`, such as `0/2`."""
    at, count = map(int, part.split("/"))
    return _files().get(file, 0) % count != at


@cache
def _files() -> dict[Path, int]:
    """Return the place of each file in an order in which neighbours cost alike."""
    files = Path(__file__).parent.rglob("test_*.py")
    ordered = sorted(files, key=lambda file: (file.parent, file.stat().st_size, file.name))
    return {file: index for index, file in enumerate(ordered)}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
