"""`toolgen gen --watch`: generates again whenever a file changes that the design can depend on.

Each round is a separate process that imports everything again, so a design that exits or hangs ends only
its round.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Final

from watchfiles import Change, watch

from toolgen.contract.errors import ToolgenError
from toolgen.contract.findings import Format
from toolgen.contract.record import frozen_record

from .config import Project, read_project, with_typescript
from .gen import generate_output
from .generation_record import digest_of
from .outcome import Outcome, error_outcome, print_outcome
from .sources import inside

_TEXTS: Final = frozenset([".csv", ".json", ".md", ".py", ".toml", ".txt", ".yaml", ".yml"])
"""Suffixes of the files that can contribute to a design."""
_POLL_S: Final = 0.1
_PATIENCE_S: Final = 10.0
"""Seconds after which a change interrupts a round."""
_GRACE_S: Final = 3.0
"""Seconds that a process can live after its outcome, and that Ctrl-C waits without a message."""

_TOO_LONG: Final = Outcome(code=2, summary="error: the design did not load in time")
"""Outcome of a round that was interrupted by a change; another round begins at once."""


@frozen_record
class Round:
    """The options of each generation."""

    file: Path
    format: Format
    typescript: Path | None
    is_forced: bool


def watch_project(
    file: Path, format: Format, typescript: Path | None = None, *, is_forced: bool = False
) -> int:
    """Generate the project of a pyproject.toml after each change, until Ctrl-C, which is success.

    `typescript` replaces the folder for TypeScript in the settings. The first Ctrl-C lets a round finish, the
    second one ends it at once.
    """
    last: Outcome | None = None
    round_ = Round(file=file, format=format, typescript=typescript, is_forced=is_forced)
    with suppress(KeyboardInterrupt):
        changes = Changes(round_)  # from here on, changes during a round are detected after it
        while True:
            outcome = _round(round_, changes)
            if (news := _new_output(outcome, last)) is not None:
                print_outcome(news)
            if last is None:
                print(f"watching {file.parent}; Ctrl-C stops", file=sys.stderr)
            last = outcome
            if outcome is not _TOO_LONG and not changes.are_there(rewritten=False):
                while not changes.are_there():
                    pass
    return 0


def _new_output(outcome: Outcome, last: Outcome | None) -> Outcome | None:
    """Return the outcome without the lines that the previous round printed."""
    if last is None:
        return outcome
    if outcome == last and (outcome.code or outcome.is_current):
        return None
    notes = tuple(note for note in outcome.notes if note not in last.notes)
    if outcome.is_current and not notes and not last.code:
        return None
    return replace(outcome, notes=notes)


class Changes:
    """Changes of files that a design can depend on.

    Generated code, stubs and files of running servers, such as databases, do not count.
    """

    def __init__(self, round_: Round) -> None:
        self._round = round_
        self._changes: Iterator[set[tuple[Change, str]]] = watch(
            round_.file.parent, watch_filter=None, rust_timeout=round(_POLL_S * 1000), yield_on_timeout=True
        )
        self._contents: dict[Path, str] = {}
        """Digest of each file at the last check."""
        next(self._changes)

    def are_there(self, *, rewritten: bool = True) -> bool:
        """Return whether a file was changed, created or deleted since the last check.

        `rewritten` includes files that were rewritten with the same content; a design can do that each time.
        """
        paths = [Path(path) for change, path in next(self._changes) if _may_be_read(change, Path(path))]
        digests = {path: digest_of(path) for path in self._sources(paths)}
        is_new = any(self._contents.get(path) != digests[path] for path in digests)
        self._contents |= digests
        return is_new or (rewritten and bool(digests))

    def _sources(self, paths: list[Path]) -> list[Path]:
        if not paths or self._round.file in paths:
            return paths
        try:
            project = _project(self._round)
        except ToolgenError:  # reported by the round
            return []
        return [path for path in paths if inside(project, path)]


def _round(round_: Round, changes: Changes) -> Outcome:
    """Return the outcome of a fresh process; a change ends a slow round."""
    patience_ends = time.monotonic() + _PATIENCE_S
    with _process(round_) as messages:
        while not messages.poll(_POLL_S):
            if time.monotonic() > patience_ends and changes.are_there():
                return _TOO_LONG
        try:
            outcome: Outcome = messages.recv()
        except EOFError:
            return Outcome(code=2, summary="error: the design ended the process")
        return outcome


@contextmanager
def _process(round_: Round) -> Iterator[Connection]:
    """Start the process of a round and yield the connection with its outcome; the process ignores Ctrl-C.

    The process ends with the block.
    """
    context = get_context("spawn")
    outcomes, child_connection = context.Pipe(duplex=False)
    process = context.Process(target=_run_round, args=(round_, child_connection), daemon=True)
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process.start()
    finally:
        signal.signal(signal.SIGINT, handler)
    child_connection.close()
    try:
        try:
            yield outcomes
        except KeyboardInterrupt:
            _wait_for_end(process)
            raise
        process.join(_GRACE_S)
    finally:
        process.kill()
        process.join()


def _wait_for_end(process: BaseProcess) -> None:
    process.join(_GRACE_S)
    if process.is_alive():
        print("waiting for the design; press Ctrl-C again to stop it", file=sys.stderr)
        process.join()


def _run_round(round_: Round, messages: Connection) -> None:
    """Run one round of generation in a fresh process and send its outcome."""
    try:
        outcome = generate_output(_project(round_), round_.format, is_forced=round_.is_forced)
    except ToolgenError as error:
        outcome = error_outcome(error, round_.format)
    messages.send(outcome)


def _project(round_: Round) -> Project:
    project = read_project(round_.file)
    return with_typescript(project, round_.typescript) if round_.typescript else project


def _may_be_read(change: Change, path: Path) -> bool:
    """Return whether a path can be a text, or a package that was created or deleted."""
    return path.suffix in _TEXTS or (
        change != Change.modified and path.name.isidentifier() and not path.is_file()
    )
