"""The lease on a file: which files hold one, and where a process is forked."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from toolgen.stores import ForeignFileError, LeaseLostError, StoreError, UnsafeFileError
from toolgen.stores.own_file import Lease

FORK = """
import os, sys
from pathlib import Path
from toolgen.stores.own_file import Lease

mine = Lease(Path(sys.argv[1]))
assert mine.acquire()
gate, open_gate = os.pipe()
told, tell = os.pipe()
if os.fork() == 0:
    os.write(tell, b"y" if mine.acquire() else b"n")
    os.close(open_gate)
    os.read(gate, 1)
    os._exit(0)
assert os.read(told, 1) == b"n", "the child has the lease too"
assert mine.acquire()
mine.release()
assert Lease(Path(sys.argv[1])).acquire(), "the child keeps the lease of its parent"
os.close(open_gate)
os.wait()
"""


def test_a_forked_process_neither_has_nor_keeps_the_lease_of_its_parent(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", FORK, str(tmp_path / "lock")], check=True)


def _for_all(path: Path) -> None:
    path.touch()
    path.chmod(0o666)


REFUSED: dict[str, tuple[Callable[[Path], object], type[StoreError], str]] = {
    "a FIFO": (os.mkfifo, ForeignFileError, "is not a regular file, which a lock needs"),
    "a folder": (os.mkdir, ForeignFileError, "is not a regular file"),
    "a link": (lambda path: path.symlink_to("elsewhere"), ForeignFileError, "is not a regular file"),
    "a device": (lambda path: path.symlink_to("/dev/null"), ForeignFileError, "is not a regular file"),
    "for all": (_for_all, UnsafeFileError, "has the mode 0666"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_only_a_file_of_our_own_holds_a_lease(tmp_path: Path, kind: str) -> None:
    put, error, message = REFUSED[kind]
    put(tmp_path / "lock")
    with pytest.raises(error, match=message):
        Lease(tmp_path / "lock").acquire()


def test_the_lock_of_another_user_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lease = Lease(tmp_path / "lock")
    assert lease.acquire()
    lease.release()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(UnsafeFileError, match="belongs to the user"):
        lease.acquire()


def test_a_lease_is_lost_with_its_file_and_can_be_taken_again(tmp_path: Path) -> None:
    lease = Lease(tmp_path / "lock")
    lease.require_file()  # one that is not held is not lost
    assert lease.acquire()
    lease.require_file()
    (tmp_path / "lock").rename(tmp_path / "away")
    with pytest.raises(LeaseLostError, match="was removed or replaced"):
        lease.require_file()
    assert Lease(tmp_path / "lock").acquire()
    assert lease.acquire()
    lease.require_file()
