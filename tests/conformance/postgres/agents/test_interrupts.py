"""The tests of tests/agents/test_interrupts.py, on a PostgreSQL server."""

from tests.agents.test_interrupts import *  # noqa: F403  # its tests
