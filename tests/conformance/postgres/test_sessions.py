"""The tests of sessions, on a PostgreSQL server."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.runtime.session_stores import seconds, store
from tests.runtime.test_session_messages import *  # noqa: F403  # its tests, with the fixture below
from tests.runtime.test_session_turns import *  # noqa: F403
from tests.runtime.test_sessions import *  # noqa: F403
from toolgen.adapters.postgres import Postgres, PostgresSessionStore
from toolgen.agents import SessionStore

__all__ = ["seconds", "store"]


@pytest.fixture  # type: ignore[no-redef]  # in the place of the imported one
def make(conninfo: str) -> Iterator[Callable[..., SessionStore]]:
    database = Postgres(conninfo)
    yield lambda **given: PostgresSessionStore(database, **given)
    database.close()
