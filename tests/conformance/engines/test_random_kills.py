"""Two workers, one of which is killed now and then: the same ones each time; `tests/soak` has new ones."""

from __future__ import annotations

from .processes import TemporalWorkers
from .random_kills import check_kills


async def test_runs_outlive_their_workers(workers: TemporalWorkers) -> None:
    await check_kills(workers, kills=5, runs=12, seed=1)
