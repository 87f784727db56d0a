"""The tests of tests/agents/test_artifacts.py, on a PostgreSQL server."""

from tests.agents.test_artifacts import *  # noqa: F403  # its tests
