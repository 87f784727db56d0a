"""The tests of tests/agents/test_history.py, with runs that three workers execute in turns."""

from tests.agents.test_history import *  # noqa: F403  # its tests
