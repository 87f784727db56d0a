"""What commands say and return where another process executes the runs."""

from __future__ import annotations

from typing import Final

from toolgen.runs import Engine

ELSEWHERE_S: Final = 30.0
"""How long a command waits for the process that executes the runs."""
NOT_OVER: Final = 3
"""Exit code of a command whose request is stored, where the run or the call is not over yet."""


def waiting_elsewhere(engine: Engine) -> str:
    """Return what a command says before it waits for the process that executes the runs."""
    who = "workers execute" if engine.caps.has_many_workers else "another process executes"
    return f"{who} the runs; waiting at most {ELSEWHERE_S:g} seconds"


def not_over_elsewhere(engine: Engine) -> str:
    """Return what a command says when it has waited in vain; of many workers, nobody knows that one runs."""
    if engine.caps.has_many_workers:
        return "it is not over; see that a worker runs, and is ready: toolgen worker"
    return "it still goes on there"
