"""The tests of tests/agents/test_endings.py, with runs that three workers execute in turns."""

from tests.agents.test_endings import *  # noqa: F403  # its tests
