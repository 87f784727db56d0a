"""More random interleavings of named calls, their answers and the ends of processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runtime.test_ledger_interleavings import check_interleaving
from tests.selection import volume


@pytest.mark.volume
@pytest.mark.parametrize("seed", range(2, volume(10, lab=40)))
async def test_each_call_runs_once_at_most_and_is_asked_until_it_is_answered(
    seed: int, tmp_path: Path
) -> None:
    await check_interleaving(seed, tmp_path / "runs.db")
