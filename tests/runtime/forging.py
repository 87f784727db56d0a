"""Somebody who can write to a journal in a file, and has no secret."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from toolgen.engines.in_process.sqlite_tables import ids
from toolgen.waiting.loop import VERSION

Change = Callable[[dict[str, Any]], None]
"""Changes the record of a call in place."""
PLACES: Final = (("run", "input"), ("wait", "about"), ("op", "value"))
"""Columns that hold records of calls."""


def forge(path: Path, id_: str, change: Change, places: Sequence[tuple[str, str]] = PLACES) -> None:
    """Change the record of a call wherever the journal has it, or in some columns."""
    with closing(sqlite3.connect(path)) as database, database:
        for table, column in places:
            for (kept,) in database.execute(f"SELECT {column} FROM {table}").fetchall():
                if id_.encode() not in (kept or b""):
                    continue
                document = json.loads(kept)
                assert document["frozen"]["id"] == id_
                change(document["frozen"])
                new = json.dumps(document, separators=(",", ":")).encode()
                database.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", (new, kept))


def record_in(path: Path, run_id: str) -> dict[str, Any]:
    """Return the record of the call that is a run of its own."""
    with closing(sqlite3.connect(path)) as database:
        (kept,) = database.execute("SELECT input FROM run WHERE run_id = ?", (run_id,)).fetchone()
    record: dict[str, Any] = json.loads(kept)["frozen"]
    return record


def put_record(path: Path, run_id: str, record: Any) -> None:
    """Put something in the place of the record of a call that is a run of its own."""
    put_text(path, run_id, json.dumps({"frozen": record, "version": VERSION}).encode())


def put_copy(path: Path, run_id: str) -> None:
    """Give the wait of a call a copy of its record, as whoever writes to the file can do."""
    record = json.dumps({"frozen": record_in(path, run_id)}, separators=(",", ":")).encode()
    with closing(sqlite3.connect(path)) as database, database:
        (no,) = database.execute("SELECT no FROM run WHERE run_id = ?", (run_id,)).fetchone()
        database.execute("UPDATE wait SET about = ? WHERE id BETWEEN ? AND ?", (record, *ids(no)))


def put_text(path: Path, run_id: str, text: bytes) -> None:
    """Put bytes in the place of the input of a run, and of what it waits for."""
    with closing(sqlite3.connect(path)) as database, database:
        (no,) = database.execute("SELECT no FROM run WHERE run_id = ?", (run_id,)).fetchone()
        database.execute("UPDATE run SET input = ? WHERE no = ?", (text, no))
        database.execute("UPDATE wait SET about = ? WHERE id BETWEEN ? AND ?", (text, *ids(no)))
