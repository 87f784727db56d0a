"""The key of a file of runs: for one user, there before a worker is ready, and missed when it is gone."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.tools import META, SITE, Listing, runtime, spec, waiting
from tests.selection import first
from tests.virtual_time import now
from toolgen.engines import InProcessEngine
from toolgen.runtime import ConfirmSpec, Runtime, Suspended
from toolgen.stores import ForeignFileError, StoreCorruptError, StoreError, StoreFullError, UnsafeFileError
from toolgen.stores.own_file import create_key, read_key
from toolgen.waiting.errors import MissingSecretError, SuspensionError

TOOL = "assistant.devices.list_devices"
CONFIRMED = spec(confirm=ConfirmSpec())
YES: dict[str, Any] = {"approved": True}
KEY = bytes(range(32))


def made(path: Path, executor: object, **how: Any) -> Runtime:
    return runtime(executor, CONFIRMED, engine=InProcessEngine(path, clock=now, **how))


async def asked(path: Path) -> Suspended:
    async with made(path, Listing()) as host:
        return waiting(await host.call(TOOL, SITE, META))


def _file(path: Path, mode: int = 0o600, content: bytes = KEY) -> None:
    path.write_bytes(content)
    path.chmod(mode)


def _link(path: Path) -> None:
    _file(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        os.chdir(path.parent)  # the address of a socket is short
        listener.bind(path.name)


REFUSED: dict[str, tuple[Callable[[Path], object], type[StoreError], str]] = {
    "short": (
        lambda path: _file(path, content=KEY[:31]),
        StoreCorruptError,
        "has 31 bytes, but a key has 32",
    ),
    "empty": (lambda path: _file(path, content=b""), StoreCorruptError, "has 0 bytes"),
    "long": (lambda path: _file(path, content=KEY * 9), StoreCorruptError, "has more bytes"),
    "readable by all": (lambda path: _file(path, 0o604), UnsafeFileError, "chmod 600"),
    "readable by the group": (lambda path: _file(path, 0o640), UnsafeFileError, "has the mode 0640"),
    "writable by all": (lambda path: _file(path, 0o666), UnsafeFileError, "has the mode 0666"),
    "a FIFO": (os.mkfifo, ForeignFileError, "is not a regular file"),
    "a folder": (os.mkdir, ForeignFileError, "is not a regular file"),
    "a link": (_link, ForeignFileError, "is not a regular file"),
    "a device": (lambda path: path.symlink_to("/dev/zero"), ForeignFileError, "is not a regular file"),
    "a socket": (_socket, ForeignFileError, "is not a regular file"),
}


@pytest.mark.parametrize("kind", first(REFUSED, 4))
async def test_no_worker_starts_with_a_key_that_is_none(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    put, error, message = REFUSED[kind]
    put(tmp_path / "runs.db.key")
    host = made(tmp_path / "runs.db", Listing())
    with pytest.raises(error) as raised:
        await host.__aenter__()
    await host.aclose()
    assert message in f"{raised.value.message}; {raised.value.hint}"
    assert "runs.db.key" in raised.value.message
    assert host.engine is not None
    assert not host.engine.is_worker


def test_the_key_of_another_user_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _file(tmp_path / "key")
    assert read_key(tmp_path / "key") == KEY
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(UnsafeFileError, match="belongs to the user"):
        read_key(tmp_path / "key")


def test_a_key_is_made_once(tmp_path: Path) -> None:
    assert read_key(tmp_path / "key") is None
    first = create_key(tmp_path / "key")
    assert (create_key(tmp_path / "key"), read_key(tmp_path / "key"), len(first)) == (first, first, 32)
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600
    assert [one.name for one in tmp_path.iterdir()] == ["key"]
    with pytest.raises(StoreError, match="cannot be read or created"):
        create_key(tmp_path / "nowhere" / "key")


def test_a_key_that_the_disk_has_no_room_for_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreFullError, match="No space left"):
        create_key(tmp_path / "key")


async def test_the_key_is_there_before_the_worker_is_ready(tmp_path: Path) -> None:
    async with made(tmp_path / "runs.db", Listing()):
        assert (tmp_path / "runs.db.key").exists()


async def test_without_the_key_of_what_waits_nothing_starts(tmp_path: Path) -> None:
    """A new one in silence would make all of it unsealed; the old one makes it good again."""
    path, executor = tmp_path / "runs.db", Listing()
    first = await asked(path)
    key = tmp_path / "runs.db.key"
    kept = key.rename(tmp_path / "backup")
    for how in ({}, {"worker": False}):
        host = made(path, executor, **how)
        with pytest.raises(MissingSecretError, match=first.run_id) as raised:
            await host.__aenter__()
        await host.aclose()
        assert "toolgen runs check --adopt" in str(raised.value.hint)
    assert not key.exists()
    kept.rename(key)
    async with made(path, executor) as host:
        assert (await host.suspensions.answer(first.token, YES)).status == "ok"


async def test_what_waits_is_adopted_with_a_new_key(tmp_path: Path) -> None:
    path, executor = tmp_path / "runs.db", Listing()
    first = await asked(path)
    (tmp_path / "runs.db.key").unlink()
    desk = made(path, executor)
    desk.runs.run_as_client(checks=True)
    async with desk:
        (seen,) = await desk.suspensions.check()
        assert (seen.id, seen.state, (tmp_path / "runs.db.key").exists()) == (first.id, "unsealed", False)
        assert await desk.suspensions.adopt(first.run_id, by="ann") == (seen,)
        assert [one.state for one in await desk.suspensions.check()] == ["sealed"]
    async with made(path, executor) as host:
        with pytest.raises(SuspensionError):  # its token is of the key before
            await host.suspensions.answer(first.token, YES)
        (again,) = await host.suspensions.list()
        assert (again.id, again.arguments) == (first.id, first.arguments)
        assert (await host.suspensions.answer(again.token, YES)).status == "ok"
        assert len(executor.calls) == 1


async def test_a_key_that_is_missing_beside_nothing_that_waits_is_made_again(tmp_path: Path) -> None:
    path, executor = tmp_path / "runs.db", Listing()
    first = await asked(path)
    async with made(path, executor) as host:
        assert (await host.suspensions.answer(first.token, YES)).status == "ok"
    (tmp_path / "runs.db.key").unlink()
    async with made(path, executor) as host:
        assert waiting(await host.call(TOOL, SITE, META)).token
