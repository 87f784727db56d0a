"""mypy and pyright over the generated trees of all cases, each in one run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.large_toolset import package

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


def test_a_large_toolset_passes_both(tmp_path: Path) -> None:
    package(tmp_path)
    config = {"include": ["large"], "extraPaths": [str(ROOT)]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(config), "utf-8")
    checks = ("mypy", "--config-file=", "--strict", "large"), ("pyright", "--project", "pyrightconfig.json")
    for check in checks:
        run([sys.executable, "-m", *check], tmp_path)


def run(command: list[str], folder: Path = ROOT) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
