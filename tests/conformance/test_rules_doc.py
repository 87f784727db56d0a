"""docs/rules.md, run with Cedar, and what it prints."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.test_docs import ROOT, RULES, run_python


def test_it_prints_what_it_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    peers = Path(ROOT, ".peers/python")
    assert peers.exists(), "make .peers/ready"
    monkeypatch.setattr(sys, "path", [*sys.path, str(peers)])  # last: of the other packages ours count
    run_python(RULES)
