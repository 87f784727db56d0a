"""The tests of tests/agents/test_long_work.py, on a PostgreSQL server."""

from tests.agents.test_long_work import *  # noqa: F403  # its tests
