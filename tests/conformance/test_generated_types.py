"""mypy and pyright over the generated trees of all cases, each in one run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.costly

ROOT = Path(__file__).parents[2]


def test_every_tree_passes_mypy() -> None:
    run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--config-file=",
            "--strict",
            "--explicit-package-bases",
            "tests/cases",
        ]
    )


def test_every_tree_passes_pyright() -> None:
    run([sys.executable, "-m", "pyright", "--project", "tests/pyright-cases.json"])


def run(command: list[str]) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
