"""A worker process whose server of stores is away: it is not ready, says why, and is ready once it can be."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from examples.servers.postgres import Server
from tests.conftest import ProjectFolder
from tests.runs_project import MAIN, write_runs
from tests.worker_process import working

pytestmark = pytest.mark.costly

UNREACHABLE = (503, "store unreachable")


@pytest.fixture
def stopped(postgres: Server) -> Iterator[Server]:
    """A server that does not run."""
    postgres.stop()
    yield postgres
    if not postgres.is_running:
        postgres.start()


def write_project(project: ProjectFolder, conninfo: str) -> None:
    """Write a project whose runtime has its state in a database."""
    write_runs(project)
    imports = (
        "from toolgen.adapters.postgres import Postgres, PostgresStateStore\n"
        "from toolgen.capabilities import StateCapability\n"
    )
    given = f"capabilities=[StateCapability(PostgresStateStore(Postgres({conninfo!r})))]"
    main = MAIN.replace("from toolgen.calls.toolsets", f"{imports}from toolgen.calls.toolsets", 1)
    project.write("app/main.py", main.replace("engine=engine()", f"engine=engine(), {given}"))


def test_it_is_ready_when_its_server_is(conninfo: str, stopped: Server, project: ProjectFolder) -> None:
    write_project(project, conninfo)
    with working(project, "--health", "0", until="the worker: store unreachable") as worker:
        assert worker.health("/ready") == UNREACHABLE
        assert worker.health("/live") == (200, "store unreachable")
        assert "a store cannot be used: 'postgresql://toolgen@/test_" in worker.log
        stopped.start()
        worker.has_logged("the worker: ready")
        assert worker.health("/ready") == (200, "ready")
        stopped.stop()
        worker.has_logged("the worker: store unreachable", 2)
        assert worker.health("/ready") == UNREACHABLE
        worker.end()
        assert worker.code() == 0


def test_a_wrong_address_is_in_the_log_without_its_password(project: ProjectFolder) -> None:
    write_project(project, "postgresql://bob:hunter2@127.0.0.1:1/x")
    with working(project, "--health", "0", until="the worker: store unreachable") as worker:
        assert worker.health("/ready") == UNREACHABLE
        assert "'postgresql://bob@127.0.0.1:1/x' cannot be reached: " in worker.log
        assert "hunter2" not in worker.log
        worker.end(signal.SIGINT)
        assert worker.code() == 0
