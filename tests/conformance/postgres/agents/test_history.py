"""The tests of tests/agents/test_history.py, on a PostgreSQL server."""

from tests.agents.test_history import *  # noqa: F403  # its tests
