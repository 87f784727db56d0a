"""docs/production.md on Temporal and PostgreSQL: a conversation that outlives a worker, host and client."""

from __future__ import annotations

from pathlib import Path

import pytest

from examples.home.database import build
from examples.home.scripts import LAMP
from examples.home.temporal_demo import Place, story
from tests.conftest import ProjectFolder, in_a_process
from tests.temporal_server import TemporalServer
from tests.test_docs import PRODUCTION, blocks
from tests.worker_process import working

pytestmark = pytest.mark.costly


async def test_a_conversation_goes_on_after_a_worker_was_killed(
    temporal: TemporalServer, conninfo: str, tmp_path: Path
) -> None:
    shown = next(text for _, text in blocks(PRODUCTION, "text"))
    place = Place(temporal.address, conninfo, tmp_path / "home.db")
    assert [line async for line in story(place)] == shown.splitlines()


def test_a_client_has_its_run_executed_by_a_worker_of_the_host(
    temporal: TemporalServer, conninfo: str, project: ProjectFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLGEN_SECRET", "0" * 32)
    host, client = (of_servers(text, temporal, conninfo) for _, text in blocks(PRODUCTION, "python"))
    project.write("app/main.py", host)
    build(project.path / "home.db")
    with working(project):
        done = in_a_process(project.path, str(project.write("client.py", client)), LAMP)
    assert (done.returncode, done.stdout) == (
        0,
        "confirmation: Reset h10 to factory settings? Its settings are lost.\n"
        "completed: Ceiling lamp is as it left the factory; 2 settings are gone.\n",
    ), done.stderr


def of_servers(program: str, temporal: TemporalServer, conninfo: str) -> str:
    """Return a program of the document with the addresses of these servers."""
    for shown, here in (
        ("temporal.example:7233", temporal.address),
        ('namespace="assistant"', 'namespace="default"'),
        ("postgresql://app@db.example/app", conninfo),
    ):
        assert program.count(shown) == 1, shown
        program = program.replace(shown, here)
    return program
