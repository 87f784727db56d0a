"""Five hundred flipped bits in files of runs; a part of them is in `tests/engines/test_file_damage.py`."""

from __future__ import annotations

from pathlib import Path

from tests.engines.flips import flip, write_journal

FLIPS = 500


async def test_each_flipped_bit_is_a_named_error(tmp_path: Path) -> None:
    journal = await write_journal(tmp_path / "runs.db")
    for seed in range(1000, 1000 + FLIPS):
        await flip(tmp_path / str(seed), journal, seed)
