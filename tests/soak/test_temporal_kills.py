"""New kills in each run: fifty runs on Temporal end, whichever worker is killed when."""

from __future__ import annotations

import random

from tests.conformance.conftest import temporal
from tests.conformance.engines.conftest import server, workers
from tests.conformance.engines.processes import TemporalWorkers
from tests.conformance.engines.random_kills import check_kills

__all__ = ["server", "temporal", "workers"]


async def test_runs_outlive_their_workers(workers: TemporalWorkers) -> None:
    await check_kills(workers, kills=20, runs=50, seed=random.SystemRandom().randrange(2**32))
