"""The conversation of the example on Temporal and PostgreSQL goes on after a kill, as docs say."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from examples.home.temporal_demo import Place, story
from examples.servers.postgres import find_binaries, running_server
from tests.temporal_server import TemporalServer
from tests.test_docs import ROOT, blocks


async def test_a_conversation_goes_on_after_a_worker_was_killed(tmp_path: Path) -> None:
    binaries = find_binaries()
    if binaries is None:
        assert not os.environ.get("CI"), "there is no PostgreSQL server here"
        pytest.skip("there is no PostgreSQL server here (on Debian: apt-get install postgresql)")
    shown = next(text for _, text in blocks(ROOT / "docs/production.md", "text"))
    temporal = TemporalServer()
    temporal.start()
    try:
        with running_server(binaries) as postgres:
            place = Place(temporal.address, postgres.new_database(), tmp_path / "home.db")
            assert [line async for line in story(place)] == shown.splitlines()
    finally:
        temporal.kill()
