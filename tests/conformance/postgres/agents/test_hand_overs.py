"""The tests of tests/agents/test_hand_overs.py, on a PostgreSQL server."""

from tests.agents.test_hand_overs import *  # noqa: F403  # its tests
