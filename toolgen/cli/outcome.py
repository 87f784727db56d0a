"""What a run has to say, and to which stream."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from toolgen.contract.errors import ToolgenError
from toolgen.expr import Diagnostic, Format, render

from .records import record_of, render_records
from .terminal import has_colours


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a run found or did, its exit code with it."""

    code: int
    output: str = ""
    """For programs: to stdout, byte for byte (surrogates stand for bytes that are not UTF-8)."""
    notes: tuple[str, ...] = ()
    """For people: to stderr, each on its own; the same one may come with every run."""
    summary: str
    """The last line for people."""
    is_current: bool = False
    """Nothing was wrong, and nothing had to be done."""


def show(outcome: Outcome) -> int:
    """Print the outcome and return its exit code."""
    if outcome.output:
        print_output(outcome.output)
    for line in (*outcome.notes, outcome.summary):
        print(line, file=sys.stderr)
    return outcome.code


def problems(text: str, format: Format, summary: str) -> Outcome:
    """Return an outcome of code 1; the text goes to people or to programs, as its format says."""
    if format == "text":
        return Outcome(code=1, notes=(text,), summary=summary)
    return Outcome(code=1, output=text, summary=summary)


def wrong_design(diagnostics: Iterable[Diagnostic], format: Format, summary: str) -> Outcome:
    """Return the outcome of a run that stopped at mistakes of the design."""
    return problems(rendered(diagnostics, format), format, summary)


def rendered(diagnostics: Iterable[Diagnostic], format: Format) -> str:
    return render(diagnostics, format, os.getcwd(), has_colours(sys.stderr))


def failure(error: ToolgenError, format: Format) -> Outcome:
    """Return the outcome of a run that an error of the environment ended."""
    output = "" if format == "text" else render_records([record_of(error)], format)
    return Outcome(code=2, output=output, summary=f"error: {error}")


@contextmanager
def failures_shown(format: Format) -> Iterator[None]:
    """Print an error of the environment for programs too, where the format asks for that."""
    try:
        yield
    except ToolgenError as error:
        if format != "text":
            print_output(render_records([record_of(error)], format))
        raise


def print_output(text: str) -> None:
    """Print what is for programs to stdout (surrogates stand for bytes that are not UTF-8)."""
    _print_bytes(f"{text}\n".encode("utf-8", "surrogateescape"))


def _print_bytes(data: bytes) -> None:
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:  # `toolgen gen --diff | head`: enough was read
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
