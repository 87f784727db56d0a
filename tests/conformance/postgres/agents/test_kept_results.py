"""The tests of tests/agents/test_kept_results.py, on a PostgreSQL server."""

from tests.agents.test_kept_results import *  # noqa: F403  # its tests
