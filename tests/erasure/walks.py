"""Walks over every table of every database and every byte of every file, for what is marked."""

from __future__ import annotations

import re
import sqlite3
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final, TypeAlias

import psycopg
from psycopg import sql

_MARK: Final = re.compile(rb"Mark(\w+?)x(\w+?)z")
Found: TypeAlias = dict[str, set[str]]
"""By file or table, the places whose marks it holds."""


def mark(session: str, place: str) -> str:
    """Return the text by which what a session leaves in a place is known."""
    return f"Mark{session}x{place}z"


def marks_in(data: bytes, session: str) -> set[str]:
    """Return the places of a session whose marks stand in some bytes, also in hex and in base64."""
    plain = {name.decode() for of, name in _MARK.findall(data) if of.decode() == session}
    return plain | ({"encoded"} if any(one in data for one in _encoded(session)) else set())


def _encoded(session: str) -> list[bytes]:
    """Return how a mark of a session begins in other encodings, wherever it stands in what is encoded."""
    begin = mark(session, "")[:-1].encode()
    shifted = [b64encode(b"." * skip + begin)[skip and 4 : -4] for skip in range(3)]
    return [*shifted, begin.hex().encode(), begin.hex().upper().encode()]


def marks_in_files(folder: Path, session: str) -> Found:
    """Return what every file below a folder holds, and its name; a socket holds nothing."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    found = {str(path.relative_to(folder)): path for path in files}
    return {name: marks_in(name.encode() + path.read_bytes(), session) for name, path in found.items()}


def marks_in_tables(file: Path, session: str) -> Found:
    """Return what every table of a SQLite file holds, its write-ahead log included."""
    with closing(sqlite3.connect(file)) as database:
        database.text_factory = bytes
        names = [name.decode() for (name,) in database.execute(_TABLES)]
        return {name: _marks_in_rows(database.execute(f'SELECT * FROM "{name}"'), session) for name in names}


_TABLES: Final = "SELECT name FROM sqlite_master WHERE type = 'table'"


def marks_in_postgres(conninfo: str, session: str) -> Found:
    """Return what every table of a database holds that is not of the server itself."""
    with psycopg.connect(conninfo) as connection:
        names = connection.execute(
            "SELECT table_schema, table_name FROM information_schema.tables"
            " WHERE table_schema NOT IN ('information_schema', 'pg_catalog')"
        ).fetchall()
        found: Found = {}
        for schema, name in names:
            query = sql.SQL("SELECT * FROM {}").format(sql.Identifier(schema, name))
            found[f"{schema}.{name}"] = _marks_in_rows(connection.execute(query), session)
        return found


def _marks_in_rows(rows: Iterable[tuple[Any, ...]], session: str) -> set[str]:
    found: set[str] = set()
    for row in rows:
        for value in row:
            found |= marks_in(value if isinstance(value, bytes) else str(value).encode(), session)
    return found


def anywhere(found: Mapping[str, set[str]]) -> Found:
    """Return the files or tables that hold anything."""
    return {name: places for name, places in found.items() if places}


def known_files(folder: Path, is_known: Callable[[str], object]) -> None:
    """Fail for a file that nobody has told the tests of."""
    names = [str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()]
    assert [name for name in names if not is_known(name)] == []
