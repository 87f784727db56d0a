"""The tests of tests/agents/test_erasing.py, on a PostgreSQL server."""

from tests.agents.test_erasing import *  # noqa: F403  # its tests
