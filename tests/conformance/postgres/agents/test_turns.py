"""The tests of tests/agents/test_turns.py, on a PostgreSQL server."""

from tests.agents.test_turns import *  # noqa: F403  # its tests
