"""The tests of tests/agents/test_cancel.py, with runs that three workers execute in turns."""

from tests.agents.test_cancel import *  # noqa: F403  # its tests
