"""The conversation of the example, over several processes: it goes on after a kill, as docs say."""

from __future__ import annotations

from pathlib import Path

import pytest

from examples.home.durable import story
from tests.test_docs import ROOT, blocks

pytestmark = pytest.mark.costly


async def test_a_conversation_goes_on_after_a_kill(tmp_path: Path) -> None:
    ((_, shown), *_) = blocks(ROOT / "docs/durability.md", "text")
    assert [line async for line in story(tmp_path / "home.db")] == shown.splitlines()
