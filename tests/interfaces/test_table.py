"""Every interface has a row of the table, every cell tests that exist or a reason, and a document says it."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .interfaces import PACKAGE, interfaces
from .table import SUMMARY, cells, faults, read_table, summary

ROOT = PACKAGE.parent


@pytest.fixture
def table() -> dict[str, Any]:
    return read_table()


@pytest.fixture(scope="module")
def known() -> list[str]:
    return interfaces()


def test_the_table_has_each_interface_and_no_empty_cell(table: dict[str, Any], known: list[str]) -> None:
    assert faults(table, known) == []


def test_a_removed_row_is_missed(table: dict[str, Any], known: list[str]) -> None:
    for number, row in enumerate(table["rows"]):
        changed = {**table, "rows": [*table["rows"][:number], *table["rows"][number + 1 :]]}
        assert faults(changed, known) == [f"{name} has no row" for name in sorted(row["interfaces"])]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"redaction": ""}, "`call`: redaction has neither a test nor a reason"),
        ({"redaction": []}, "`call`: redaction has neither a test nor a reason"),
        ({"reduction": "no"}, "`call`: 'reduction' is no class"),
        ({"interfaces": ["command call", "command approve"]}, "command approve has 2 rows"),
        ({"interfaces": ["command call", "command ask"]}, "command ask is no interface"),
    ],
)
def test_a_row_that_says_less_or_more_is_named(
    table: dict[str, Any], known: list[str], change: dict[str, Any], fault: str
) -> None:
    rows = [{**row, **change} if row["name"] == "`call`" else row for row in table["rows"]]
    assert faults({**table, "rows": rows}, known) == [fault]


NEW = {
    "adapters/semantic_kernel.py": ('"""Tools."""\n', "adapter semantic_kernel"),
    "adapters/redis/__init__.py": ("class RedisStore:\n    pass\n", "adapter redis"),
    "capabilities/other.py": ("class RedisStateStore(StateStore):\n    pass\n", "store RedisStateStore"),
    "engines/other.py": ("class CloudEngine:\n    pass\n", "engine CloudEngine"),
    "adapters/http/other.py": (
        'def routes(self):\n    return [self._writing("/new", f)]\n',
        "route POST /new",
    ),
    "cli/other.py": ("async def serve_grpc(port: int) -> None:\n    pass\n", "server grpc"),
    "clients/other.py": ("class GrpcClient(Client):\n    pass\n", "client GrpcClient"),
}


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("sources") / "toolgen"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("page", "__pycache__", "templates"))
    return copy


@pytest.mark.parametrize("file", NEW)
def test_a_new_interface_is_missed(copied: Path, table: dict[str, Any], file: str) -> None:
    text, name = NEW[file]
    place = copied / file
    place.parent.mkdir(exist_ok=True)
    place.write_text(text, "utf-8")
    try:
        assert f"{name} has no row" in faults(table, interfaces(copied))
    finally:
        place.unlink()
    assert faults(table, interfaces(copied)) == []


def test_the_tests_of_the_table_are_collected(table: dict[str, Any]) -> None:
    """What stands in its file is; pytest is asked for others, since to import all files takes 20 s."""
    named = {test for _, _, cell in cells(table) if isinstance(cell, list) for test in cell}
    files = {test.partition("::")[0] for test in named}
    others = named - {test for file in files for test in _defined(file)}
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", "", "--assert=plain"]
    asked = sorted({test.partition("::")[0] for test in others})
    done = subprocess.run([*command, *asked], cwd=ROOT, capture_output=True, text=True)
    collected = {line.partition("[")[0] for line in done.stdout.splitlines() if "::" in line}
    assert sorted(others - collected) == [], done.stdout[-500:]
    assert len(asked) < 10


def _defined(file: str) -> Iterator[str]:
    """Yield the ids of the tests that are written in a file, if pytest collects it."""
    path = ROOT / file
    if path.is_file() and path.name.startswith("test_"):
        for node in ast.parse(path.read_text("utf-8")).body:
            inside = node.body if isinstance(node, ast.ClassDef) and node.name.startswith("Test") else [node]
            prefix = f"{file}::{node.name}" if isinstance(node, ast.ClassDef) else file
            for one in inside:
                if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and one.name.startswith("test_"):
                    yield f"{prefix}::{one.name}"


def test_the_page_of_security_says_what_the_table_does(table: dict[str, Any]) -> None:
    page = ROOT / "docs/security.md"
    text = page.read_text("utf-8")
    written = SUMMARY.sub(lambda _: summary(table), text)
    if os.environ.get("UPDATE"):
        page.write_text(written, "utf-8")
    assert page.read_text("utf-8") == written, "`UPDATE=1 pytest tests/interfaces` writes it again"
