"""examples/cedar_policy.py, run with Cedar."""

from __future__ import annotations

import asyncio
import importlib
import sys
from pathlib import Path

import pytest

from tests.test_docs import ROOT

EXPECTED = """\
read /etc/motd bob ok
delete /srv/data/a ann suspended
delete /srv/data/a bob denied
delete /srv/data/../a ann denied
"""


def test_cedar_allows_asks_and_denies(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    peers = Path(ROOT, ".peers/python")
    assert peers.exists(), "make .peers/ready"
    monkeypatch.setattr(sys, "path", [*sys.path, str(peers)])  # last: of the other packages ours count
    asyncio.run(importlib.import_module("examples.cedar_policy").main())
    assert capsys.readouterr().out == EXPECTED
