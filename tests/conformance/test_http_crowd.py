"""A thousand readers of events over HTTP beside a load of calls: nobody misses an event or gets one twice."""

from __future__ import annotations

import resource

import pytest

from tests.adapters.http.crowd import crowd
from tests.selection import volume

STREAMS = volume(100, lab=1_000)
CALLS = volume(100, lab=200)
RUNS = volume(10, lab=20)


@pytest.mark.volume
async def test_readers_miss_nothing() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = 6 * STREAMS  # a stream has two ends here, and a port takes half of the files
    if soft != resource.RLIM_INFINITY and soft < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
    counts = await crowd(STREAMS, CALLS, RUNS)
    calls, followers = CALLS + RUNS + 1, STREAMS - STREAMS // 5
    assert (counts.readers, counts.calls) == (STREAMS, calls)
    assert counts.events >= followers * calls + STREAMS // 5 * 5
