"""The conversation of the example on Temporal and PostgreSQL goes on after a kill, as docs say."""

from __future__ import annotations

from pathlib import Path

from examples.home.temporal_demo import Place, story
from tests.temporal_server import TemporalServer
from tests.test_docs import ROOT, blocks


async def test_a_conversation_goes_on_after_a_worker_was_killed(
    temporal: TemporalServer, conninfo: str, tmp_path: Path
) -> None:
    shown = next(text for _, text in blocks(ROOT / "docs/production.md", "text"))
    place = Place(temporal.address, conninfo, tmp_path / "home.db")
    assert [line async for line in story(place)] == shown.splitlines()
