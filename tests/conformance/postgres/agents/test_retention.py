"""The tests of tests/agents/test_retention.py, on a PostgreSQL server."""

from tests.agents.test_retention import *  # noqa: F403  # its tests
