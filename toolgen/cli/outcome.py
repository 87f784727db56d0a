"""The outcome of a command, with the stream of each text; errors of the environment as findings."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final, Literal

from toolgen.contract.errors import ToolgenError
from toolgen.contract.findings import Finding, Format, render
from toolgen.contract.printable import visible_lines
from toolgen.contract.record import frozen_record

from .problem_codes import ENVIRONMENT
from .terminal import has_colours

_MOST_CODES: Final = 3
"""Maximum number of codes for which the command `explain` is shown."""


@frozen_record
class Outcome:
    """The findings, notes and exit code of a command."""

    code: int
    output: str = ""
    """Text for programs, printed to stdout unchanged (surrogates represent bytes that are not UTF-8)."""
    notes: tuple[str, ...] = ()
    """Lines for people, printed to stderr unchanged; a run can repeat lines of the last one."""
    summary: str
    """The last line for people."""
    is_current: bool = False
    """Whether there was nothing to do and nothing to report."""


def print_outcome(outcome: Outcome) -> int:
    """Print the outcome and return its exit code."""
    if outcome.output:
        print_output(outcome.output)
    for line in (*outcome.notes, visible_lines(outcome.summary)):
        print(line, file=sys.stderr)
    return outcome.code


def reported(
    findings: Iterable[Finding], format: Format, *, code: int, notes: Iterable[str] = (), summary: str
) -> Outcome:
    """Return the outcome of a command, with findings as text or as records, depending on the format."""
    text = render_diagnostics(findings, format)
    if format == "text":
        return Outcome(code=code, notes=(*([text] if text else []), *notes), summary=summary)
    return Outcome(code=code, output=text, notes=tuple(notes), summary=summary)


def render_diagnostics(findings: Iterable[Finding], format: Format) -> str:
    """Return the findings with paths relative to the working directory; text has the colours of stderr.

    At a terminal, the commands that explain the first codes follow.
    """
    listed = list(findings)
    text = render(listed, format, os.getcwd(), has_colours(sys.stderr))
    if format != "text" or not (text and sys.stderr.isatty()):
        return text
    codes = list(dict.fromkeys(finding.code for finding in listed))
    return "\n".join([text, *(f"see: toolgen explain {code}" for code in codes[:_MOST_CODES])])


def error_outcome(error: ToolgenError, format: Format) -> Outcome:
    """Return the outcome of a run that an error of the environment ended."""
    output = "" if format == "text" else render_diagnostics([finding_of(error)], format)
    return Outcome(code=2, output=output, summary=f"error: {error}")


@contextmanager
def print_error_records(format: Format | Literal["sarif"]) -> Iterator[None]:
    """Print a ToolgenError as a record if the format is for programs, and raise it again."""
    try:
        yield
    except ToolgenError as error:
        if format == "sarif":
            from .sarif import sarif_text

            print_output(sarif_text([finding_of(error)]))
        elif format != "text":
            print_output(render_diagnostics([finding_of(error)], format))
        raise


def print_output(text: str) -> None:
    """Print text for programs to stdout (surrogates represent bytes that are not UTF-8)."""
    _print_bytes(f"{text}\n".encode("utf-8", "surrogateescape"))


def _print_bytes(data: bytes) -> None:
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:  # `toolgen gen --diff | head`: the reader has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class FoundError(ToolgenError):
    """An error of the environment with a separate finding for programs; its text is for people."""

    def __init__(self, message: str, *, finding: Finding) -> None:
        super().__init__(message, hint=finding.hint)
        self.finding = finding


def finding_of(error: ToolgenError) -> Finding:
    """Return the finding of an error of the environment."""
    if isinstance(error, FoundError):
        return error.finding
    return ENVIRONMENT.finding(error.message, hint=error.hint)
