"""A commit that a disk does not sync has failed: nothing of it is found later, and rows are written once."""

from __future__ import annotations

import asyncio
import errno
import sys
from pathlib import Path

import pytest

from tests.failing_disk import break_disk, printed, repair_disk
from tests.selection import diagonal
from toolgen.engines.in_process.sqlite_tables import FORMAT
from toolgen.stores import StoreDiskError
from toolgen.stores.sqlite_batches import SqliteBatches
from toolgen.stores.sqlite_file import SqliteFile
from toolgen.stores.transactions import Transaction

INSERT = "INSERT INTO meta (name, value) VALUES (?, ?)"


async def _count(transaction: Transaction) -> int:
    return len(await transaction.rows("SELECT value FROM meta WHERE name IN ('first', 'failed')"))


async def in_steps(folder: Path, calls: str, names: str) -> None:
    """Write in a transaction each, and say how many rows are there after the one that failed."""
    file = SqliteFile(folder / "steps.db", FORMAT)
    await file.put([(INSERT, ("first", 1))])
    break_disk(folder, error=errno.EIO, calls=calls, names=names)
    with pytest.raises(StoreDiskError):
        await file.put([(INSERT, ("failed", 1))])
    repair_disk(folder)
    print(await file.read(_count))
    await file.put([(INSERT, ("failed", 1))])
    print(await file.read(_count))
    file.close()


async def in_batches(folder: Path, calls: str, names: str) -> None:
    """Put a row that cannot be written, and wait until it is."""
    batches = SqliteBatches(folder / "batches.db", FORMAT)
    batches.put(INSERT, "first", 1)
    await batches.wait_written()
    break_disk(folder, error=errno.EIO, calls=calls, names=names)
    batches.put(INSERT, "failed", 1)
    with pytest.raises(StoreDiskError):
        await batches.flush()
    repair_disk(folder)
    await batches.wait_written()
    assert batches.damage is None
    print(
        batches.read(
            lambda database: database.execute(
                "SELECT count(*) FROM meta WHERE name IN ('first', 'failed')"
            ).fetchone()[0]
        )
    )
    await batches.close()


@pytest.mark.parametrize(("calls", "names"), diagonal(["s", "sr"], ["steps.db-wal", "*"]))
def test_a_step_whose_commit_was_not_synced_has_changed_nothing(
    tmp_path: Path, calls: str, names: str
) -> None:
    assert printed(__name__, tmp_path, "in_steps", calls, names).split() == ["1", "2"]


@pytest.mark.parametrize(("calls", "names"), diagonal(["s", "sr"], ["batches.db-wal", "*"]))
def test_a_batch_that_was_not_synced_is_written_once_and_no_file_is_called_damaged(
    tmp_path: Path, calls: str, names: str
) -> None:
    assert printed(__name__, tmp_path, "in_batches", calls, names).split() == ["2"]


if __name__ == "__main__":
    place, what, kinds, begin = sys.argv[1:]
    asyncio.run({"in_steps": in_steps, "in_batches": in_batches}[what](Path(place), kinds, begin))
