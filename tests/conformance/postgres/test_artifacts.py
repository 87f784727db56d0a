"""The tests of stores of artifacts, on a PostgreSQL server."""

from __future__ import annotations

import pytest

from tests.runtime.test_artifact_stores import (
    Clock,
    clock,
    test_an_owner_is_dropped_and_with_a_slash_those_that_begin_with_it,
    test_an_owner_who_saved_again_is_not_old,
    test_what_was_dropped_makes_room,
)
from toolgen.adapters.postgres import Postgres, PostgresArtifactStore
from toolgen.capabilities import ArtifactStore

__all__ = [
    "clock",
    "test_an_owner_is_dropped_and_with_a_slash_those_that_begin_with_it",
    "test_an_owner_who_saved_again_is_not_old",
    "test_what_was_dropped_makes_room",
]


@pytest.fixture
def store(database: Postgres, clock: Clock) -> ArtifactStore:
    return PostgresArtifactStore(database, clock=clock)
