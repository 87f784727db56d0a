"""What a run of `gen` has to say, and to which stream."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass


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
        _print_bytes(f"{outcome.output}\n".encode("utf-8", "surrogateescape"))
    for line in (*outcome.notes, outcome.summary):
        print(line, file=sys.stderr)
    return outcome.code


def _print_bytes(data: bytes) -> None:
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:  # `toolgen gen --diff | head`: enough was read
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
