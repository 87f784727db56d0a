"""docs/production.md on Temporal and PostgreSQL: a conversation that goes on after a kill, and the client."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from examples.home.database import build
from examples.home.scripts import LAMP
from examples.home.temporal_demo import Place, story
from tests.conftest import in_a_process, surroundings
from tests.temporal_server import TemporalServer
from tests.test_docs import PRODUCTION, blocks

SECRET = "the same in every process: 32 b."
"""That of the workers of the demo."""


async def test_a_conversation_goes_on_after_a_worker_was_killed(
    temporal: TemporalServer, conninfo: str, tmp_path: Path
) -> None:
    shown = next(text for _, text in blocks(PRODUCTION, "text"))
    place = Place(temporal.address, conninfo, tmp_path / "home.db")
    assert [line async for line in story(place)] == shown.splitlines()


def test_the_client_starts_a_run_answers_and_prints_its_result(
    temporal: TemporalServer, conninfo: str, tmp_path: Path
) -> None:
    program = [text for _, text in blocks(PRODUCTION, "python")][-1]
    for shown, here in (
        ("temporal.example:7233", temporal.address),
        ('namespace="assistant"', 'namespace="default"'),
        ("postgresql://app@db.example/app", conninfo),
    ):
        assert program.count(shown) == 1, shown
        program = program.replace(shown, here)
    (tmp_path / "client.py").write_text(program, "utf-8")
    place = Place(temporal.address, conninfo, tmp_path / "home.db")
    build(place.path)
    (tmp_path / "held").touch()  # so that no tool of the demo stands still
    with working(place):
        done = in_a_process(tmp_path, "client.py", LAMP, TOOLGEN_SECRET=SECRET)
    assert (done.returncode, done.stdout) == (
        0,
        "confirmation: Reset h10 to factory settings? Its settings are lost.\n"
        "completed: Ceiling lamp is as it left the factory; 2 settings are gone.\n",
    ), done.stderr


@contextmanager
def working(place: Place) -> Iterator[None]:
    """Have a worker process of the demo that is ready, and kill it at last."""
    arguments = (place.temporal, place.postgres, str(place.path))
    with subprocess.Popen(
        [sys.executable, "-m", "examples.home.temporal_demo", *arguments],
        env=surroundings(),
        stdout=subprocess.PIPE,
        text=True,
    ) as worker:
        try:
            assert worker.stdout is not None
            assert worker.stdout.readline() == "ready\n"
            yield
        finally:
            worker.kill()
