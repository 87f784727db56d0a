"""Loggers that escape control characters, because models choose IDs and texts in errors."""

from __future__ import annotations

import logging
import traceback
import uuid
from collections.abc import Iterator
from types import CodeType, TracebackType
from typing import Final

from .errors import HINT
from .printable import printable, visible_lines
from .record import frozen_record
from .secrets import current, scrubbed

_OF_PYTHON: Final = ('File "', "Traceback ", "The above ", "During ")
"""Beginnings of traceback parts with Python's own line feeds: frames, and lines that link exceptions."""

_OF_HTTP: Final = ("httpx", "httpcore.connection", "httpcore.http11", "httpcore.http2", "httpcore.proxy")
"""Loggers that log URLs with queries, and response headers."""


def logger(name: str) -> logging.Logger:
    """Return the logger with this name, whose records are printable, including their tracebacks."""
    named = logging.getLogger(name)
    named.addFilter(_make_printable)  # idempotent
    return named


def redact_http_logs() -> None:
    """Redact the secrets of the running call in the logs of httpx from now on."""
    for name in _OF_HTTP:
        logging.getLogger(name).addFilter(_redact)  # idempotent


def _redact(record: logging.LogRecord) -> bool:
    if current() is not None:
        record.msg, record.args = scrubbed(record.getMessage()), None
    return True


@frozen_record
class MethodFault:
    """A fault in the method of a tool; its log record has it as the attribute `method_fault`."""

    tool: str
    """ID of the tool."""
    method: str
    """Name of the method with its class: `People.greet`."""
    file: str
    line: int
    problem: str
    """A clause about the method: `is not implemented`."""
    hint: str = ""
    """Hint how to fix it."""

    @classmethod
    def of(cls, code: CodeType, tool: str, problem: str) -> MethodFault:
        """Return the fault of a function; the problem can end with a hint, like the text of an error."""
        name, file, line = code.co_qualname, code.co_filename, code.co_firstlineno
        problem, _, hint = problem.partition(HINT)
        return cls(tool=tool, method=name, file=file, line=line, problem=problem, hint=hint)

    def text(self, file: str = "") -> str:
        """Return a line about the fault; `file` replaces the shown path."""
        return f"{file or self.file}:{self.line}: {self.method} {self.problem} (tool {self.tool})"

    def log(self, log: logging.Logger, error: BaseException | None = None, more: str = "") -> None:
        """Log the fault, with an exception and more text if they are passed."""
        more = f"{more}{HINT}{self.hint}" if self.hint else more
        values = (self.file, self.line, self.method, self.problem, self.tool, more)
        log.error(
            "%s:%d: %s %s (tool %s)%s", *values, exc_info=error, extra={"method_fault": self}, stacklevel=3
        )


def log_failure(
    log: logging.Logger,
    error: BaseException,
    message: str,
    *arguments: object,
    correlation_id: str = "",
    fault: MethodFault | None = None,
) -> str:
    """Log an exception under a correlation ID, which is safe to disclose, and return the ID.

    With a fault, the record describes the author's method instead of the message.
    """
    correlation_id = correlation_id or uuid.uuid4().hex[:12]
    if fault is None:
        log.error(message + " [%s]", *arguments, correlation_id, exc_info=error, stacklevel=2)
    else:
        fault.log(log, error, f" [{correlation_id}]")
    return correlation_id


def _make_printable(record: logging.LogRecord) -> bool:
    """Escape the arguments of a record and the text of its exception; the message template stays unchanged.

    Sensitive values of the running call are redacted in both, and the exception object is removed in that
    case.
    """
    if isinstance(record.args, tuple):
        record.args = tuple(
            scrubbed(_on_one_line(str(argument))) if not isinstance(argument, int | float) else argument
            for argument in record.args
        )
    if isinstance(record.exc_info, tuple) and record.exc_info[1] is not None:
        _, error, where = record.exc_info
        try:
            record.exc_text = scrubbed("".join(_lines(error, where)).rstrip("\n"))
        except Exception:  # noqa: BLE001 - the author's exception may raise when it is shown
            record.exc_text = f"{type(error).__name__}, whose text cannot be shown"
        if current() is not None:
            record.exc_info = None  # a handler that formats the exception itself would quote values
    return True


def _lines(error: BaseException, where: TracebackType | None) -> Iterator[str]:
    """Yield the traceback; line feeds in a message are escaped, so that it cannot forge other lines."""
    report = traceback.TracebackException(type(error), error, where, compact=True)
    for part in report.format():
        is_frame = part.lstrip(" |+-\n").startswith(_OF_PYTHON)
        yield visible_lines(part) if is_frame else _on_one_line(part.rstrip("\n")) + "\n"


def _on_one_line(text: str) -> str:
    """Return an unambiguous text on one line; the hint of a `ToolgenError` follows its message."""
    return printable(text.replace(HINT, "; hint: "))
