"""Records that an engine returns about its runs and their waits. All of them are frozen."""

from __future__ import annotations

from typing import Literal

from toolgen.contract.json_value import Json
from toolgen.contract.record import frozen_record

RunState = Literal["running", "waiting", "completed", "failed", "canceled"]
"""`waiting`: nothing goes on before a signal comes."""
Receipt = Literal["accepted", "same", "conflict", "recorded"]
"""Status of an answer. `accepted`: the run has it. `same`: this answer was given before. `conflict`: a
different answer was given before. `recorded`: it is the only answer that is stored, and a worker will find
it.
"""


@frozen_record
class Signal:
    """Something that came from outside the run."""

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
    """The payload of the answer that counts; None while there is none."""


@frozen_record
class RunStatus:
    """Where a run stands."""

    run_id: str
    state: RunState
    input: Json
    output: Json = None
    """Return value of the loop."""
    error: str = ""
    children: tuple[str, ...] = ()
    """Ids of its child runs, in the order of their start."""
    awaiting: tuple[OpenWait, ...] = ()
    """Its waits that are open, in the order in which they began; those about nothing left out."""
    session: str = ""

    @property
    def is_over(self) -> bool:
        return self.state in ("completed", "failed", "canceled")


@frozen_record
class LostJournal:
    """What is known of a journal that another one has replaced."""

    engine_id: str
    """The id of the engine that had it."""
    begun: int
    """Calls that had begun."""
    answered: int
    """Answers that were taken."""


@frozen_record
class ForgottenRun:
    """A run that its engine is about to forget."""

    run_id: str
    session: str
