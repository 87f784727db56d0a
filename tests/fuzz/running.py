"""What the fuzz targets share: numbered inputs, a time limit, counts, and a way to run one input again.

An input is what its seed and its number make of it; no clock and no input before it has a say.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import Protocol, TextIO


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one input."""

    kind: str
    """One of a few: `accepted`, `refused`."""
    detail: str
    """What tells two outcomes of a kind apart."""


class Target(Protocol):
    """Tries one input."""

    def __call__(self, chance: Random) -> Outcome:
        """Make an input and try it; whatever it raises is a fault."""
        ...


@dataclass(slots=True)
class Report:
    """What was tried so far."""

    tried: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    details: set[tuple[str, str]] = field(default_factory=set)
    slowest_s: float = 0.0
    """Of the processor, which other processes do not slow down."""
    slowest: int = 0
    """Number of the input that took longest."""

    def __str__(self) -> str:
        kinds = ", ".join(f"{number} {kind}" for kind, number in self.kinds.most_common())
        slowest = f"the slowest took {self.slowest_s:.2f} s (input {self.slowest})"
        return f"{self.tried} inputs: {kinds}; {len(self.details)} distinct outcomes; {slowest}"


class FaultFound(Exception):
    """An input at which something does not hold; the cause says what."""

    def __init__(self, number: int) -> None:
        super().__init__(f"a fault at input {number}")
        self.number = number


def chance_of(seed: int, number: int) -> Random:
    """Return the randomness of one input, the same in every process."""
    return Random(f"{seed}/{number}")


def run(
    target: Target, seed: int, numbers: Iterable[int], *, clock: Callable[[], float] = time.process_time
) -> Report:
    """Return what came of these inputs; the clock tells how long each takes, in seconds of the processor.

    Raises:
        FaultFound: one shows a fault; those after it were not tried.
    """
    report = Report()
    for number in numbers:
        began = clock()
        try:
            outcome = target(chance_of(seed, number))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # of author code too, which must not leave the runtime
            raise FaultFound(number) from error
        took = clock() - began
        report.tried += 1
        report.kinds[outcome.kind] += 1
        report.details.add((outcome.kind, outcome.detail))
        if took > report.slowest_s:
            report.slowest_s, report.slowest = took, number
    return report


def within(seconds: float, clock: Callable[[], float] = time.monotonic) -> Iterator[int]:
    """Yield the numbers from 0 while there is time; the first in any case."""
    end = clock() + seconds
    for number in count():
        yield number
        if clock() >= end:
            return


def main(
    name: str, make: Callable[[int], Target], arguments: Sequence[str] | None = None, out: TextIO = sys.stdout
) -> int:
    """Run a target from the command line and return its exit code: 1 after a fault.

    Args:
        name: Of the module, as `python -m` takes it.
        make: Returns the target for a seed.
        arguments: Those of the process by default.
        out: Gets what was tried, and what shows a fault again.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {name}")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long inputs are tried")
    parser.add_argument("--seed", type=int, default=1, help="which inputs they are")
    parser.add_argument("--only", type=int, metavar="N", help="try this one input")
    options = parser.parse_args(arguments)
    target = make(options.seed)
    numbers = within(options.seconds) if options.only is None else [options.only]
    try:
        report = run(target, options.seed, numbers)
    except FaultFound as fault:
        traceback.print_exception(fault.__cause__, file=out)
        command = f"python -m {name} --seed {options.seed} --only {fault.number}"
        print(f"{name}: a fault at input {fault.number}; again with: {command}", file=out)
        return 1
    print(f"{name}, seed {options.seed}: {report}", file=out)
    return 0
