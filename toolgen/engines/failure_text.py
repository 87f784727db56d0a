"""What the status of a run that failed says, and its log."""

from __future__ import annotations

from toolgen.contract.logs import log_failure, logger
from toolgen.runtime.engine import ActivityFailed, EngineError

log = logger("toolgen.engines")


def error_text(error: BaseException) -> str:
    """Return the text of an exception, also when its `__str__` fails."""
    try:
        return str(error)
    except Exception:
        return "it cannot say why"


def failure_text(run_id: str, problem: BaseException, correlation_id: str = "") -> str:
    """Log why a run failed, and return the public message; of a mistake it has only the correlation id."""
    match problem:
        case ActivityFailed():
            log.error("run %s failed", run_id, exc_info=problem)
            return error_text(problem)
        case EngineError():
            log.error("run %s failed", run_id, exc_info=problem)
            return problem.message
        case _:
            reference = log_failure(log, problem, "run %s failed", run_id, correlation_id=correlation_id)
            return f"the run failed with an internal error (reference {reference})"
