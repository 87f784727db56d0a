"""Every case generates exactly the tree beside it, and all trees are clean. `UPDATE=1` rewrites them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from ruff import find_ruff_bin

from tests.golden import CASES, NAMES, expected, read, write
from tests.large_toolset import package

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("case", NAMES)
def test_a_case_generates_its_tree(case: str) -> None:
    folder, tree = CASES / case / "gen", expected()[case]
    if os.environ.get("UPDATE"):
        shutil.rmtree(folder, ignore_errors=True)
        write(folder, tree)
    found = read(folder)
    assert sorted(found) == sorted(tree)
    for path, text in tree.items():
        assert found[path] == text, f"{path} changed; `UPDATE=1 pytest {Path(__file__).name}` rewrites it"


def test_every_tree_passes_the_linter(tmp_path: Path) -> None:
    package(tmp_path)
    rules = "ASYNC,B,C4,DTZ,E,F,I,PIE,PT,RET,RUF,SIM,UP,W"
    isort = 'lint.isort.known-third-party=["toolgen"]'
    options = [
        "--isolated",
        "--no-cache",
        "--target-version",
        "py311",
        "--line-length",
        "100",
        "--config",
        isort,
    ]
    trees = [str(tmp_path), *(str(CASES / case / "gen") for case in NAMES)]
    # E501: descriptions and schemas stand on one line. RUF001-3: an author may write any character.
    run(
        [
            find_ruff_bin(),
            "check",
            "--ignore-noqa",  # which the header has for the settings of users
            *options,
            "--select",
            rules,
            "--ignore",
            "E501,RUF001,RUF002,RUF003",
            *trees,
        ]
    )


def run(command: list[str]) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
