"""The tests of state and artifacts in calls, on a PostgreSQL server."""

from __future__ import annotations

import pytest

from tests.runtime.test_capabilities import *  # noqa: F403  # its tests, with the fixtures below
from toolgen.adapters.postgres import Postgres, PostgresArtifactStore, PostgresStateStore
from toolgen.capabilities import ArtifactStore, StateStore


@pytest.fixture  # type: ignore[no-redef]  # in the place of the imported one
def states(database: Postgres) -> StateStore:
    return PostgresStateStore(database)


@pytest.fixture  # type: ignore[no-redef]  # in the place of the imported one
def artifacts(database: Postgres) -> ArtifactStore:
    return PostgresArtifactStore(database)
