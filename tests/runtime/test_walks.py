"""What a reader of one call has to read: the files that it enters, counted as `benchmarks.walks` does."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.walks import Walk, agent_run, call, waiting_call

MOST = {"a call": 8, "a call that waits": 42}
"""The most files. More is a decision: somebody who follows a call has that much to read."""


def entered(walk: Walk) -> set[str]:
    return {file for file, _ in walk.calls}


async def test_a_plain_call_enters_few_files() -> None:
    files = entered(await call())
    assert len(files) <= MOST["a call"], sorted(files)


async def test_a_call_that_waits_enters_no_more_files_than_a_reader_can_follow() -> None:
    files = entered(await waiting_call(None))
    assert {"waiting/loop.py", "calls/steps/dispatch.py", "engines/runs.py"} <= files
    assert len(files) <= MOST["a call that waits"], sorted(files)


@pytest.mark.exhaustive
async def test_a_run_is_not_read_from_its_file_with_each_of_its_events(tmp_path: Path) -> None:
    calls = (await agent_run(tmp_path / "runs.db")).calls
    assert 1 <= calls["engines/sqlite_rows.py", "read_state"] <= 3
    assert 1 <= calls["engines/sqlite_rows.py", "read_status"] <= 2
