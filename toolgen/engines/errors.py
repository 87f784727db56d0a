"""What every engine raises, in the same words."""

from __future__ import annotations

from toolgen.runs import EngineClosedError, EngineError, WaitOverError


def closed_error() -> EngineClosedError:
    """Return the error of an engine that was closed."""
    return EngineClosedError("the engine is closed", hint="start it again")


def registered_error() -> EngineError:
    """Return the error of an engine that another runtime has."""
    return EngineError("this engine has its loops and activities already; it belongs to one runtime")


def wait_over_error(run_id: str, op: str) -> WaitOverError:
    """Return the error of an answer whose wait has ended."""
    return WaitOverError(f"no wait is open for {op} of run {run_id} any more")
