"""Benchmarks that count and do not time: the sizes in the repository are current, and the walks run."""

from __future__ import annotations

import subprocess
import sys

import pytest

from benchmarks.sizes import ROOT, SIZES, lines_of_code, table

SOURCE = '''
"""A docstring
import that is none."""

from a import b  # why
from c import (
    # a comment
    d,
)

limit = 1  # it's one
"""The docstring of an attribute."""
# A comment.
TABLE = (
    # In a row.
    """
    SELECT 1

    import from nowhere
    """,
    "import x"
)


def work(text: str = "") -> str:
    r"""Work\\."""
    import e

    return text or \'\'\'
# no comment
\'\'\'
'''


def test_sizes_are_current() -> None:
    assert SIZES.read_text("utf-8") == table(), "run: .venv/bin/python -m benchmarks.sizes"


def test_code_is_what_is_no_import_docstring_or_comment() -> None:
    assert lines_of_code(SOURCE) == 13


@pytest.mark.exhaustive
def test_walks_run() -> None:
    command = [sys.executable, "-m", "benchmarks.walks"]
    printed = subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout
    assert "an import" in printed.splitlines()[-1]
