"""The tests of tests/agents/test_approvals.py, with runs that three workers execute in turns."""

from tests.agents.test_approvals import *  # noqa: F403  # its tests
