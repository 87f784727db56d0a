"""The tests of tests/agents/test_endings.py, on a PostgreSQL server."""

from tests.agents.test_endings import *  # noqa: F403  # its tests
