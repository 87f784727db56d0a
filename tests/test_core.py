"""The core stands alone: it imports nothing else of toolgen when it is imported, and stays small."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from benchmarks.sizes import lines_of_code
from tests.core import IMPORT_ALL, MODULES, ROOT, copy_core, core_files, limits
from tests.surface import exported


def test_each_module_is_imported_without_the_rest_of_toolgen(tmp_path: Path) -> None:
    copy_core(tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-c", IMPORT_ALL, str(tmp_path), *MODULES]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == sum(path.suffix == ".py" for path in core_files())


def test_it_has_no_more_lines_and_public_names_than_the_documentation_says() -> None:
    most_lines, most_names = limits()
    files = [ROOT / path for path in core_files() if path.suffix == ".py"]
    assert sum(lines_of_code(file.read_text("utf-8")) for file in files) <= most_lines
    names = [f"{module}.{name}" for module in MODULES for name in exported(module)]
    assert len(names) <= most_names, names
