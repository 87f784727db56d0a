"""The tests of tests/agents/test_questions.py, on a PostgreSQL server."""

from tests.agents.test_questions import *  # noqa: F403  # its tests
