"""The conversation of the example continues in another process after a kill, as `durable.txt` shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from examples.home.durable import story
from tests.test_docs import ROOT

pytestmark = pytest.mark.costly


async def test_a_conversation_goes_on_after_a_kill(tmp_path: Path) -> None:
    shown = (ROOT / "examples/home/durable.txt").read_text("utf-8")
    assert [line async for line in story(tmp_path / "home.db")] == shown.splitlines()
