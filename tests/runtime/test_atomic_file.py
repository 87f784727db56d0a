"""The one way in which files of stores are written: whole, or not at all."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from toolgen.stores.atomic_file import remove_drafts, write_atomically

ROOT = Path(__file__).parents[2] / "toolgen"


def failing() -> Iterator[bytes]:
    yield b"half"
    raise OSError("the disk is full")


@pytest.mark.parametrize("replaces", [True, False])
def test_a_write_that_fails_leaves_what_was_there(tmp_path: Path, replaces: bool) -> None:
    file = tmp_path / "a[1]"
    for before in (None, b"before"):
        if before is not None:
            file.write_bytes(before)
        with pytest.raises(OSError, match="the disk is full"):
            write_atomically(file, failing(), replaces=replaces)
        assert [path.read_bytes() for path in tmp_path.iterdir()] == ([] if before is None else [before])


def test_the_owner_alone_reads_what_is_written(tmp_path: Path) -> None:
    file = tmp_path / "a"
    write_atomically(file, [b"one ", b"two"])
    assert (file.read_bytes(), stat.S_IMODE(file.stat().st_mode)) == (b"one two", 0o600)
    write_atomically(file, [b"three"])
    write_atomically(file, [b"four"], replaces=False)
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a", b"three")]


def test_what_a_kill_left_is_removed(tmp_path: Path) -> None:
    """And nothing else: no file of the author, and no draft of a file whose name only begins alike."""
    draft = "0123456789abcdef.new"
    others = ["a[1].copy.new", f"a[1].key.{draft}", "a[1].new.json", f"b.{draft}"]
    for name in (f"a[1].{draft}", *others):
        (tmp_path / name).touch()
    remove_drafts(tmp_path / "a[1]")
    assert sorted(path.name for path in tmp_path.iterdir()) == others


def test_no_store_moves_its_files_itself() -> None:
    moving = ("os.replace(", "os.link(", ".replace(self.path", "mkstemp(")
    found = [
        path.name
        for path in sorted((ROOT / "stores").glob("*.py"))
        if any(each in path.read_text("utf-8") for each in moving)
    ]
    assert found == ["atomic_file.py"]
