"""Deliveries to ended sessions: the runs are on a Temporal server, the sessions in PostgreSQL."""

import pytest

from tests.agents import test_late_deliveries as late
from tests.agents import tools

test_late_work = late.test_work_is_not_taken_after_the_end_of_its_session
test_work_in_time = late.test_work_that_was_taken_before_is_in_the_conversation


@pytest.fixture
def open_stores() -> late.Open:
    return lambda: late.opened(tools.new_engine())


async def test_of_an_end_and_a_delivery_at_once_each_order_has_one_outcome(open_stores: late.Open) -> None:
    async with open_stores() as (runtime, _):
        for number, ends_after in enumerate((0, 100, 1_000, 5_000, 20_000)):
            assert await late.raced(runtime, number, 0, ends_after) in ("ok", "late")
