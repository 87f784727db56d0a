"""The section about PostgreSQL in docs/production.md, run on a server."""

from __future__ import annotations

import pytest

from tests.test_docs import PRODUCTION, run_python


def test_the_python_prints_what_the_page_shows(conninfo: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", conninfo)
    names = run_python(PRODUCTION, "Store data in PostgreSQL")
    names["database"].close()  # type: ignore[attr-defined]
