"""docs/frameworks.md, run with the frameworks."""

from __future__ import annotations

import pytest

from tests.test_docs import FRAMEWORKS, ROOT, run_python


def test_the_python_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    run_python(FRAMEWORKS)
