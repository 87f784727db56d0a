"""The stores of artifacts: what they drop, and the folder of one that keeps files."""

from __future__ import annotations

import asyncio
import fcntl
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import surroundings
from tests.runtime.store_files import ARTIFACT_STORES
from toolgen.capabilities import ArtifactStore, FileArtifactStore
from toolgen.stores import (
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreLockedError,
    StoreMissingError,
)
from toolgen.stores.folder import Folder


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=ARTIFACT_STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> ArtifactStore:
    return ARTIFACT_STORES[request.param](tmp_path, clock)


async def kept(store: ArtifactStore, *owners: str) -> list[str]:
    return [owner for owner in owners if await store.listed(owner)]


async def save(store: ArtifactStore, owner: str, name: str = "a", data: bytes = b"x") -> int:
    return await store.save(owner, name, data, "text/plain", {}, 1_000)


async def test_an_owner_is_dropped_and_with_a_slash_those_that_begin_with_it(store: ArtifactStore) -> None:
    owners = ("run/s/r1", "run/s/r1/child:c", "run/s/r10", "run/s/", "run/s", "run/s0", "session/s/r1")
    for owner in owners:
        await save(store, owner)
        await save(store, owner)
    assert await store.forget("run/s/r1") == 2
    assert await store.load("run/s/r1", "a", 1) is None
    assert await kept(store, *owners) == list(owners[1:])
    assert await store.forget("run/s/r1/") == 2
    assert await store.forget("run/s/") == 4
    assert await kept(store, *owners) == ["run/s", "run/s0", "session/s/r1"]
    assert await store.forget("session/s") == await store.forget("nobody/") == 0


async def test_an_owner_who_saved_again_is_not_old(store: ArtifactStore, clock: Clock) -> None:
    for owner in ("run//a", "run//b"):
        await save(store, owner)
    clock.now = 200.0
    await save(store, "run//b", "later")
    assert await store.forget("run//", before=100.0) == 0
    assert await store.forget("run//", before=200.0) == 1
    assert await kept(store, "run//a", "run//b") == ["run//b"]
    assert await store.forget("run//", before=201.0) == 2


async def test_what_was_dropped_makes_room(store: ArtifactStore) -> None:
    await store.save("run/s/r", "a", b"12345", "text/plain", {}, 8)
    await store.forget("run/s/")
    assert await store.save("run/s/r", "a", b"12345", "text/plain", {}, 8) == 1


# The folder.


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


async def test_no_key_is_a_path_and_equal_data_is_kept_once(tmp_path: Path) -> None:
    folder = tmp_path / "artifacts"
    store = FileArtifactStore(folder)
    for owner, name in (("../../x", "/etc/passwd"), ("../../x", "b\0"), ("run/\ud800", "..")):
        await save(store, owner, name, b"secret")
        found = await store.load(owner, name, None)
        assert found is not None
        assert found.data == b"secret"
        assert found.info.name == name
    assert set(os.listdir(tmp_path)) == {"artifacts"}
    data = [path for path in files(folder) if path.read_bytes() == b"secret"]
    assert len(data) == 2  # of two owners
    assert all(path.parent.parent == folder for path in files(folder))


async def test_a_folder_is_the_business_of_its_owner(tmp_path: Path) -> None:
    store = FileArtifactStore(tmp_path / "artifacts")
    await save(store, "run/s/r")
    modes = {path.stat().st_mode & 0o077 for path in (tmp_path / "artifacts").rglob("*")}
    assert modes == {0}
    assert (tmp_path / "artifacts").stat().st_mode & 0o077 == 0


async def test_data_that_was_changed_is_not_given_out(tmp_path: Path) -> None:
    store = FileArtifactStore(tmp_path / "artifacts")
    await save(store, "run/s/r", data=b"secret")
    (file,) = [path for path in files(tmp_path) if path.read_bytes() == b"secret"]
    file.write_bytes(b"forged")
    with pytest.raises(StoreCorruptError, match="is damaged"):
        await store.load("run/s/r", "a", None)
    file.unlink()
    with pytest.raises(StoreCorruptError):
        await store.load("run/s/r", "a", None)


async def test_a_failed_step_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*args: Any) -> None:
        raise OSError(28, "No space left on device")

    store = FileArtifactStore(tmp_path / "artifacts")
    await save(store, "run/s/r")
    before = files(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fails)
        with pytest.raises(StoreFullError, match="No space left"):
            await save(store, "run/s/r", "b")
    assert files(tmp_path) == before
    assert [one.name for one in await store.listed("run/s/r")] == ["a"]


async def test_what_a_killed_process_had_begun_to_remove_is_removed(tmp_path: Path) -> None:
    store = FileArtifactStore(tmp_path / "artifacts")
    await save(store, "run/s/r")
    shelf = Folder(tmp_path / "artifacts").bucket("run/s/r").path
    shelf.rename(shelf.with_name(f"gone-{shelf.name}"))
    assert await kept(store, "run/s/r") == []
    assert await store.forget("run/s/") == 0
    assert files(tmp_path) == []


def test_a_place_that_is_no_folder_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="is not a folder"):
        FileArtifactStore(tmp_path / "file")
    with pytest.raises(StoreMissingError, match="is in a folder that does not exist"):
        FileArtifactStore(tmp_path / "none" / "artifacts")


async def test_a_folder_that_is_gone_is_said_so(tmp_path: Path) -> None:
    store = FileArtifactStore(tmp_path / "artifacts")
    (tmp_path / "artifacts").rmdir()
    with pytest.raises(StoreMissingError):
        await save(store, "run/s/r")


async def test_a_folder_that_stays_locked_is_said_so(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "artifacts", busy_s=0)
    descriptor = os.open(tmp_path / "artifacts", os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        assert await folder.run_shared(lambda: "read") == "read"
        with pytest.raises(StoreLockedError, match="has been locked by another process for 0 s"):
            await folder.run_exclusive(lambda: "written")
    finally:
        os.close(descriptor)
    assert await folder.run_exclusive(lambda: "written") == "written"


@pytest.mark.exhaustive
def test_a_forked_process_uses_the_folder_too(tmp_path: Path) -> None:
    code = """
    import asyncio, os, sys, warnings
    from toolgen.capabilities import FileArtifactStore
    warnings.simplefilter("ignore")  # newer Pythons warn of forks beside threads
    store = FileArtifactStore(sys.argv[1])
    save = lambda: asyncio.run(store.save("run/s/r", "a", b"x", "text/plain", {}, 100))
    save()
    child = os.fork()
    save()
    if child:
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    folder = str(tmp_path / "artifacts")
    command = [sys.executable, "-c", textwrap.dedent(code), folder]
    assert subprocess.run(command, env=surroundings()).returncode == 0
    listed = asyncio.run(FileArtifactStore(folder).listed("run/s/r", "a"))
    assert [one.version for one in listed] == [1, 2, 3]


@pytest.mark.exhaustive
def test_processes_give_each_version_a_number_of_its_own(tmp_path: Path) -> None:
    code = textwrap.dedent(
        """
        import asyncio, sys
        from toolgen.capabilities import FileArtifactStore
        store = FileArtifactStore(sys.argv[1])
        for number in range(10):
            data = f"{sys.argv[2]} {number}".encode()
            asyncio.run(store.save("run/s/r", "a", data, "text/plain", {}, 10_000))
        """
    )
    folder = str(tmp_path / "artifacts")
    command = [sys.executable, "-c", code, folder]
    running = [subprocess.Popen([*command, str(one)], env=surroundings()) for one in range(3)]
    assert [process.wait() for process in running] == [0, 0, 0]
    listed = asyncio.run(FileArtifactStore(folder).listed("run/s/r", "a"))
    assert [one.version for one in listed] == list(range(1, 31))
