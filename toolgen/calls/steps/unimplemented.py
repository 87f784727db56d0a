"""Tools whose methods are still stubs: their places go to the log, and not to models."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import ToolError
from ..results import RetryHint

if TYPE_CHECKING:
    from ..specs import ToolSpec

log = logging.getLogger("toolgen.runtime")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unimplemented:
    """The method of a tool that is still a stub; a log record has it as `unimplemented`."""

    tool: str
    """Its id."""
    method: str
    """Its name with that of its class: `People.greet`."""
    file: str
    line: int


def find_unimplemented(spec: ToolSpec[Any, Any], error: BaseException) -> Unimplemented | None:
    """Return the tool's own method if it raised `NotImplementedError`; what it calls does not count."""
    trace = error.__traceback__
    if not isinstance(error, NotImplementedError) or trace is None:
        return None
    while trace.tb_next is not None:
        trace = trace.tb_next
    code = trace.tb_frame.f_code
    if code.co_name != spec.method:
        return None
    return Unimplemented(
        tool=spec.id, method=code.co_qualname, file=code.co_filename, line=code.co_firstlineno
    )


def unavailable(spec: ToolSpec[Any, Any], stub: Unimplemented) -> ToolError:
    """Log where the unimplemented method stands and return a `ToolError` without the place."""
    log.error(
        "%s:%d: %s is not implemented (tool %s)",
        stub.file,
        stub.line,
        stub.method,
        stub.tool,
        extra={"unimplemented": stub},
    )
    message = f"{spec.name} is not implemented"
    return ToolError(message, retry_hint=RetryHint(reason="tool_unavailable", tool=spec.id, message=message))
