"""Generated TypeScript compiles with the settings and the compilers that ordinary projects have."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.compiler import COMPILERS, SETTINGS, configure, project, refused, settings
from tests.conformance.test_typescript import everything
from tests.selection import diagonal


@pytest.mark.parametrize(("name", "compiler"), diagonal(SETTINGS, COMPILERS))
def test_the_example_and_the_cases_compile(name: str, compiler: str, tmp_path: Path) -> None:
    folder = project(tmp_path, everything())
    configure(folder, settings(name))
    assert refused(folder, compiler) == {}
