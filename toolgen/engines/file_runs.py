"""Opens the journal file of an engine, and constructs its worker and client."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from toolgen.runtime.stores.sqlite_batches import SqliteBatches
from toolgen.runtime.stores.sqlite_connection import Synchronous

from .client import Client
from .clock import RunClock
from .file_client import FileClient
from .file_worker import FileWorker
from .runs import Runs
from .sqlite_journal import SqliteJournal, contested_runs
from .sqlite_steps import engine_id
from .sqlite_tables import FORMAT
from .timers import CallLater


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSettings:
    """How runs are kept in a file."""

    synchronous: Synchronous
    keep_runs: int
    """How many root runs that are over are kept, or some more."""
    keep_s: float | None
    """How long they are kept, in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRuns:
    """The worker and client of one journal file."""

    id: str
    """Of the engine, the same in all processes."""
    runs: Runs
    client: Client


def open_file(
    path: Path,
    settings: FileSettings,
    *,
    clock: RunClock,
    call_later: CallLater,
    max_payload_bytes: int | None,
) -> FileRuns:
    """Open a file, which is created where it is missing.

    Raises:
        StoreError: it cannot be opened, or it is something else; the class says why.
    """
    batches = SqliteBatches(path, FORMAT, synchronous=settings.synchronous, contested=contested_runs)
    journal = SqliteJournal(batches, clock)
    runs = Runs(journal, clock, call_later, max_payload_bytes)
    worker = FileWorker(
        path,
        batches=batches,
        journal=journal,
        runs=runs,
        clock=clock,
        call_later=call_later,
        keep_runs=settings.keep_runs,
        keep_s=settings.keep_s,
    )
    client = FileClient(batches=batches, journal=journal, runs=runs, worker=worker, call_later=call_later)
    return FileRuns(id=batches.write_now(engine_id), runs=runs, client=client)
