"""The tests of tests/agents/test_cancel.py, on a PostgreSQL server."""

from tests.agents.test_cancel import *  # noqa: F403  # its tests
