"""The tests of tests/agents/test_call_effects.py, on a PostgreSQL server."""

from tests.agents.test_call_effects import *  # noqa: F403  # its tests
