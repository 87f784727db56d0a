"""The tests of a PostgreSQL server that restarts, with the runs on a Temporal server."""

import pytest

from tests.conformance.postgres.agents.test_server_restarts import *  # noqa: F403  # its tests


@pytest.fixture
def heartbeat_s() -> float:
    """Longer than PostgreSQL takes to start: the event loop stands still meanwhile, and no worker is lost."""
    return 60.0
