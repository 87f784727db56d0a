"""The queue of a follower: a report wakes it, whenever the report comes."""

from __future__ import annotations

import asyncio

from toolgen.engines.in_process.journal import Followers, ReportQueue


async def heard(reports: ReportQueue) -> list[object]:
    """Return the reports that are taken after a wait."""
    await asyncio.wait_for(reports.wait(), 10)
    return [report["n"] for report in reports.take_until(0)]


async def test_a_report_that_comes_before_the_wait_begins_ends_it() -> None:
    followers = Followers()
    with followers.follow("r", 0) as reports:
        waiting = asyncio.create_task(heard(reports))
        followers.publish("r", 0, {"n": 1})  # the task has not begun
        assert await waiting == [1]


async def test_each_report_is_heard_once_and_in_its_order() -> None:
    followers = Followers()
    with followers.follow("r", 0) as reports:
        followers.publish("r", 0, {"n": 1})
        followers.publish("r", 0, {"n": 2})
        assert await heard(reports) == [1, 2]
        waiting = asyncio.create_task(heard(reports))
        await asyncio.sleep(0)
        assert not waiting.done()
        followers.publish("r", 0, {"n": 3})
        assert await waiting == [3]


async def test_a_report_that_comes_after_the_others_were_taken_ends_the_next_wait() -> None:
    followers = Followers()
    with followers.follow("r", 0) as reports:
        waiting = asyncio.create_task(reports.wait())
        await asyncio.sleep(0)
        followers.publish("r", 0, {"n": 1})
        await waiting
        assert [report["n"] for report in reports.take_until(0)] == [1]
        followers.publish("r", 0, {"n": 2})
        assert await heard(reports) == [2]
