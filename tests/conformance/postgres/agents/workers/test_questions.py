"""The tests of tests/agents/test_questions.py, with runs that three workers execute in turns."""

from tests.agents.test_questions import *  # noqa: F403  # its tests
