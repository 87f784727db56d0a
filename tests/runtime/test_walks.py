"""What a reader of one call has to read: the files that it enters, counted as `benchmarks.walks` does."""

from __future__ import annotations

from benchmarks.walks import Walk, call, waiting_call

MOST = {"a call": 8, "a call that waits": 34}
"""The most files. More is a decision: somebody who follows a call has that much to read."""


def entered(walk: Walk) -> set[str]:
    return {file for file, _ in walk.calls}


async def test_a_plain_call_enters_few_files() -> None:
    files = entered(await call())
    assert len(files) <= MOST["a call"], sorted(files)


async def test_a_call_that_waits_enters_no_more_files_than_a_reader_can_follow() -> None:
    files = entered(await waiting_call(None))
    assert {"runtime/waiting/loop.py", "runtime/call/dispatch.py", "engines/runs.py"} <= files
    assert len(files) <= MOST["a call that waits"], sorted(files)
