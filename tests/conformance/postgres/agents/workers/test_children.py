"""The tests of tests/agents/test_children.py, with runs that three workers execute in turns."""

from tests.agents.test_children import *  # noqa: F403  # its tests
