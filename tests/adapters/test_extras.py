"""A part of toolgen without the packages of its extra says which extra to install."""

from __future__ import annotations

import subprocess
import sys

import pytest

PACKAGES = [
    ("import toolgen.adapters.http", "starlette", "serve"),
    pytest.param("import toolgen.adapters.http.serving", "uvicorn", "serve", marks=pytest.mark.exhaustive),
    ("from toolgen.events import ToolSpans as T; T()", "opentelemetry", "otel"),
    pytest.param(
        "from toolgen.events import Metrics as M; M()", "opentelemetry", "otel", marks=pytest.mark.exhaustive
    ),
    pytest.param("import toolgen.adapters.postgres", "psycopg", "postgres", marks=pytest.mark.exhaustive),
    pytest.param("import toolgen.engines.temporal", "temporalio", "temporal", marks=pytest.mark.exhaustive),
    pytest.param("import toolgen.adapters.fastmcp", "anyio", "fastmcp", marks=pytest.mark.exhaustive),
]


@pytest.mark.parametrize(("statement", "package", "extra"), PACKAGES)
def test_what_is_missing_is_named_with_its_extra(statement: str, package: str, extra: str) -> None:
    script = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "from toolgen.contract.errors import ToolgenError\n"
        f"try: {statement}\n"
        "except ToolgenError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    problem, hint = done.stdout.splitlines()
    assert problem.startswith(f"the package '{package}")
    assert hint == f"  hint: pip install 'toolgen[{extra}]'"
