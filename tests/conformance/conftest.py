"""Servers for tests, PostgreSQL for a process and Temporal for a file, and the order of the files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from examples.servers.postgres import Server
from tests.postgres_server import empty, postgres_server
from tests.temporal_server import TemporalServer

FOLDER: Final = Path(__file__).parent
LONGEST: Final = tuple(
    FOLDER / name
    for name in (
        "test_temporal_commands.py",
        "openapi/test_prism.py",
        "test_corpora.py",
        "test_generated_contract.py",
        "test_corpora_in_clauses.py",
        "postgres/agents/on_temporal/test_agents.py",
        "test_interruption.py",
        "postgres/agents/on_temporal/test_matrix.py",
        "test_random_designs.py",
        "test_first_steps.py",
        "engines/test_suite.py",
        "adapters/test_mcp_processes.py",
        "mcp/test_suite.py",
        "test_imported_designs.py",
        "openapi/test_cases.py",
        "engines/test_upgrades.py",
        "engines/test_races.py",
        "engines/test_offloading.py",
        "test_determinism.py",
        "test_system_certificates.py",
        "test_wheel.py",
        "engines/test_malformed.py",
        "adapters/test_mcp_load.py",
        "test_provider_corpora.py",
        "engines/test_begun.py",
        "test_home_temporal.py",
        "test_production_doc.py",
        "engines/test_killed_workers.py",
        "test_wide_schemas.py",
        "adapters/test_llm_transcripts.py",
        "matrix/test_sqlite.py",
        "test_random_unions.py",
        "test_run_processes.py",
        "test_session_processes.py",
        "adapters/frameworks/test_contract.py",
        "adapters/frameworks/test_imports.py",
        "test_generated_types.py",
        "test_watch.py",
        "engines/test_shutdown.py",
        "adapters/test_llm_endings.py",
        "test_doc_commands.py",
        "mcp/test_inspector.py",
        "postgres/test_erasing.py",
        "engines/test_killed_server.py",
    )
)
"""The files that take longer than ten seconds, the longest first."""


def pytest_xdist_auto_num_workers() -> int:
    """Return one more than there are cores: tests on Temporal wait for servers and for other processes."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest files, so that no process is left with one of them when the others are done."""
    assert all(map(Path.exists, LONGEST)), "each is a file"
    places = {path: place for place, path in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(places)))


@pytest.fixture(scope="session", autouse=True)
def mypy_cache() -> Iterator[None]:
    """Have the runs of mypy in one test process read pydantic, toolgen and the standard library once.

    Each test process has a cache of its own: it is a SQLite database, which is locked while it is written.
    """
    cache = FOLDER.parents[1] / ".mypy_cache/conformance" / os.environ.get("PYTEST_XDIST_WORKER", "main")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MYPY_CACHE_DIR", str(cache))
        yield


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    yield from postgres_server()


@pytest.fixture(scope="session")
def databases() -> list[str]:
    """Return the connection strings of databases that no test uses, which are as new."""
    return []


@pytest.fixture
def conninfo(postgres: Server, databases: list[str]) -> Iterator[str]:
    """Yield the connection string of a database as new; it is emptied after the test, for another one."""
    taken = databases.pop() if databases else postgres.new_database()
    yield taken
    empty(taken)
    databases.append(taken)


@pytest.fixture(scope="module")
def temporal() -> Iterator[TemporalServer]:
    """Start a server for the tests of a file; it takes half a second, and one that was used is never idle."""
    server = TemporalServer()
    server.start()
    yield server
    server.kill()
