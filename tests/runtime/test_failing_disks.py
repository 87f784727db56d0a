"""Stores in files on a disk that fails: what is said of the file, and that it is used again afterwards."""

from __future__ import annotations

import asyncio
import errno
import sys
from pathlib import Path

import pytest

from tests.failing_disk import break_disk, printed, repair_disk
from tests.selection import diagonal
from toolgen.engines.in_process.sqlite_tables import FORMAT
from toolgen.stores import StoreError
from toolgen.stores.sqlite_file import SqliteFile
from toolgen.stores.transactions import Transaction

FAILING = "check the messages of the system about its disk"


async def _read(transaction: Transaction) -> int:
    return len(await transaction.rows("SELECT value FROM meta"))


async def _write(transaction: Transaction) -> int:
    return await transaction.change("INSERT INTO meta (name, value) VALUES (random(), ?)", "x" * 100_000)


async def _tell(file: SqliteFile, what: str) -> None:
    try:
        await (file.read(_read) if what == "read" else file.write(_write))
    except StoreError as error:
        print(what, type(error).__name__, error.is_temporary, "damaged" in str(error), error.hint, sep="|")
    else:
        print(what, "done", sep="|")


async def main(folder: Path, error: int, calls: str, names: str, every: int) -> None:
    """Write a file, break the disk, read or write, repair it, and do so again."""
    file = SqliteFile(folder / "runs.db", FORMAT)
    for what in ("read", "write"):
        await file.write(_write)
        if calls == "r":  # what a connection has read it need not read again
            file.close()
            file = SqliteFile(folder / "runs.db", FORMAT)
            await file.write(_write)
        break_disk(folder, error=error, calls=calls, names=names, every=every)
        await _tell(file, what)
        repair_disk(folder)
        await _tell(file, what)


@pytest.mark.parametrize(("every", "names"), diagonal([1, 2, 3], ["runs.db", "runs.db-wal"]))
def test_a_file_that_cannot_be_read_for_a_while_is_not_called_damaged(
    tmp_path: Path, names: str, every: int
) -> None:
    lines = printed(__name__, tmp_path, errno.EIO, "r", names, every).splitlines()
    told = [line.split("|") for line in lines]
    assert told[1] == ["read", "done"]
    assert told[3] == ["write", "done"]
    for one in told:
        if one[1] != "done":
            assert one[1:4] == ["StoreDiskError", "True", "False"]
            assert one[4].startswith(FAILING)
    if every == 1:
        assert told[0][1] == "StoreDiskError"


@pytest.mark.parametrize(
    ("error", "calls", "name", "hint"),
    [
        (errno.EIO, "w", "StoreDiskError", FAILING),
        (errno.EROFS, "w", "StoreReadOnlyError", "mount its disk for writing"),
        (errno.ENOSPC, "w", "StoreFullError", "free space on its disk"),
        pytest.param(errno.EIO, "s", "StoreDiskError", FAILING, marks=pytest.mark.exhaustive),
    ],
)
def test_each_way_in_which_a_disk_does_not_take_what_is_written_has_its_hint(
    tmp_path: Path, error: int, calls: str, name: str, hint: str
) -> None:
    lines = printed(__name__, tmp_path, error, calls, "runs.db", 1).splitlines()
    told = [line.split("|") for line in lines]
    assert told[:2] == [["read", "done"], ["read", "done"]], "reads need no writing"
    assert told[2][1:4] == [name, "True", "False"]
    assert told[2][4].startswith(hint)
    assert told[3] == ["write", "done"]


if __name__ == "__main__":
    place, number, kinds, begin, each = sys.argv[1:]
    asyncio.run(main(Path(place), int(number), kinds, begin, int(each)))
