"""A disk that fails for a moment, now and then: no run ends by it, and nothing of it is told.

Reads and writes fail with `EIO`, a disk is read-only or full; all calls on some files, or one of a few.
Sometimes a process is killed meanwhile.
"""

from __future__ import annotations

import errno
import json
import os
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, Final

from pydantic_core import to_json

from tests.failing_disk import break_disk, repair_disk

from .episode import Processes, Told, told
from .evidence import Evidence
from .invariants import Violation
from .member import Role, World

_FAULTS: Final = (
    ("r", errno.EIO),
    ("r", errno.EIO),
    ("w", errno.EIO),
    ("s", errno.EIO),
    ("rws", errno.EIO),
    ("wo", errno.EROFS),
    ("w", errno.ENOSPC),
)
_NAMES: Final = ("runs.db", "runs.db", "runs.db-wal", "sessions.db", "*")
_MOST: Final = 4
"""Faults of an episode."""
_LONGEST_S: Final = 1.5
"""The longest of them, and half of the longest time before it."""
_KILLED: Final = 0.3
"""The share of faults in which a process is killed."""
_OF_A_STORE: Final = re.compile(rb"internal error|gave no result|store of the runtime|[.]db|malformed|Errno")
"""What only a store that failed has left in a result."""
_WRONG: Final = ("is damaged", "is stalled")
"""What no log says."""


def failing_disk(world: World, roles: dict[str, Role], chance: Random) -> Told:
    """Let the disk fail some times, and let all come to its end."""
    processes, client = Processes(world, roles), list(roles)[-1]
    place = Path(os.environ["LAB_FAULT"]).parent
    kills = faults = 0
    try:
        processes.start_missing()
        for _ in range(chance.randint(1, _MOST)):
            processes.wait(client, chance.uniform(0.0, _LONGEST_S / 2))
            if processes.has_led(client):
                break
            calls, error = chance.choice(_FAULTS)
            names, every = chance.choice(_NAMES), chance.choice((1, 1, 2, 3, 7))
            break_disk(place, error=error, calls=calls, names=names, every=every)
            faults += 1
            time.sleep(chance.uniform(0.1, _LONGEST_S))
            if chance.random() < _KILLED:
                kills += processes.kill(chance.choice(list(roles)))
            repair_disk(place)
            processes.start_missing()
        end = told(world, processes, client, kills, further=lambda evidence: _told_of(world, evidence))
        return replace(end, faults=faults)
    finally:
        repair_disk(place)
        processes.kill_all()


def _told_of(world: World, evidence: Evidence) -> Iterator[Violation]:
    """I11: no run fails, no result tells of a store, and no file that is whole is called damaged."""
    for run_id, run in evidence.runs.items():
        if run.state == "failed" or run.stop == "failed":
            yield Violation(invariant="I11", subject=run_id, text=f"it is {run.state}, {run.stop}")
        for event in run.of("tool_end"):
            yield from _texts(run_id, event)
    for session, turns in evidence.conversations.items():
        for messages in turns.values():
            for message in messages:
                yield from _texts(session, message)
    for log in sorted(world.folder.glob("*.stderr")):
        lines = log.read_text("utf-8", "replace").splitlines()
        wrong = [line for line in lines if any(text in line for text in _WRONG)]
        if wrong:
            yield Violation(invariant="I11", subject=log.name, text=f"it says {wrong[0]}")
    for text in evidence.damage:
        yield Violation(invariant="I11", subject="the file", text=text)


def _texts(subject: str, document: Any) -> Iterator[Violation]:
    text = json.dumps(document).encode() if isinstance(document, dict) else to_json(document)
    if found := _OF_A_STORE.search(text):
        yield Violation(invariant="I11", subject=subject, text=f"{found[0]!r} is told: {text[:300]!r}")
