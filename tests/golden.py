"""The cases: each a design beside the tree that is generated from it."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from pathlib import Path

from ruff import find_ruff_bin

from toolgen.codegen import generate
from toolgen.dsl import build
from toolgen.dsl.expr.tree import Design

CASES = Path(__file__).parent / "cases"
NAMES = sorted(path.parent.name for path in CASES.glob("*/design.py"))

_FORMAT = "format --isolated --no-cache --quiet --config line-length=100 --target-version py311 .".split()


@lru_cache
def design(case: str) -> Design:
    evaluation = build(import_module(module(case)).design)
    assert evaluation.design is not None, [one.message for one in evaluation.diagnostics]
    return evaluation.design


def module(case: str) -> str:
    return f"tests.cases.{case}.design"


@lru_cache
def expected() -> dict[str, dict[str, str]]:
    """Return the formatted tree of every case; ruff runs once for all."""
    texts = {
        f"{case}/gen/{path}": text
        for case in NAMES
        for path, text in generate(design(case), module=module(case)).items()
    }
    trees: dict[str, dict[str, str]] = {case: {} for case in NAMES}
    for path, text in formatted(texts).items():
        case, _, inner = path.partition("/gen/")
        trees[case][inner] = text
    return trees


def formatted(texts: Mapping[str, str]) -> dict[str, str]:
    """Return the texts as `toolgen gen` formats them."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), texts)
        subprocess.run([find_ruff_bin(), *_FORMAT], cwd=folder, check=True)
        return {path: (Path(folder) / path).read_text(encoding="utf-8") for path in texts}


def write(folder: Path, texts: Mapping[str, str]) -> None:
    for path, text in texts.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")


def read(folder: Path) -> dict[str, str]:
    """Return the texts of a tree, compiled files left out."""
    return {
        file.relative_to(folder).as_posix(): file.read_text(encoding="utf-8")
        for file in sorted(folder.rglob("*"))
        if file.is_file() and "__pycache__" not in file.parts
    }
