"""The tests of tests/agents/test_resolving.py, with runs that three workers execute in turns."""

from tests.agents.test_resolving import *  # noqa: F403  # its tests
