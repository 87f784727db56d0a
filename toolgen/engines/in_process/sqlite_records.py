"""Reads complete run records from a SQLite journal, for the worker."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Final

from toolgen.contract.record import frozen_record
from toolgen.stores.sqlite_errors import DamagedRowError, is_damage, reading, require_second_look

from .journal import (
    CANCEL,
    NULL,
    AttemptRecord,
    Ending,
    OpRecord,
    RunRecord,
    SignalRecord,
    WaitRecord,
    decode,
)
from .sqlite_tables import TOO_LARGE, bounded, ids, is_over, run_number

_ENDINGS: Final[dict[str, Ending]] = {
    "completed": "completed",
    "failed": "failed",
    "canceled": "canceled",
}


def read_record(database: sqlite3.Connection, run_id: str, *, is_open: bool = False) -> RunRecord | None:
    """Return the complete record of a run; None if no run has the id, or, with `is_open`, if it is over.

    Raises:
        DamagedRowError: one of its rows was changed or lost, or its chain of parents is circular.
    """
    no = run_number(database, run_id)
    if no is None or (is_open and is_over(database, no)):
        return None
    root, is_below_itself = _root(database, no)
    if is_below_itself:
        raise _circle(database, root)
    return read_numbered_record(database, no)


def require_sound_tree(database: sqlite3.Connection, run_id: str) -> None:
    """Raise if a worker cannot load an unfinished run, with its ancestors and descendants.

    Raises:
        DamagedRowError: one of the runs is damaged.
    """
    no = run_number(database, run_id)
    damage = None if no is None else read_trees(database, NUMBERED, no).damaged.get(run_id)
    if damage is not None:
        raise DamagedRowError(damage)


@frozen_record(kw_only=False)
class Trees:
    """Unfinished runs with their descendants, parents first."""

    records: list[RunRecord]
    damaged: dict[str, str]
    """Reasons why the tree of a run cannot be read, by run id; `records` does not contain such a tree.

    An exception would keep the cursor of the row in its traceback, and so the snapshot of its connection.
    """


NUMBERED: Final = "no = ?"
NEW: Final = "state = 'new'"
"""Runs that no worker has seen."""
BUSY: Final = "state IN ('new', 'running')"
"""Runs that are neither over nor parked."""
DUE: Final = "wake IS NOT NULL AND wake <= ?"
"""Parked runs whose wake time has come."""


def read_trees(database: sqlite3.Connection, where: str, *values: object) -> Trees:
    """Return the unfinished runs in the trees of all runs that match a SQL condition."""
    rows = database.execute(f"SELECT no FROM run WHERE {where}", values)
    roots = dict(_root(database, no) for (no,) in sorted(rows))
    trees = Trees([], {})
    for root, is_below_itself in roots.items():
        tree = _tree_numbers(database, root)
        try:
            if is_below_itself:
                raise _circle(database, root)
            trees.records.extend([read_numbered_record(database, no) for no in tree])
        except DamagedRowError as error:
            require_second_look(error)
            trees.damaged.update((run_name(database, no), str(error)) for no in tree)
    return trees


def _tree_numbers(database: sqlite3.Connection, root: int) -> list[int]:
    """Return the numbers of the unfinished runs of a tree, parents first."""
    numbers, seen = [root], {root}
    for no in numbers:
        rows = database.execute("SELECT no FROM run WHERE parent = ? AND ended IS NULL ORDER BY no", (no,))
        new = [child for (child,) in rows if child not in seen]
        numbers += new
        seen.update(new)
    return numbers


def _root(database: sqlite3.Connection, no: int) -> tuple[int, bool]:
    """Return the topmost unfinished ancestor of a run, and whether damage made its ancestry circular."""
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


def _circle(database: sqlite3.Connection, no: int) -> DamagedRowError:
    return DamagedRowError(f"run {run_name(database, no)} is recorded as its own descendant")


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
    """Return the complete record of a run.

    Raises:
        DamagedRowError: one of its rows was changed or lost.
    """
    with reading(lambda: f"run {run_name(database, no)}"):
        return _read(database, no)


def _read(database: sqlite3.Connection, no: int) -> RunRecord:
    run_id, loop, input_, parent, starter, session, state, began, ended, output, error = database.execute(
        f"""SELECT run_id, loop, {bounded("input")},
        (SELECT run_id FROM run above WHERE above.no = run.parent),
        (SELECT run_id FROM run above WHERE above.no = run.starter), session, state, began, ended, output,
        error FROM run WHERE no = ?""",
        (no,),
    ).fetchone()
    record = RunRecord(
        run_id=run_id, loop=loop, input=input_, parent=parent, session=session, starter=starter, no=no
    )
    decode(_within_bounds(input_, f"the input of run {run_id}"))
    record.began, record.error, record.is_parked = began, error or "", state == "parked"
    if ended is not None:
        record.ending, record.output = _ENDINGS[state], output
        decode(output)
    _read_operations(database, record)
    for _, key, text in read_log(database, no):
        record.events.append(text)
        if key is not None:
            record.keys.add(key)
    for is_seen, *row in database.execute(
        "SELECT is_seen, signal_id, name, payload, is_taken, key, no FROM signal WHERE run = ? ORDER BY no",
        (no,),
    ):
        signal = SignalRecord(*row)
        if signal.signal_id != CANCEL:
            decode(signal.payload)
            # A consumed signal is always seen, and the name of an answer is always its id.
            if signal.is_taken not in (0, is_seen) or (signal.key and signal.name != signal.signal_id):
                raise DamagedRowError(f"run {run_id} cannot be read: a signal of it was changed")
            record.signals[signal.signal_id] = signal
    for column, names in (("parent", record.children), ("starter", record.detached)):
        rows = database.execute(f"SELECT run_id FROM run WHERE {column} = ? ORDER BY no", (no,))
        names += [name for (name,) in rows]
    return record


def read_log(
    database: sqlite3.Connection, no: int, after: int = 0, most: int = -1
) -> Iterator[tuple[int, str | None, bytes]]:
    """Yield offset, key and text of the events of a run after an offset; `most=-1` yields all.

    Raises:
        DamagedRowError: an event is missing, or is not a JSON object.
    """
    first, last = ids(no)
    rows = database.execute(
        "SELECT id, key, text FROM event WHERE id > ? AND id <= ? ORDER BY id LIMIT ?",
        (min(first + after, last), last, most),
    )
    for number, (id_, key, text) in enumerate(rows, after + 1):
        if id_ != first + number or not text.startswith(b"{"):
            name = run_name(database, no)
            raise DamagedRowError(
                f"the log of run {name} cannot be read: event {number} is missing or changed"
            )
        yield number, key, text


def _read_operations(database: sqlite3.Connection, record: RunRecord) -> None:
    first, last = ids(record.no)
    rows = database.execute(
        "SELECT id, op, what, digest, at, value, kind, message FROM op WHERE id BETWEEN ? AND ?",
        (first, last),
    )
    for id_, op, what, digest, at, value, kind, message in rows:
        decode(value)
        record.ops[op] = OpRecord(op, what, digest, at, value, kind or "", message or "")
        record.next_op = id_ - first
    rows = database.execute(
        f"SELECT id, op, names, {bounded('about')} FROM wait WHERE id BETWEEN ? AND ? ORDER BY id",
        (first, last),
    )
    what = f"what run {record.run_id} waits for"
    for number, (id_, op, names, about) in enumerate(rows, first + 1):
        if id_ != number or op in record.waits:  # otherwise the next wait would get a number that is in use
            raise DamagedRowError(f"{what} cannot be read: a wait is missing or changed")
        about = _within_bounds(about, what)
        decode(about or NULL)
        record.waits[op] = WaitRecord(op, about or record.input, tuple(decode(names)))
    rows = database.execute("SELECT op, failed, until, begun FROM attempt WHERE run = ?", (record.no,))
    for op, failed, until, has_begun in rows:
        record.attempts[op] = AttemptRecord(failed, until, bool(has_begun))


def _within_bounds(text: bytes | None, what: str) -> bytes:
    """Return a value that was read with `bounded`.

    Raises:
        DamagedRowError: the value is too large.
    """
    if text is None:
        raise DamagedRowError(f"{what} cannot be read: {TOO_LARGE}")
    return text
