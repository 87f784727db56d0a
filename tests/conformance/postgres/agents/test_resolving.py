"""The tests of tests/agents/test_resolving.py, on a PostgreSQL server."""

from tests.agents.test_resolving import *  # noqa: F403  # its tests
