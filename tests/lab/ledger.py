"""The ledger: what the processes of an episode did, line by line, in one file that outlives their kills.

A line is appended in one step and synced before the process goes on, so that the order of the lines is an
order in which things happened, over all processes. A kill may leave a part of a line; nothing happened after
it, and it counts as not written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

Kind: TypeAlias = Literal[
    "ready",  # a worker executes, or a client leads
    "begin", "end", "failed",  # an effect of a tool
    "plan",  # a planning, with the calls that have not exactly one result
    "starting", "started",  # a run, by a client
    "shown",  # a call that waits, as a client was shown it
    "answering", "answered", "refused",  # an answer of a person; `refused` changed nothing
    "begun",  # a call, by the witness of the files that were lost
    "canceling", "ended",  # a run was canceled by its client; a session was ended
    "done",  # a client has led all conversations to their ends
]  # fmt: skip
Place: TypeAlias = Literal["before", "after"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line."""

    kind: Kind
    run: str = ""
    session: str = ""
    call: str = ""
    """Id of the call within its run."""
    tool: str = ""
    wait: str = ""
    """Id of what was asked."""
    facts: Mapping[str, Any] = field(default_factory=dict)


class Ledger:
    """Appends lines; `on_write` hears of each, before and after it is in the file."""

    def __init__(self, path: Path, on_write: Callable[[Place], None] = lambda place: None) -> None:
        self._path = path
        self._file = os.open(path, os.O_APPEND | os.O_CREAT | os.O_WRONLY, 0o600)
        self._on_write = on_write

    def write(self, kind: Kind, *, run: str = "", session: str = "", call: str = "", **more: Any) -> None:
        """Append a line of this process and sync it."""
        tool, wait = more.pop("tool", ""), more.pop("wait", "")
        line = {"kind": kind, "run": run, "session": session, "call": call, "tool": tool, "wait": wait}
        text = json.dumps({**line, "facts": more})
        self._on_write("before")
        os.write(self._file, f"\n{text}\n".encode())  # after a part of a line, on a line of its own
        os.fsync(self._file)
        self._on_write("after")

    def read(self) -> tuple[Entry, ...]:
        """Return the whole lines so far, of all processes."""
        entries = map(_entry, self._path.read_text("utf-8").splitlines())
        return tuple(entry for entry in entries if entry is not None)

    def close(self) -> None:
        os.close(self._file)


def _entry(line: str) -> Entry | None:
    """Return the entry of a line; None for an empty one and a part of one."""
    try:
        return Entry(**json.loads(line))
    except ValueError:
        return None
