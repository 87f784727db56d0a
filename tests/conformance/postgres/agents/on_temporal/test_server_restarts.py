"""The tests of a PostgreSQL server that restarts, with the runs on a Temporal server."""

from tests.conformance.postgres.agents.test_server_restarts import *  # noqa: F403  # its tests
