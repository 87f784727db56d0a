"""The conversation of the example on Temporal and PostgreSQL goes on after a kill, as docs say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from examples.home.temporal_demo import Place, story
from examples.servers.postgres import Server
from tests.postgres_server import postgres_server
from tests.temporal_server import TemporalServer
from tests.test_docs import ROOT, blocks


@pytest.fixture
def temporal() -> Iterator[TemporalServer]:
    server = TemporalServer()
    server.start()
    yield server
    server.kill()


@pytest.fixture
def postgres() -> Iterator[Server]:
    yield from postgres_server()


async def test_a_conversation_goes_on_after_a_worker_was_killed(
    temporal: TemporalServer, postgres: Server, tmp_path: Path
) -> None:
    shown = next(text for _, text in blocks(ROOT / "docs/production.md", "text"))
    place = Place(temporal.address, postgres.new_database(), tmp_path / "home.db")
    assert [line async for line in story(place)] == shown.splitlines()
