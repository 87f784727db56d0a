"""Reads whole records of runs from a journal in SQLite, for the worker."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from toolgen.runtime.stores.sqlite_errors import UNREADABLE, DamagedRowError, damaged, is_damage

from .journal import AttemptRecord, Ending, OpRecord, RunRecord, SignalRecord, WaitRecord, decode
from .sqlite_tables import CANCEL, ids, run_number

_ENDINGS: Final[dict[str, Ending]] = {
    "completed": "completed",
    "failed": "failed",
    "canceled": "canceled",
}


def read_record(database: sqlite3.Connection, run_id: str) -> RunRecord | None:
    """Return the whole record of a run; None where no run has the id."""
    no = run_number(database, run_id)
    return None if no is None else read_numbered_record(database, no)


def read_open_record(database: sqlite3.Connection, run_id: str) -> RunRecord | None:
    """Return the whole record of a run that is not over."""
    row = database.execute("SELECT no FROM run WHERE run_id = ? AND ended IS NULL", (run_id,)).fetchone()
    return None if row is None else read_numbered_record(database, row[0])


@dataclass(frozen=True, slots=True)
class Trees:
    """Unfinished runs with those below them, parents first."""

    records: list[RunRecord]
    damaged: dict[str, str]
    """By run, why its tree cannot be read; such a tree is left out.

    An exception would keep the cursor of the row in its traceback, and so the snapshot of its connection.
    """


def read_busy_trees(database: sqlite3.Connection) -> Trees:
    """Return the runs that are neither over nor parked, with the unfinished runs of their trees."""
    rows = database.execute("SELECT no FROM run WHERE state IN ('new', 'running') ORDER BY no")
    return read_trees(database, [no for (no,) in rows.fetchall()])


def read_due_trees(database: sqlite3.Connection, now: float) -> Trees:
    """Return the parked runs whose time has come, with the unfinished runs of their trees."""
    rows = database.execute("SELECT no FROM run WHERE wake IS NOT NULL AND wake <= ?", (now,))
    return read_trees(database, [no for (no,) in rows.fetchall()])


def read_trees(database: sqlite3.Connection, numbers: Sequence[int]) -> Trees:
    """Return the unfinished runs in the trees of some runs."""
    roots = dict(_root(database, no) for no in numbers)
    found = Trees([], {})
    for root, is_below_itself in roots.items():
        tree = _tree_numbers(database, root)
        try:
            if is_below_itself:
                raise DamagedRowError(f"run {run_name(database, root)} is said to be below itself")
            found.records.extend([read_numbered_record(database, no) for no in tree])
        except DamagedRowError as error:
            found.damaged.update((run_name(database, no), str(error)) for no in tree)
    return found


def _tree_numbers(database: sqlite3.Connection, root: int) -> list[int]:
    """Return the numbers of the unfinished runs of a tree, parents first."""
    found, seen = [root], {root}
    for no in found:
        rows = database.execute("SELECT no FROM run WHERE parent = ? AND ended IS NULL ORDER BY no", (no,))
        new = [child for (child,) in rows if child not in seen]
        found += new
        seen.update(new)
    return found


def _root(database: sqlite3.Connection, no: int) -> tuple[int, bool]:
    """Return the highest run above a run that is not over, and whether damage has made a circle of them."""
    seen = {no}
    while True:
        row = database.execute(
            "SELECT above.no FROM run JOIN run above ON above.no = run.parent"
            " WHERE run.no = ? AND above.ended IS NULL",
            (no,),
        ).fetchone()
        if row is None or row[0] in seen:
            return no, row is not None
        no = row[0]
        seen.add(no)


def run_name(database: sqlite3.Connection, no: int) -> str:
    """Return the id of a run, as far as it can be read."""
    try:
        row = database.execute("SELECT CAST(run_id AS BLOB) FROM run WHERE no = ?", (no,)).fetchone()
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        row = None
    return f"number {no}" if row is None else str(row[0], "utf-8", "replace")


def read_numbered_record(database: sqlite3.Connection, no: int) -> RunRecord:
    """Return the whole record of a run.

    Raises:
        DamagedRowError: a row of it is not as it was written.
    """
    try:
        return _read(database, no)
    except UNREADABLE as error:
        raise damaged(f"run {run_name(database, no)}", error) from error


def _read(database: sqlite3.Connection, no: int) -> RunRecord:
    run_id, loop, given, parent, starter, session, state, began, ended, output, error = database.execute(
        """SELECT run_id, loop, input, (SELECT run_id FROM run above WHERE above.no = run.parent),
        (SELECT run_id FROM run above WHERE above.no = run.starter), session, state, began, ended, output,
        error FROM run WHERE no = ?""",
        (no,),
    ).fetchone()
    record = RunRecord(
        run_id=run_id, loop=loop, input=given, parent=parent, session=session, starter=starter, no=no
    )
    decode(given)
    record.began, record.error, record.is_parked = began, error or "", state == "parked"
    if ended is not None:
        record.ending, record.output = _ENDINGS[state], output
        decode(output)
    _read_operations(database, record)
    for key, text in database.execute(
        "SELECT key, text FROM event WHERE id BETWEEN ? AND ? ORDER BY id", ids(no)
    ):
        record.events.append(text)
        if key is not None:
            record.keys.add(key)
    for row in database.execute(
        "SELECT signal_id, name, payload, is_taken, key, no FROM signal WHERE run = ? ORDER BY no", (no,)
    ):
        signal = SignalRecord(row[0], row[1], row[2], bool(row[3]), row[4], row[5])
        if signal.signal_id != CANCEL:
            record.signals[signal.signal_id] = signal
    for column, names in (("parent", record.children), ("starter", record.detached)):
        rows = database.execute(f"SELECT run_id FROM run WHERE {column} = ? ORDER BY no", (no,))
        names += [name for (name,) in rows]
    return record


def _read_operations(database: sqlite3.Connection, record: RunRecord) -> None:
    first, last = ids(record.no)
    rows = database.execute(
        "SELECT id, op, what, digest, at, value, kind, message FROM op WHERE id BETWEEN ? AND ?",
        (first, last),
    )
    for id_, op, what, asked, at, value, kind, message in rows:
        decode(value)
        record.ops[op] = OpRecord(op, what, asked, at, value, kind or "", message or "")
        record.next_op = id_ - first
    rows = database.execute("SELECT op, names, about FROM wait WHERE id BETWEEN ? AND ?", (first, last))
    for op, names, about in rows:
        record.waits[op] = WaitRecord(op, about or record.input, tuple(decode(names)))
    rows = database.execute("SELECT op, failed, until, begun FROM attempt WHERE run = ?", (record.no,))
    for op, failed, until, begun in rows:
        record.attempts[op] = AttemptRecord(failed, until, bool(begun))
