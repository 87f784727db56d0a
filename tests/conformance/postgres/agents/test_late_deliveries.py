"""The tests of tests/agents/test_late_deliveries.py, with sessions on a PostgreSQL server."""

import pytest

from tests.agents import test_late_deliveries as late
from tests.virtual_time import now
from toolgen.engines import InProcessEngine

globals().update({name: value for name, value in vars(late).items() if name.startswith("test_")})


@pytest.fixture
def open_stores() -> late.Open:
    return lambda: late.opened(InProcessEngine(clock=now))
