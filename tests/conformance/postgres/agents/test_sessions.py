"""The tests of tests/agents/test_sessions.py, on a PostgreSQL server."""

from tests.agents.test_sessions import *  # noqa: F403  # its tests
