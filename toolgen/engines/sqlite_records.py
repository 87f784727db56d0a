"""Reads whole records of runs from a journal in SQLite, for the worker."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from .journal import AttemptRecord, OpRecord, RunRecord, SignalRecord, WaitRecord, decode
from .sqlite_tables import CANCEL, ids, run_number


def read_record(database: sqlite3.Connection, run_id: str) -> RunRecord | None:
    """Return the whole record of a run; None where no run has the id."""
    no = run_number(database, run_id)
    return None if no is None else _record(database, no)


def read_open_record(database: sqlite3.Connection, run_id: str) -> RunRecord | None:
    """Return the whole record of a run that is not over."""
    row = database.execute("SELECT no FROM run WHERE run_id = ? AND ended IS NULL", (run_id,)).fetchone()
    return None if row is None else _record(database, row[0])


def read_busy_trees(database: sqlite3.Connection) -> list[RunRecord]:
    """Return the runs that are neither over nor parked, with the unfinished runs of their trees."""
    rows = database.execute("SELECT no FROM run WHERE state IN ('new', 'running') ORDER BY no")
    return read_trees(database, [no for (no,) in rows.fetchall()])


def read_due_trees(database: sqlite3.Connection, now: float) -> list[RunRecord]:
    """Return the parked runs whose time has come, with the unfinished runs of their trees."""
    rows = database.execute("SELECT no FROM run WHERE wake IS NOT NULL AND wake <= ?", (now,))
    return read_trees(database, [no for (no,) in rows.fetchall()])


def read_trees(database: sqlite3.Connection, numbers: Sequence[int]) -> list[RunRecord]:
    """Return the unfinished runs in the trees of some runs, parents first."""
    roots = dict.fromkeys(_root(database, no) for no in numbers)
    found: list[RunRecord] = []
    for root in roots:
        queue = [root]
        while queue:
            no = queue.pop(0)
            found.append(_record(database, no))
            rows = database.execute(
                "SELECT no FROM run WHERE parent = ? AND ended IS NULL ORDER BY no", (no,)
            )
            queue += [child for (child,) in rows]
    return found


def _root(database: sqlite3.Connection, no: int) -> int:
    """Return the highest run above a run that is not over."""
    while True:
        row = database.execute(
            "SELECT above.no FROM run JOIN run above ON above.no = run.parent"
            " WHERE run.no = ? AND above.ended IS NULL",
            (no,),
        ).fetchone()
        if row is None:
            return no
        no = row[0]


def _record(database: sqlite3.Connection, no: int) -> RunRecord:
    """Return the whole record of a run."""
    run_id, loop, given, parent, starter, session, state, began, ended, output, error = database.execute(
        """SELECT run_id, loop, input, (SELECT run_id FROM run above WHERE above.no = run.parent),
        (SELECT run_id FROM run above WHERE above.no = run.starter), session, state, began, ended, output,
        error FROM run WHERE no = ?""",
        (no,),
    ).fetchone()
    record = RunRecord(
        run_id=run_id, loop=loop, input=given, parent=parent, session=session, starter=starter, no=no
    )
    record.began, record.error, record.is_parked = began, error or "", state == "parked"
    if ended is not None:
        record.ending, record.output = state, output
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
        record.ops[op] = OpRecord(op, what, asked, at, value, kind or "", message or "")
        record.next_op = id_ - first
    rows = database.execute("SELECT op, names, about FROM wait WHERE id BETWEEN ? AND ?", (first, last))
    for op, names, about in rows:
        record.waits[op] = WaitRecord(op, about or record.input, tuple(decode(names)))
    rows = database.execute("SELECT op, failed, until, begun FROM attempt WHERE run = ?", (record.no,))
    for op, failed, until, begun in rows:
        record.attempts[op] = AttemptRecord(failed, until, bool(begun))
