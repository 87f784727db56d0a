"""Reads from a SQLite journal for lists and damage reports, by workers and clients."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, Final

from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record
from toolgen.stores.sqlite_errors import DamagedRowError, reading, require_second_look

from ..context import answer_name
from ..statuses import ForgottenRun, OpenWait, RunState, RunStatus, RunWait, WaitStatus
from .journal import CANCEL, NULL, Events, SignalRecord, decode
from .pruning import PRUNE, RunTree
from .sqlite_records import read_log, read_numbered_record, run_name
from .sqlite_tables import (
    SHIFT,
    TOO_LARGE,
    bounded,
    ids,
    is_over,
    known_number,
    run_number,
    run_row,
    value_of,
)

_STATES: Final[dict[str, RunState]] = {
    "new": "running",
    "running": "running",
    "parked": "waiting",
    "completed": "completed",
    "failed": "failed",
    "canceled": "canceled",
}
_OPEN: Final = """
    NOT EXISTS (SELECT 1 FROM op WHERE op.op = wait.op AND what = 'wait' AND op.id BETWEEN ? AND ?)
"""
"""Waits have an index of their own, so this does not scan the operations of a run."""
_ABOUT: Final = f"CASE WHEN length(wait.about) THEN {bounded('wait.about')} ELSE {bounded('run.input')} END"
"""Subject of a wait; the input of its run if the column is empty."""
_FINISHED: Final = "FROM run WHERE ended IS NOT NULL AND parent IS NULL"
"""Finished root runs, which have an index."""
_HAS_SUBJECT: Final = f"(length(wait.about) != {len(NULL)} OR wait.about != x'{NULL.hex()}')"
_MOST_PROBLEMS: Final = 50
"""Maximum number of reported problems of the file; a lost index causes one problem for each row."""


def next_wake(database: sqlite3.Connection, after: float) -> float | None:
    """Return when the first parked run must wake without a signal, later than `after`."""
    wake: float | None = value_of(
        database, "SELECT min(wake) FROM run WHERE wake IS NOT NULL AND wake > ?", after
    )
    return wake


def count_finished(database: sqlite3.Connection) -> int:
    """Return the number of finished root runs."""
    return int(value_of(database, f"SELECT count(*) {_FINISHED}"))


def oldest_end(database: sqlite3.Connection) -> float | None:
    """Return the time when the oldest stored root run ended."""
    ended: float | None = value_of(database, f"SELECT min(ended) {_FINISHED}")
    return ended


def runs_to_forget(database: sqlite3.Connection, keep: int, before: float | None) -> list[RunTree]:
    """Return the oldest root runs beyond the limits, at most `PRUNE`, and their descendants.

    Args:
        database: The journal.
        keep: Number of runs to keep.
        before: Return also the runs that ended before this time.
    """
    many = min(max(0, count_finished(database) - keep), PRUNE)
    rows = database.execute(f"SELECT no, ended {_FINISHED} ORDER BY ended, no LIMIT ?", (PRUNE,)).fetchall()
    return [
        RunTree(no, tuple(_below(database, no)))
        for place, (no, ended) in enumerate(rows)
        if place < many or (before is not None and ended < before)
    ]


def _below(database: sqlite3.Connection, no: int) -> Iterator[ForgottenRun]:
    """Yield a run and all its descendants."""
    for run_id, session in database.execute("SELECT run_id, session FROM run WHERE no = ?", (no,)).fetchall():
        yield ForgottenRun(run_id=run_id, session=session)
    for (child,) in database.execute("SELECT no FROM run WHERE parent = ?", (no,)).fetchall():
        yield from _below(database, child)


@frozen_record(kw_only=False)
class UnseenSignal:
    """A signal that no worker has seen."""

    run: int
    run_id: str
    is_late: bool
    """Whether its run is over."""
    is_wanted: bool
    """Whether it cancels the run, or an open wait accepts it."""
    signal: SignalRecord


def read_unseen(database: sqlite3.Connection) -> list[UnseenSignal]:
    """Return the signals that no worker has seen, in order."""
    rows = database.execute(
        """SELECT signal.no, run, CAST(run_id AS BLOB), ended IS NOT NULL, CAST(signal_id AS BLOB),
        CAST(name AS BLOB), payload, CAST(key AS BLOB) FROM signal
        JOIN run ON run.no = signal.run WHERE is_seen = 0 ORDER BY signal.no"""
    ).fetchall()
    unseen = []
    for no, run, run_id, is_late, signal_id, name, payload, key in rows:
        payload = _reason(payload) if signal_id == CANCEL.encode() else payload
        signal = SignalRecord(_text(signal_id), _text(name), payload, key=_text(key), no=no)
        try:
            is_wanted = signal.signal_id == CANCEL or is_awaited(database, run, signal.name)
        except DamagedRowError as error:
            require_second_look(error)
            is_wanted = True  # the run is then loaded, which reports the damage
        unseen.append(UnseenSignal(run, _text(run_id), bool(is_late), is_wanted, signal))
    return unseen


def _reason(payload: bytes) -> bytes:
    """Return the reason of a cancellation; "" if it cannot be read, because its run ends anyway."""
    try:
        is_text = isinstance(decode(payload), str)
    except ValueError:
        is_text = False
    return payload if is_text else b'""'


def contested_runs(database: sqlite3.Connection) -> set[int]:
    """Return the numbers of the runs with signals that are not stored as seen by the worker.

    A signal that the worker has consumed meanwhile counts too: it can have arrived while a wait was being
    ended.
    """
    return {run for (run,) in database.execute("SELECT run FROM signal WHERE is_seen = 0")}


def _state(run: str, state: str, ended: float | None) -> RunState:
    """Return the state of a run.

    Raises:
        DamagedRowError: the value is not a state, or does not agree with the end time.
    """
    shown = _STATES.get(state)
    if shown is None or (ended is None) != (shown in ("running", "waiting")):
        raise DamagedRowError(f"the state of {run} cannot be read")
    return shown


def _text(text: bytes) -> str:
    """Return a text as far as it can be read, so that one damaged text does not hide the others."""
    return str(text, "utf-8", "replace")


def is_awaited(database: sqlite3.Connection, no: int, name: str) -> bool:
    """Return whether a run has an open wait for this name according to the journal.

    Raises:
        DamagedRowError: the waits of the run cannot be read.
    """
    query = f"SELECT names FROM wait WHERE id BETWEEN ? AND ? AND {_OPEN}"
    with reading(lambda: f"what run {run_name(database, no)} waits for"):
        rows = database.execute(query, ids(no) * 2)
        return any(name in decode(names) for (names,) in rows)


def read_status(database: sqlite3.Connection, run_id: str) -> RunStatus:
    """Return the status of a run.

    Raises:
        UnknownRunError: no run has the id.
    """
    return _status(database, known_number(database, run_id))


def read_state(database: sqlite3.Connection, run_id: str) -> RunState | None:
    """Return only the state of a run; None if no run has the id."""
    row = run_row(database, "state, ended", run_id)
    return None if row is None else _state(f"run {run_id}", *row)


def read_statuses(
    database: sqlite3.Connection, state: RunState | None, session: str | None, after: str, limit: int
) -> list[RunStatus]:
    """Return the statuses of runs, newest first; as `Engine.list_runs`."""
    wanted, values = ["1"], list[Any]()
    if state is not None:
        names = [name for name, shown in _STATES.items() if shown == state]
        # the `+` prevents an index on state, so that SQLite uses the index on session
        column = "state" if session is None else "+state"
        wanted.append(f"{column} IN ({','.join('?' * len(names))})")
        values += names
    if session is not None:
        wanted.append("session = ? AND session != ''" if session else "session = ?")
        values.append(session)
    if after:
        wanted.append("no < ?")
        values.append(run_number(database, after))
    rows = database.execute(
        f"SELECT no FROM run WHERE {' AND '.join(wanted)} ORDER BY no DESC LIMIT ?", (*values, limit)
    )
    return [_listed(database, no) for (no,) in rows.fetchall()]


def read_wait(database: sqlite3.Connection, run_id: str, op: str) -> WaitStatus | None:
    """Return the status of a wait; None if none has begun.

    Raises:
        UnknownRunError: no run has the id.
    """
    no = known_number(database, run_id)
    row = database.execute(
        f"SELECT {_ABOUT} FROM wait JOIN run ON run.no = ? WHERE wait.id BETWEEN ? AND ? AND wait.op = ?",
        (no, *ids(no), op),
    ).fetchone()
    if row is None:
        return None
    answers = _answers(database, no, op)
    return WaitStatus(
        about=_subject(row[0])["about"],
        is_open=not answers and not is_over(database, no) and not is_wait_over(database, no, op),
        answer=answers[0] if answers else None,
    )


def read_answer(database: sqlite3.Connection, run_id: str, op: str) -> Json:
    """Return the payload of the answer to an operation; None if there is none.

    Raises:
        UnknownRunError: no run has the id.
    """
    answers = _answers(database, known_number(database, run_id), op)
    return answers[0] if answers else None


def _answers(database: sqlite3.Connection, no: int, op: str) -> list[Json]:
    """Return the payload of the answer to an operation as a list; empty if there is none."""
    query = "SELECT payload FROM signal WHERE run = ? AND signal_id = ?"
    with reading(lambda: f"an answer to run {run_name(database, no)}"):
        return [decode(text) for (text,) in database.execute(query, (no, answer_name(op)))]


def read_open_waits(
    database: sqlite3.Connection, session: str | None, after: int, limit: int
) -> list[tuple[int, RunWait]]:
    """Return open waits with a subject and an id above `after`, of all runs or a session, with ids."""
    of_run = f"BETWEEN run.no << {SHIFT} AND (run.no + 1 << {SHIFT}) - 1"
    of_session = "" if session is None else "AND run.session = :session"
    if session:
        # repeats the condition of the partial index; otherwise SQLite reads all runs
        of_session += " AND run.session != ''"
    rows = database.execute(
        f"""SELECT wait.id, CAST(run.run_id AS BLOB), CAST(wait.op AS BLOB), {_ABOUT} FROM run
        JOIN wait ON wait.id {of_run} WHERE run.ended IS NULL AND {_HAS_SUBJECT} {of_session}
        AND run.no >= :first AND wait.id > :after
        AND NOT EXISTS (SELECT 1 FROM op WHERE op.op = wait.op AND what = 'wait' AND op.id {of_run})
        AND NOT EXISTS (SELECT 1 FROM signal WHERE run = run.no AND signal_id = :answer || wait.op)
        ORDER BY run.no, wait.id LIMIT :limit""",
        {
            "session": session,
            "first": after >> SHIFT,
            "after": after,
            "answer": answer_name(""),
            "limit": limit,
        },
    )
    return [
        (id_, RunWait(run_id=_text(run_id), op=_text(op), **_subject(about)))
        for id_, run_id, op, about in rows
    ]


def read_events(database: sqlite3.Connection, run_id: str, after: int) -> Events | None:
    """Return whether a run is over, and at most 500 of its events after an offset; None if it is unknown."""
    no = run_number(database, run_id)
    if no is None:
        return None
    with reading(lambda: f"the log of run {run_id}"):
        events = [(number, decode(text)) for number, _, text in read_log(database, no, after, 500)]
    return is_over(database, no), events


def is_wait_over(database: sqlite3.Connection, no: int, op: str) -> bool:
    """Return whether a wait of a run has ended."""
    query = "SELECT 1 FROM op WHERE op = ? AND what = 'wait' AND id BETWEEN ? AND ?"
    rows = database.execute(query, (op, *ids(no)))
    return rows.fetchone() is not None


def _listed(database: sqlite3.Connection, no: int) -> RunStatus:
    """Return the status of a run in a list; if it cannot be read, its `error` says why."""
    try:
        return _status(database, no)
    except DamagedRowError as error:
        require_second_look(error)
        return RunStatus(run_id=run_name(database, no), state="running", input=None, error=str(error))


def _status(database: sqlite3.Connection, no: int) -> RunStatus:
    """Return the status of a run.

    Raises:
        DamagedRowError: it cannot be read.
    """
    with reading(lambda: f"run {run_name(database, no)}"):
        return _read_status(database, no)


def _read_status(database: sqlite3.Connection, no: int) -> RunStatus:
    run_id, state, ended, input_, output, error, session = database.execute(
        f"SELECT run_id, state, ended, {bounded('input')}, output, error, session FROM run WHERE no = ?",
        (no,),
    ).fetchone()
    is_open = state in ("new", "running", "parked")
    awaiting: Iterable[Any] = ()
    if is_open:
        awaiting = database.execute(
            f"SELECT op, {_ABOUT} FROM wait JOIN run ON run.no = ? WHERE id BETWEEN ? AND ?"
            f" AND {_HAS_SUBJECT} AND {_OPEN} ORDER BY id",
            (no, *ids(no), *ids(no)),
        ).fetchall()
    children = database.execute("SELECT run_id FROM run WHERE parent = ? ORDER BY no", (no,)).fetchall()
    return RunStatus(
        run_id=run_id,
        state=_state(f"run {run_id}", state, ended),
        input=_subject(input_)["about"],
        output=None if ended is None else decode(output),
        error=error or _subject(input_).get("fault", ""),
        children=tuple(child for (child,) in children),
        awaiting=tuple(OpenWait(op=op, **_subject(about)) for op, about in awaiting),
        session=session,
    )


def _subject(text: bytes | None) -> dict[str, Any]:
    """Return the subject of a wait, or why it cannot be read, so that a bad row does not hide the others."""
    if text is None:
        return {"about": None, "fault": TOO_LARGE}
    try:
        return {"about": decode(text)}
    except ValueError as error:
        return {"about": None, "fault": f"it is not JSON: {error}"}


def find_damage(database: sqlite3.Connection) -> list[str]:
    """Return the damage of the file itself, and each run with a row that cannot be read."""
    rows = database.execute(f"PRAGMA integrity_check({_MOST_PROBLEMS})").fetchall()
    problems = [f"the file: {text}" for (text,) in rows if text != "ok"]
    for (no,) in database.execute("SELECT no FROM run NOT INDEXED ORDER BY no").fetchall():
        try:
            record = read_numbered_record(database, no)
            read_state(database, record.run_id)
            with reading(partial("the log of run {}".format, record.run_id)):
                for text in record.events:
                    decode(text)
        except DamagedRowError as error:
            problems.append(str(error))
    if problems:
        require_second_look()
    return problems


def require_sound_runs(database: sqlite3.Connection) -> None:
    """Raise if a table of runs or sessions, or an index of it, is damaged, because rows would be missing.

    Raises:
        DamagedRowError: a table is damaged.
    """
    for table in ("run", "session", "turn", "active"):
        if (text := value_of(database, f"PRAGMA integrity_check({table})")) != "ok":
            raise DamagedRowError(f"{text} (all of it: toolgen runs check)")


def data_version(database: sqlite3.Connection) -> tuple[sqlite3.Connection, int]:
    """Return a connection and its version number, which changes when another connection writes.

    Each connection counts from a new start, so compare both values.
    """
    return database, int(value_of(database, "PRAGMA data_version"))
