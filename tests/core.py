"""The core, as `docs/architecture.md` defines it: its files, and the limits of its size."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs/architecture.md").read_text("utf-8")
PART = re.compile(r"^- `(\w+)`(?:, without ((?:.|\n  )*))?$", re.MULTILINE)
MODULES = ("toolgen.runtime", "toolgen.catalog")
"""The public ones; `toolgen.runtime.generated` is for generated code alone."""


def core_files() -> Iterator[Path]:
    """Yield the files of the core, relative to the root of the repository."""
    section = PAGE.partition("\n## The core\n")[2].partition("\n## ")[0]
    yield from (Path("toolgen/__init__.py"), Path("toolgen/py.typed"))
    for package, left_out in PART.findall(section):
        without = [Path("toolgen", name) for name in re.findall(r"`([\w/.]+)`", left_out)]
        assert all((ROOT / path).exists() for path in without), without
        for file in sorted((ROOT / "toolgen" / package).rglob("*")):
            path = file.relative_to(ROOT)
            is_left_out = any(path.is_relative_to(each) for each in without)
            if file.is_file() and "__pycache__" not in path.parts and not is_left_out:
                yield path


def limits() -> tuple[int, int]:
    """Return the most lines of code and the most public names that the core may have."""
    found = re.search(r"at most ([\d,]+) lines of code and (\d+) public names", PAGE)
    assert found
    return int(found[1].replace(",", "")), int(found[2])


def copy_core(folder: Path) -> None:
    """Copy the files of the core, and nothing else of toolgen."""
    for path in core_files():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, folder / path)


IMPORT_ALL = """
import importlib, pathlib, sys
folder = pathlib.Path(sys.argv[1])
for file in sorted(folder.glob("toolgen/**/*.py")):
    importlib.import_module(".".join(file.relative_to(folder).with_suffix("").parts).removesuffix(".__init__"))
for module in sys.argv[2:]:
    offered = importlib.import_module(module)
    [getattr(offered, name) for name in offered.__all__]
loaded = {name for name in sys.modules if name.partition(".")[0] == "toolgen"}
print(len(loaded))
"""
"""Imports each module of a folder with the core, and each name of its public modules."""
