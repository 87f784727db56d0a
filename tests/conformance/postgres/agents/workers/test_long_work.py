"""The tests of tests/agents/test_long_work.py, with runs that three workers execute in turns."""

from tests.agents.test_long_work import *  # noqa: F403  # its tests
