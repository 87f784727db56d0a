"""Locks and folders on a disk that fails, and in a process that can open no more files."""

from __future__ import annotations

import asyncio
import errno
import os
import resource
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.failing_disk import break_disk, printed, repair_disk
from tests.selection import first
from toolgen.capabilities import FileArtifactStore
from toolgen.engines import InProcessEngine
from toolgen.stores import StoreDiskError, StoreError
from toolgen.stores.own_file import Lease, create_key, read_key
from toolgen.waiting.sealing import stored_sealer


def lock(folder: Path) -> None:
    """Take a lease on a disk that is full, and again when it is not."""
    lease = Lease(folder / "lock")
    break_disk(folder, error=errno.ENOSPC, calls="w", names="lock")
    try:
        lease.acquire()
    except StoreError as error:
        print(type(error).__name__, error.is_temporary, error.hint)
    repair_disk(folder)
    print(lease.acquire(), lease.holder() == str(os.getpid()))


async def forget(folder: Path) -> None:
    """Forget artifacts in a folder that is not synced."""
    store = FileArtifactStore(folder / "artifacts")
    await store.save("a", "name", b"text", "text/plain", {}, 1000)
    break_disk(folder, error=errno.EIO, calls="s", names="artifacts")
    with pytest.raises(StoreDiskError):
        await store.forget("a")
    repair_disk(folder)
    print(await store.load("a", "name", None))


async def without_descriptors(folder: Path) -> None:
    """Use files of stores while nothing more can be opened, and say what is raised."""
    store = FileArtifactStore(folder / "artifacts")
    await store.save("a", "name", b"text", "text/plain", {}, 1000)
    create_key(folder / "key")
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
    taken = []
    with suppress(OSError):
        while True:
            taken.append(os.open(os.devnull, os.O_RDONLY))
    errors: list[StoreError] = []
    try:
        await store.load("a", "name", None)
    except StoreError as error:
        errors.append(error)
    for use in (lambda: read_key(folder / "key"), Lease(folder / "lock").acquire):
        try:
            use()
        except StoreError as error:
            errors.append(error)
    for descriptor in taken:
        os.close(descriptor)
    for raised in errors:
        print(type(raised).__name__, raised.is_temporary, "ulimit -n" in raised.hint)
    print((await store.load("a", "name", None)) is not None)


async def check(folder: Path, name: str) -> None:
    """Check the file of runs while what stands beside it cannot be read."""
    engine = InProcessEngine(folder / "runs.db")
    await engine.start()
    secret = engine.secret()
    await engine.close()
    client = InProcessEngine(folder / "runs.db", worker=False)
    break_disk(folder, error=errno.EIO, calls="r", names=name)
    with pytest.raises(StoreDiskError, match=f"{name}' cannot be read"):
        await client.check()
    if name == "runs.db.key":
        with pytest.raises(StoreDiskError):
            await stored_sealer(client, is_checking=True)
    repair_disk(folder)
    print(await client.check(), client.secret() == secret)


@pytest.mark.parametrize("name", first(["runs.db.key", "runs.db.witness"]))
def test_a_key_that_cannot_be_read_now_is_neither_damaged_nor_another_one(tmp_path: Path, name: str) -> None:
    """Its calls were listed as unsealed, and it was to be restored from a backup."""
    assert printed(__name__, tmp_path, "check", name) == "() True\n"


def test_a_lock_that_was_not_written_is_free_again(tmp_path: Path) -> None:
    """The process kept it without knowing, and took itself for another worker."""
    failed, taken = printed(__name__, tmp_path, "lock").splitlines()
    assert failed.startswith("StoreFullError True free space on its disk")
    assert taken == "True True"


def test_what_is_forgotten_does_not_come_back_after_a_loss_of_power(tmp_path: Path) -> None:
    assert printed(__name__, tmp_path, "forget").split() == ["None"]


def test_a_process_that_can_open_no_more_files_can_use_its_stores_later(tmp_path: Path) -> None:
    command = [sys.executable, "-m", __name__, str(tmp_path), "without_descriptors"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["StoreDiskError True True"] * 3 + ["True"], done.stderr


if __name__ == "__main__":
    place, what = Path(sys.argv[1]), sys.argv[2]
    if what == "lock":
        lock(place)
    elif what == "check":
        asyncio.run(check(place, sys.argv[3]))
    else:
        asyncio.run({"forget": forget, "without_descriptors": without_descriptors}[what](place))
