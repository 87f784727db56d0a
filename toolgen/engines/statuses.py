"""Records that an engine returns about its runs and their waits. All of them are frozen."""

from __future__ import annotations

from typing import Literal

from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record

RunState = Literal["running", "waiting", "completed", "failed", "canceled"]
"""State of a run. `waiting`: it makes no progress before a signal arrives."""
Receipt = Literal["accepted", "same", "conflict", "recorded"]
"""Status of an answer. `accepted`: the run has it. `same`: this answer was sent before. `conflict`: a
different answer was sent before. `recorded`: it is the only answer that is stored, and a worker will find it.
"""


@frozen_record
class Signal:
    """A message from outside the run."""

    name: str
    payload: Json


@frozen_record
class OpenWait:
    """A wait of a run that is open."""

    op: str
    about: Json
    fault: str = ""
    """Reason why its subject cannot be read and is therefore None."""


@frozen_record
class RunWait(OpenWait):
    """An open wait, with its run."""

    run_id: str


@frozen_record
class WaitStatus:
    """A wait of a run, open or over."""

    about: Json
    is_open: bool
    answer: Json = None
    """Payload of the accepted answer; None if there is none."""


@frozen_record
class RunStatus:
    """Status of a run."""

    run_id: str
    state: RunState
    input: Json
    output: Json = None
    """Return value of the loop."""
    error: str = ""
    children: tuple[str, ...] = ()
    """Ids of its child runs, in the order of their start."""
    awaiting: tuple[OpenWait, ...] = ()
    """Its open waits that have a subject, in the order in which they began."""
    session: str = ""

    @property
    def is_over(self) -> bool:
        return self.state in ("completed", "failed", "canceled")


@frozen_record
class LostJournal:
    """Facts about a journal that was replaced by another one."""

    engine_id: str
    """Id of the engine that owned the journal."""
    begun: int
    """Number of calls that had begun."""
    answered: int
    """Number of answers that were accepted."""


@frozen_record
class ForgottenRun:
    """A run that its engine is about to delete."""

    run_id: str
    session: str
