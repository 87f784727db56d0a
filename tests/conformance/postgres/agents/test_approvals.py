"""The tests of tests/agents/test_approvals.py, on a PostgreSQL server."""

from tests.agents.test_approvals import *  # noqa: F403  # its tests
