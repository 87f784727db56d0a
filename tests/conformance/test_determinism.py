"""Generation depends neither on the seed of hashes nor on the working directory."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.selection import stride

ROOT = Path(__file__).resolve().parents[2]

DIGEST = """
import hashlib
from tests.golden import NAMES, design, module
from toolgen.codegen import generate
trees = [list(generate(design(case), module=module(case)).items()) for case in NAMES]
print(hashlib.sha256(repr(trees).encode()).hexdigest())
"""


@pytest.mark.volume
@pytest.mark.parametrize("seed", stride(["0", "4711"], 2))
def test_output_depends_neither_on_hash_seed_nor_on_the_working_directory(seed: str, tmp_path: Path) -> None:
    assert _digest(seed, tmp_path) == _digest("2", ROOT)


@cache
def _digest(seed: str, folder: Path) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", DIGEST]
    done = subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True)
    return done.stdout
