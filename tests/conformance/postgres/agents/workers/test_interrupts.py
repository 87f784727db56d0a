"""The tests of tests/agents/test_interrupts.py, with runs that three workers execute in turns."""

from tests.agents.test_interrupts import *  # noqa: F403  # its tests
