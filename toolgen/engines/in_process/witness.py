"""The witness of a journal file: it records begun calls and accepted answers, without their content.

Each batch of the journal with such facts has one line in the witness file beside the journal. The line is
appended after the batch is committed, which includes the number of the line, and before the batch has any
effect. Only the first line is synced. If the number in the journal is lower than the newest line, the journal
is behind its witness: it is an older copy, or a power failure lost more of it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Final, Literal, TypeAlias

from pydantic_core import from_json, to_json

from toolgen.contract.logs import logger
from toolgen.contract.record import frozen_record
from toolgen.stores import ReplacedFileError, StoreCorruptError, StoreError, StoreFormatError
from toolgen.stores.line_file import LineFile
from toolgen.stores.sqlite_batches import SqliteBatches

from ..context import GRANT_LOOP, REVOKED, answer_name
from ..statuses import LostJournal
from .journal import digest
from .sqlite_tables import ids

Kind: TypeAlias = Literal["begun", "answered"]
_FORMAT: Final = 1
"""Format number in the first line; no other format can be read."""
MOST_BYTES: Final = 1 << 20
"""Maximum size of a witness, some 10,000 facts, in bytes; a larger one drops its older half."""
_NUMBER: Final = "INSERT OR REPLACE INTO meta (name, value) VALUES ('witness', ?)"
_REVOKE: Final = f"""
    INSERT OR IGNORE INTO signal (run, signal_id, name, payload, key, is_seen, is_taken)
    SELECT no, '{answer_name(REVOKED)}', '{answer_name(REVOKED)}', CAST('"restored"' AS BLOB), 'lost', 0, 0
    FROM run WHERE loop = '{GRANT_LOOP}' AND ended IS NULL"""
"""Revokes all grants of a journal that has lost some of their uses, or a revocation."""
_COMMITTED: Final = """
    SELECT (SELECT value FROM meta WHERE name = 'id'), (SELECT value FROM meta WHERE name = 'witness')"""
_ACCEPT: Final = "put the file or a copy of it back; if it is lost for good: toolgen runs restore"
_MOST: Final = 1 << 62
"""Limit of line numbers; toolgen never writes a larger one, and no journal could hold it."""
_NAMED: Final = 10
"""Maximum number of runs that a message lists."""

log = logger("toolgen.engines")


@frozen_record(kw_only=False)
class Fact:
    """One fact of a line; a line has one or more facts."""

    number: int
    """Number of the line."""
    kind: Kind
    run: str
    """Digest of the run id."""
    op: str
    """Key of the call that began, or name of the answer."""
    root: str
    """Digest of the id of the root run."""


@dataclass(slots=True, kw_only=True)
class _Content:
    """Parsed lines of a witness file."""

    engine_id: str = ""
    """Id of the engine of the journal."""
    facts: list[Fact] = field(default_factory=list)
    lost: list[tuple[int, int]] = field(default_factory=list)
    """Ranges of line numbers that a journal lacked, from exclusive to inclusive."""

    @property
    def newest(self) -> int:
        return max((fact.number for fact in self.facts), default=0)

    def is_of_other(self, engine_id: str) -> bool:
        """Return whether the witness was written for another journal.

        If its first line is damaged, this is unknown, and the witness counts as belonging to the journal
        beside it.
        """
        return self.engine_id not in ("", engine_id)

    def shorten(self) -> None:
        """Drop the older half of the facts."""
        del self.facts[: len(self.facts) // 2]
        oldest = self.facts[0].number if self.facts else 0
        self.lost = [(after, last) for after, last in self.lost if last >= oldest]

    def lacking(self) -> Iterable[Fact]:
        """Return the facts that a journal lacked."""
        return [fact for fact in self.facts if any(after < fact.number <= last for after, last in self.lost)]

    def count(self, kind: Kind) -> int:
        return sum(fact.kind == kind for fact in self.facts)


class Witness:
    """Appends facts to the file beside a journal, and finds those that it lost; only for its worker."""

    def __init__(self, batches: SqliteBatches) -> None:
        self._batches = batches
        self._file = LineFile(witness_path(batches.path), content="witness")
        self._number = self._batch = 0
        self._journal: tuple[str, int] | None = None
        """Id of the engine and newest number known to be committed, while the witness is open."""
        self._new: list[tuple[Kind, str, str, str]] = []
        """Facts of the current batch: kind, run, operation and root run."""
        self.lost_calls: dict[str, list[str]] = {}
        """Calls that had begun and that the journal lacks, by the digest of their run."""
        self._unmet: dict[str, set[tuple[str, str]]] = {}
        """Runs and operations of the lost calls that have not begun again, by the digest of the root run."""
        self._is_failing = False

    def open(self) -> Sequence[Fact]:
        """Open the file, creating it if it is missing; return the facts that the journal has lost.

        Raises:
            ReplacedFileError: the witness belongs to another journal.
            StoreError: the file cannot be read or written, or other users can access it.
        """
        engine_id, number = self._batches.read(_committed)
        lines, is_whole = self._read()
        content = _content_of(lines)
        if content.is_of_other(engine_id):
            raise self._other_journal()
        behind = [fact for fact in content.facts if fact.number > number]
        if behind:
            content.lost.append((number, content.newest))
            self._batches.put(_NUMBER, content.newest)
            self._batches.put(_REVOKE)
        if behind or not is_whole or content.engine_id != engine_id:
            content.engine_id = engine_id
            self._replace(content)
        self._file.open()
        self._journal = engine_id, number
        self._number, self._batch = max(number, content.newest), 0
        self.lost_calls.clear()
        self._unmet.clear()
        lost = [fact for fact in content.lacking() if fact.kind == "begun"]
        met = self._batches.read(partial(_ended, facts=lost)) if lost else ()
        for fact in lost:
            self.lost_calls.setdefault(fact.run, []).append(fact.op)
            if (fact.run, fact.op) not in met:
                self._unmet.setdefault(fact.root, set()).add((fact.run, fact.op))
        return behind

    def check(self) -> None:
        """Raise if the journal is not the one that the witness knows, or has lost facts of the witness.

        The file can be missing, and another process can write it meanwhile.

        Raises:
            ReplacedFileError: the journal is another one, or lacks facts.
            StoreCorruptError: the witness does not identify its journal.
            StoreError: the witness cannot be read, or other users can access it.
        """
        # before the journal, which commits a number before the line of that number is written
        lines, _ = self._read()
        engine_id, number = self._batches.read(_committed)
        content = _content_of(lines)
        if lines and not content.engine_id:
            raise StoreCorruptError(
                "is damaged: its first line cannot be read",
                path=self._file.path,
                hint="start a worker, which rewrites it",
            )
        if content.is_of_other(engine_id):
            raise self._other_journal()
        if behind := [fact for fact in content.facts if fact.number > number]:
            summary = self._batches.read(partial(summary_of, facts=behind))
            hint = "start a worker, which ends such calls with an unknown outcome"
            message = f"is older than its witness ({summary})"
            raise ReplacedFileError(message, path=self._batches.path, hint=hint)

    def _read(self) -> tuple[Sequence[bytes], bool]:
        """Return the lines of the file, and whether the last one is complete; see `LineFile.read`.

        Raises:
            StoreFormatError: it is in another format.
            StoreError: it cannot be read, or other users can access it.
        """
        lines, is_whole = self._file.read()
        with suppress(ValueError):  # a power failure can leave a part of the line
            match from_json(lines[0]) if lines else None:
                case ["witness", number, *_] if type(number) is not int or number != _FORMAT:
                    raise StoreFormatError(
                        f"is a witness in format {number}, and this toolgen reads format {_FORMAT}",
                        path=self._file.path,
                        hint="use the version of toolgen that wrote it, or another file of runs",
                    )
        return lines, is_whole

    def _other_journal(self) -> ReplacedFileError:
        return ReplacedFileError(
            "is not the journal of its witness: the file was lost or replaced",
            path=self._batches.path,
            hint=_ACCEPT,
        )

    def close(self) -> None:
        """Close the file."""
        self._journal = None
        self._file.close()

    def require_journal(self, database: sqlite3.Connection) -> None:
        """Raise if the witness is open, and the journal was replaced by another one or by an older copy.

        Raises:
            ReplacedFileError: the journal was replaced.
        """
        if self._journal is None:
            return
        engine_id, number = _committed(database)
        if engine_id != self._journal[0] or number < self._journal[1]:
            raise ReplacedFileError(
                "was replaced under the process that executes its runs",
                path=self._batches.path,
                hint="stop this process, put the right file in its place, and start again",
            )

    def note(self, kind: Kind, run_id: str, op: str, root: str = "") -> None:
        """Append a fact once the current batch of the journal, with all earlier rows, is committed.

        `root` is the id of the root run, if that is another run.
        """
        if self._batch != self._batches.collecting:
            self._batch, self._new = self._batches.collecting, []
            self._number += 1
            self._batches.put(_NUMBER, self._number)
            self._batches.when_written(partial(self._append, self._number, self._new))
        self._new.append((kind, run_id, op, root or run_id))

    def take_begun(self, run_id: str) -> Sequence[str]:
        """Return the calls of a run that had begun and that the journal lacks; each only once."""
        return self.lost_calls.pop(run_digest(run_id), ()) if self.lost_calls else ()

    def meet(self, run_id: str, op: str, root: str) -> bool:
        """Return whether a call that begins might have begun before, and mark it as seen again.

        When a model repeats a plan, it gives the calls other ids. So while a tree has lost calls that have
        not begun again, each of its calls could be one of them.
        """
        top = run_digest(root)
        unmet = self._unmet.get(top)
        if unmet is None:
            return False
        unmet.discard((run_digest(run_id), op))
        if not unmet:
            del self._unmet[top]
        return True

    async def restore(self) -> LostJournal | None:
        """Accept this journal as a replacement, and return facts about the lost one; None if it is the same.

        A call that began in the lost journal, and begins again in this one, is then known to have begun.

        Raises:
            StoreError: as `open`.
        """
        engine_id, number = self._batches.read(_committed)
        content = _content_of(self._read()[0])
        if not content.is_of_other(engine_id):
            return None
        lost = LostJournal(
            engine_id=content.engine_id, begun=content.count("begun"), answered=content.count("answered")
        )
        # The next line numbers are then higher than the numbers in both journals.
        await self._batches.run(partial(_write_number, number=max(number, content.newest)))
        content.engine_id, content.lost = engine_id, [(0, content.newest)]
        self._replace(content)
        return lost

    def _append(self, number: int, new: Sequence[tuple[Kind, str, str, str]]) -> None:
        """Append a line; if that fails, only the journal has its facts."""
        if self._journal is not None:
            self._journal = self._journal[0], number
        try:
            self._file.append(_line(number, [_fact_line(*fact) for fact in new]))
            if self._file.size_bytes > MOST_BYTES:
                content = _content_of(self._read()[0])
                content.shorten()
                self._replace(content)
                self._file.open()
        except StoreError as error:
            if not self._is_failing:
                log.warning(
                    "the witness cannot be written, so it lacks calls that start and answers that are "
                    "accepted from now on: %s", error,
                )  # fmt: skip
            self._is_failing = True
        else:
            self._is_failing = False

    def _replace(self, content: _Content) -> None:
        lines = [_line("witness", _FORMAT, content.engine_id)]
        lines += [_line("lost", after, last) for after, last in content.lost]
        lines += [_line(fact.number, [(fact.kind, fact.run, fact.op, fact.root)]) for fact in content.facts]
        self._file.replace(lines)


def witness_path(path: Path) -> Path:
    """Return the path of the witness of a journal; the first worker of the journal creates the file."""
    return path.with_name(f"{path.name}.witness")


def summary_of(database: sqlite3.Connection, facts: Sequence[Fact]) -> str:
    """Describe the facts that a journal lacks, with the affected unfinished runs that it has."""
    digests = {fact.run for fact in facts}
    names = [run_id for _, run_id in open_runs(database) if run_digest(run_id) in digests]
    calls = sum(fact.kind == "begun" for fact in facts)
    named = ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
    return (
        f"calls that had started: {calls}, accepted answers: {len(facts) - calls},"
        f" runs: {len(digests)}, unfinished runs: {named or 'none'}"
    )


def _fact_line(kind: Kind, run_id: str, op: str, root: str) -> tuple[str, ...]:
    run = run_digest(run_id)
    return (kind, run, op) if run_id == root else (kind, run, op, run_digest(root))


def _ended(database: sqlite3.Connection, facts: Sequence[Fact]) -> Set[tuple[str, str]]:
    """Return the runs and operations of these facts that have ended according to the journal."""
    ops: dict[str, list[str]] = {}
    for fact in facts:
        ops.setdefault(fact.run, []).append(fact.op)
    ended = set()
    for no, run_id in database.execute("SELECT no, CAST(run_id AS BLOB) FROM run").fetchall():
        run = digest(run_id)[:8].hex()
        for op in ops.get(run, ()):
            query = "SELECT 1 FROM op WHERE op = ? AND id BETWEEN ? AND ?"
            if database.execute(query, (op, *ids(no))).fetchone():
                ended.add((run, op))
    return ended


def _line(*items: object) -> bytes:
    return to_json(items) + b"\n"


def open_runs(database: sqlite3.Connection) -> Sequence[tuple[int, str]]:
    """Return the numbers and ids of the unfinished runs; of a damaged id, the readable part."""
    rows = database.execute("SELECT no, CAST(run_id AS BLOB) FROM run WHERE ended IS NULL ORDER BY no")
    return [(no, str(run_id, "utf-8", "replace")) for no, run_id in rows]


@lru_cache(maxsize=256)
def run_digest(run_id: str) -> str:
    """Return the digest that a witness stores instead of a run id."""
    return digest(run_id.encode())[:8].hex()


def _content_of(lines: Iterable[bytes]) -> _Content:
    content = _Content()
    for line in lines:
        with suppress(ValueError):  # a power failure can leave a partial line, or zeros
            _take(content, from_json(line))
    return content


def _take(content: _Content, items: object) -> None:
    """Add the facts of a line; ignore a line in an unknown format."""
    match items:
        case ["witness", int(), str(engine_id)]:
            content.engine_id = engine_id
        case ["lost", int(after), int(last)] if last < _MOST:
            content.lost.append((after, last))
        case [int(number), list(facts)] if number < _MOST:
            for fact in facts:
                match fact:
                    case ["begun" | "answered" as kind, str(run), str(op)]:
                        content.facts.append(Fact(number, kind, run, op, run))
                    case ["begun" | "answered" as kind, str(run), str(op), str(root)]:
                        content.facts.append(Fact(number, kind, run, op, root))


def _committed(database: sqlite3.Connection) -> tuple[str, int]:
    """Return the engine id of a journal, and the highest line number that it has committed."""
    engine_id, number = database.execute(_COMMITTED).fetchone()
    return str(engine_id or ""), number if isinstance(number, int) else 0


def _write_number(database: sqlite3.Connection, number: int) -> None:
    database.execute(_NUMBER, (number,))
    database.execute(_REVOKE)
