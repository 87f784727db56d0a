"""`toolgen gen --watch`: generates again whenever a file of the project changes that a design may depend on.

Each round is a process of its own: it imports everything anew, and a design that dies or hangs takes
nothing with it.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Final, TypeAlias

from watchfiles import Change, watch

from toolgen.contract.errors import ToolgenError
from toolgen.contract.record import frozen_record
from toolgen.findings import Format

from .config import Project, read_project, with_typescript
from .gen import generate_output
from .outcome import Outcome, error_outcome, print_outcome
from .sources import inside

_Changes: TypeAlias = Iterator[set[tuple[Change, str]]]
"""What changed since the last look, which may be nothing."""

_TEXTS: Final = frozenset([".csv", ".json", ".md", ".py", ".toml", ".txt", ".yaml", ".yml"])
"""Ends of the names of files in which an author writes what a design says."""
_POLL_S: Final = 0.1
_PATIENCE_S: Final = 10.0
"""How long a round may take before a change ends it."""
_GRACE_S: Final = 3.0
"""How long a process may live after its outcome, and how long Ctrl-C waits for one in silence."""


@frozen_record
class _Round:
    """What each generation is asked for."""

    file: Path
    format: Format
    typescript: Path | None
    is_forced: bool


def watch_project(
    file: Path, format: Format, typescript: Path | None = None, *, is_forced: bool = False
) -> int:
    """Generate the project of a pyproject.toml after each change, until Ctrl-C, which is success.

    `typescript` is in the place of the folder that the project has for TypeScript.
    A round that Ctrl-C meets ends what it does; a second Ctrl-C ends it at once.
    """
    last: Outcome | None = None
    round_ = _Round(file=file, format=format, typescript=typescript, is_forced=is_forced)
    with suppress(KeyboardInterrupt):
        changes: _Changes = watch(
            file.parent, watch_filter=None, rust_timeout=round(_POLL_S * 1000), yield_on_timeout=True
        )
        next(changes)  # from here on, what changes during a round is seen after it
        while True:
            outcome = _round(round_, changes)
            if (news := _new_output(outcome, last)) is not None:
                print_outcome(news)
            if last is None:
                print(f"watching {file.parent}; Ctrl-C stops", file=sys.stderr)
            last = outcome
            while not touches(next(changes), file, typescript):
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


def _round(round_: _Round, changes: _Changes) -> Outcome:
    """Return the outcome of a fresh process; a change ends a slow round."""
    patience_ends = time.monotonic() + _PATIENCE_S
    with _process(round_) as messages:
        while not messages.poll(_POLL_S):
            if time.monotonic() > patience_ends and touches(next(changes), round_.file, round_.typescript):
                return Outcome(code=2, summary="error: the design took too long")
        try:
            outcome: Outcome = messages.recv()
        except EOFError:
            return Outcome(code=2, summary="error: the design ended the process")
        return outcome


@contextmanager
def _process(round_: _Round) -> Iterator[Connection]:
    """Yield the outcome of a new round's process, which ends with the block and ignores Ctrl-C."""
    context = get_context("spawn")
    messages, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_run_round, args=(round_, theirs), daemon=True)
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process.start()
    finally:
        signal.signal(signal.SIGINT, handler)
    theirs.close()
    try:
        try:
            yield messages
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
        print("waiting for the design; Ctrl-C again ends it", file=sys.stderr)
        process.join()


def _run_round(round_: _Round, messages: Connection) -> None:
    """Run one round of generation in a fresh process and send its outcome."""
    try:
        project = _project(round_.file, round_.typescript)
        outcome = generate_output(project, round_.format, is_forced=round_.is_forced)
    except ToolgenError as error:
        outcome = error_outcome(error, round_.format)
    messages.send(outcome)


def _project(file: Path, typescript: Path | None) -> Project:
    project = read_project(file)
    return with_typescript(project, typescript) if typescript else project


def touches(changes: Collection[tuple[Change, str]], file: Path, typescript: Path | None) -> bool:
    """Return whether a file of the project changed, came or went that a design may depend on.

    Generated code and stubs are none, nor what a running server writes, such as a database.
    """
    paths = [Path(path) for change, path in changes if _may_be_read(change, Path(path))]
    if not paths or file in paths:
        return bool(paths)
    try:
        project = _project(file, typescript)
    except ToolgenError:  # what the round has said
        return False
    return any(inside(project, path) for path in paths)


def _may_be_read(change: Change, path: Path) -> bool:
    """Return whether it may be a text, or a package that came or went."""
    return path.suffix in _TEXTS or (
        change != Change.modified and path.name.isidentifier() and not path.is_file()
    )
