"""The tests of tests/agents/test_turns.py, with runs that three workers execute in turns."""

from tests.agents.test_turns import *  # noqa: F403  # its tests
