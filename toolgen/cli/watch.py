"""`toolgen gen --watch`: generates again whenever a file that the design depends on changes.

Each round is a process of its own: it imports everything anew, and a design that dies or hangs takes
nothing with it.
"""

from __future__ import annotations

import os
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
from threading import Lock
from typing import Final, TypeAlias

from watchfiles import Change, watch

from toolgen.contract.errors import ToolgenError
from toolgen.findings import Format

from .config import read_project, with_typescript
from .gen import generate_output
from .outcome import Outcome, error_outcome, print_outcome
from .sources import reported_reads

_Changes: TypeAlias = Iterator[set[tuple[Change, str]]]
"""What changed since the last look, which may be nothing."""

_POLL_S: Final = 0.1
_PATIENCE_S: Final = 10.0
"""How long a round may take before a change ends it."""
_GRACE_S: Final = 3.0
"""How long a process may live after its outcome, and how long Ctrl-C waits for one in silence."""


def watch_project(file: Path, format: Format, typescript: Path | None = None) -> int:
    """Generate the project of a pyproject.toml after each change, until Ctrl-C, which is success.

    `typescript` is in the place of the folder that the project has for TypeScript.
    A round that Ctrl-C meets ends what it does; a second Ctrl-C ends it at once.
    """
    last: Outcome | None = None
    with suppress(KeyboardInterrupt):
        changes: _Changes = watch(
            file.parent, watch_filter=None, rust_timeout=round(_POLL_S * 1000), yield_on_timeout=True
        )
        next(changes)  # from here on, what changes during a round is seen after it
        while True:
            outcome, reads = _round(file, format, typescript, changes)
            if (news := _new_output(outcome, last)) is not None:
                print_outcome(news)
            if last is None:
                print(f"watching {file.parent}; Ctrl-C stops", file=sys.stderr)
            last = outcome
            while not touches(next(changes), reads):
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


def _round(
    file: Path, format: Format, typescript: Path | None, changes: _Changes
) -> tuple[Outcome, set[str]]:
    """Return the outcome of a fresh process and the files that it read; a change ends a slow round."""
    reads = {str(file)}
    patience_ends = time.monotonic() + _PATIENCE_S
    with _process(file, format, typescript) as messages:
        while True:
            if messages.poll(_POLL_S):
                try:
                    message: Outcome | str = messages.recv()
                except EOFError:
                    return Outcome(code=2, summary="error: the design ended the process"), reads
                if isinstance(message, Outcome):
                    return message, reads
                reads.add(message)
            elif time.monotonic() > patience_ends and touches(next(changes), reads):
                return Outcome(code=2, summary="error: the design took too long"), reads


@contextmanager
def _process(file: Path, format: Format, typescript: Path | None) -> Iterator[Connection]:
    """Yield the messages of a new round's process, which ends with the block and ignores Ctrl-C."""
    context = get_context("spawn")
    messages, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_run_round, args=(file, format, typescript, theirs), daemon=True)
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


def _run_round(file: Path, format: Format, typescript: Path | None, messages: Connection) -> None:
    """Run one round of generation in a fresh process and send its outcome."""
    sys.dont_write_bytecode = True  # of a file saved twice in a second, it would hide the second version
    sending = Lock()

    def report(path: str) -> None:
        with sending:
            messages.send(path)

    try:
        project = read_project(file)
        if typescript:
            project = with_typescript(project, typescript)
        with reported_reads(project, report):
            outcome = generate_output(project, format)
    except ToolgenError as error:
        outcome = error_outcome(error, format)
    messages.send(outcome)


def touches(changes: Collection[tuple[Change, str]], reads: Collection[str]) -> bool:
    """Return whether a file that was read changed, or a module came to or left a folder that was listed."""
    return any(
        path in reads
        or (change != Change.modified and os.path.dirname(path) in reads and _may_be_a_module(path))
        for change, path in changes
    )


def _may_be_a_module(path: str) -> bool:
    """Return whether its name is that of a module or of a package."""
    name = os.path.basename(path)
    return name.endswith(".py") or (
        name.isidentifier() and name != "__pycache__" and not os.path.isfile(path)
    )
