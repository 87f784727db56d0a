"""What a person at a terminal sees while a large document is imported."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator

import pytest

from tests.importers.recursive_api import recursive_api
from toolgen.cli.terminal import ProgressLine
from toolgen.importers.openapi import openapi_files
from toolgen.importers.text import SourceDocument


def lines(capsys: pytest.CaptureFixture[str], clock: Iterator[float]) -> list[str]:
    """Return the lines that were shown one over the other while three operations were imported."""
    document = SourceDocument(name="api", value=recursive_api(3))
    with ProgressLine(lambda: next(clock)) as progress:
        openapi_files(document, name="api", service="api", progress=progress)
    return capsys.readouterr().err.split("\r\x1b[K")


def test_long_work_is_counted_and_after_five_seconds_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert lines(capsys, itertools.count(0.0)) == [
        "",
        "0 of 3 operations read",
        "1 of 3 operations read",
        "2 of 3 operations read",
        "0 of 3 types read",
        "1 of 3 types read, now C1",
        "2 of 3 types read, now C0",
        "0 of 3 operations written, now get_c0",
        "1 of 3 operations written, now get_c1",
        "2 of 3 operations written, now get_c2",
        "",
    ]


def test_what_takes_no_second_shows_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert lines(capsys, itertools.repeat(0.9)) == [""]


def test_a_pipe_gets_no_progress(capsys: pytest.CaptureFixture[str]) -> None:
    assert lines(capsys, itertools.count(0.0)) == [""]
