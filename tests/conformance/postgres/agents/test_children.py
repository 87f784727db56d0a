"""The tests of tests/agents/test_children.py, on a PostgreSQL server."""

from tests.agents.test_children import *  # noqa: F403  # its tests
