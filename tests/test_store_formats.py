"""Formats of what a runtime stores: only today's number is read; a file of another one is refused, unchanged.

Each file is made by today's writer, then gets the other number where the format has it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

from toolgen.agents import SqliteSessionStore
from toolgen.capabilities import SqliteArtifactStore, SqliteCredentialStore, SqliteStateStore
from toolgen.engines import InProcessEngine
from toolgen.stores import ForeignFileError, StoreFormatError

HINT: Final = "use the version of toolgen that wrote it, or another file"
SQLITE: Final[dict[str, tuple[int, Callable[[Path], Any]]]] = {
    "runs": (3, InProcessEngine),
    "sessions": (2, SqliteSessionStore),
    "artifacts": (2, SqliteArtifactStore),
    "state": (1, SqliteStateStore),
    "credentials": (1, lambda path: SqliteCredentialStore(path, secret=b"s" * 32)),
}
"""The number of each file, and what opens it."""
OTHERS: Final = [
    (content, number)
    for content, (newest, _) in SQLITE.items()
    for number in range(newest + 2)
    if number != newest
]


async def new_file(folder: Path, content: str) -> Path:
    """Make a file that is closed."""
    path = folder / "a.db"
    opened = SQLITE[content][1](path)
    if isinstance(opened, InProcessEngine):
        await opened.start()
        await opened.close()
    else:
        opened.close()
    return path


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def execute(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as database:
        for statement in statements:
            database.execute(statement)


@pytest.mark.parametrize(("content", "number"), OTHERS)
async def test_a_file_in_another_format_is_refused_unchanged(
    tmp_path: Path, content: str, number: int
) -> None:
    newest, opens = SQLITE[content]
    path = await new_file(tmp_path, content)
    execute(path, f"PRAGMA user_version = {number}")
    before = files(tmp_path)
    with pytest.raises(StoreFormatError) as caught:
        opens(path)
    says = f"{str(path)!r} holds {content} in format {number}, and this toolgen reads format {newest}"
    assert str(caught.value) == f"{says}\n  hint: {HINT}"
    assert files(tmp_path) == before


@pytest.mark.parametrize("content", SQLITE)
async def test_a_file_without_a_number_is_refused_unchanged(tmp_path: Path, content: str) -> None:
    path = await new_file(tmp_path, content)
    execute(path, "PRAGMA user_version = 0", "PRAGMA application_id = 0")
    before = files(tmp_path)
    with pytest.raises(ForeignFileError, match=f"is a database of something else than {content}") as caught:
        SQLITE[content][1](path)
    assert caught.value.hint == f"give the {content} a file of their own"
    assert files(tmp_path) == before


@pytest.mark.parametrize("number", ["0", "2", "null", '"1"'])
async def test_a_witness_in_another_format_is_refused_unchanged(tmp_path: Path, number: str) -> None:
    path = await new_file(tmp_path, "runs")
    witness = path.with_name("a.db.witness")
    first = witness.read_text()
    assert first.startswith('["witness",1,')
    witness.write_text(first.replace('["witness",1,', f'["witness",{number},'))
    before = files(tmp_path)
    engine = InProcessEngine(path)
    with pytest.raises(StoreFormatError, match=r"a\.db\.witness' is a witness in format .*reads format 1"):
        await engine.start()
    await engine.close()
    assert files(tmp_path) == before
