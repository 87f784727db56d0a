"""What the costs of toolgen should be at most, and what would bring those there that are more.

The page and its test read this; `tables` compares it with the results.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

STRAIGHT: Final = (
    "one straight function is left, with pydantic, the executor, its context, a context variable and the "
    "result: the check of what pydantic writes, by a serializer that only raises"
)
HOOK_STEPS: Final = (
    "a call with hooks has a frame, four coroutines and a copy of its result: a straight way for it too"
)
AN_INTEGER: Final = "a union of float and int keeps an integer an integer; a validator in Rust that does both"


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """The most that a row should cost."""

    row: str
    """As the page names it."""
    most: float
    unit: str
    """`×` is a ratio, to bare pydantic unless the row names something else; else time of the processor."""
    place: tuple[str, ...]
    """The keys of the results that lead to the value."""
    lever: str
    """What is next where it is missed."""
    newer: bool = False
    """It holds for the newer Python."""
    against: tuple[str, ...] = ()
    """The keys of what the value is divided by, if anything."""

    def now(self, results: dict[str, Any]) -> float | None:
        """Return what was measured, or None where it was not."""
        value = _at(results, self.place)
        if value is None or not self.against:
            return value
        other = _at(results, self.against)
        return None if other is None else value / other


def _at(results: dict[str, Any], place: tuple[str, ...]) -> float | None:
    value: Any = results
    for key in place:
        if value is None:
            return None
        value = value[key]
    return float(value)


def _call(row: str, most: float, lever: str, *, name: str = "", newer: bool = False) -> Goal:
    calls = ("newer", "calls") if newer else ("calls",)
    place = (*calls, row, "ratio")
    return Goal(row=name or row, most=most, unit="×", place=place, lever=lever, newer=newer)


def _made(row: str, most: float, lever: str) -> Goal:
    return Goal(row=row, most=most, unit="s", place=("generation", row), lever=lever)


def _size(row: str, most: float, lever: str) -> Goal:
    unit = row.rpartition(", ")[2]
    return Goal(row=row.removesuffix(f", {unit}"), most=most, unit=unit, place=("sizes", row), lever=lever)


def _start(row: str, most: float, lever: str, name: str = "") -> Goal:
    return Goal(row=name or f"`{row}`", most=most, unit="ms", place=("start", row), lever=lever)


def _import(row: str, most: float) -> Goal:
    """Return the goal of a ratio over the documents of 20 operations and more."""
    name = f"import of an OpenAPI document against FastMCP, {row}"
    lever = "a third is the reading of schemas, and a sixth the check of the design"
    return Goal(row=name, most=most, unit="×", place=("imports", row), lever=lever)


def _mcp(row: str, most: float, lever: str, name: str) -> Goal:
    return Goal(row=name, most=most, unit="×", place=("mcp", row, "ratio"), lever=lever)


def _run(row: str, most: float, place: tuple[str, str], against: tuple[str, str], lever: str) -> Goal:
    return Goal(row=row, most=most, unit="×", place=("runs", *place), against=("runs", *against), lever=lever)


GOALS: Final = (
    _call("20 devices", 1.15, STRAIGHT),
    _call("ping", 1.6, STRAIGHT),
    _call(
        "invalid",
        2.5,
        "a third is pydantic's error and its details, and two exceptions are raised: a decode that returns "
        "its findings",
        name="invalid, two issues",
    ),
    _call("artifact", 1.5, "its digest takes 1.7 µs, and its reference three coroutines"),
    _call("before and after hook", 1.6, HOOK_STEPS),
    _call("before and after hook, ping", 6, HOOK_STEPS),
    _call(
        "time limit",
        1.4,
        "each call has a task of its own, and four coroutines: one fewer",
        newer=True,
    ),
    _call("time limit, ping", 4, "the same", newer=True),
    _call(
        "subscriber",
        2.2,
        "the arguments are encoded again for the event: take the bytes that came where nothing changed them",
    ),
    _call(
        "foreign with rules",
        2.0,
        "half of the result's encode is pydantic's: classes that take no key are asked for further ones",
    ),
    _call("9,000 floats, decode", 1.05, AN_INTEGER),
    _call("9,000 floats, encode", 1.05, AN_INTEGER),
    _mcp(
        "1,000 tools",
        1.3,
        "the slot, the words of the era and the id of the call are made for each request",
        "MCP, 1,000 tools, against the SDK",
    ),
    _mcp(
        "1,000 tools against one",
        1.1,
        "find what asks all tools",
        "MCP, 1,000 tools, against one",
    ),
    _run(
        "run on SQLite (NORMAL) against memory, 20 at once",
        1.25,
        ("NORMAL", "20 at once"),
        ("memory", "20 at once"),
        "no part is 5 % of a run, and half of the pages are 3 %: fewer rows and callbacks for each call",
    ),
    _run(
        "run on SQLite (FULL) against memory, 20 at once",
        1.54,
        ("FULL", "20 at once"),
        ("memory", "20 at once"),
        "each commit is handed to a thread and back, which runs at once share: fewer commits",
    ),
    _run(
        "run on SQLite (NORMAL) against memory, alone",
        1.25,
        ("NORMAL", "alone"),
        ("memory", "alone"),
        "half are eight commits of 52 pages, which runs at once share, and half is their Python",
    ),
    _run(
        "1,000 runs at once against 20",
        1.1,
        ("many", "1,000 at once"),
        ("many", "20 at once"),
        "cold caches, since each executes as much as of 20: fewer callbacks, tasks and coroutines",
    ),
    Goal(
        row="turn after 300 others without a window",
        most=5.8,
        unit="ms",
        place=("turns", "memory"),
        lever="messages are parsed, copied and joined: keep those that a turn has read",
    ),
    _made(
        "1,000 tools, first",
        1.0,
        "a fifth is the check of the design, a fifth its catalogues: attributes that tools write alike, once",
    ),
    _made("1,000 tools, unchanged", 0.5, "the design is imported, and its value digested"),
    _made("1,000 imported tools, first", 4, "half is the check of the design"),
    _made("1,000 imported tools, unchanged", 0.5, "the design is imported, and its value digested"),
    _size("10,000 tools, first, s", 10, "as of 1,000 tools"),
    _size(
        "10,000 tools, memory, MB",
        500,
        "the checked design, and all texts until they are compared",
    ),
    _size(
        "catalogues of 1,000 tools and an agent, MB", 9, "the catalogue of each toolset repeats the root's"
    ),
    _import("median", 3),
    _import("worst", 6),
    _start(
        "import toolgen.runtime",
        40,
        "import later what no plain call needs",
        "import of toolgen.runtime beyond pydantic",
    ),
    _start("toolgen call", 220, "pydantic is a half, and a tenth is the end of the interpreter"),
    _start("toolgen --help", 100, "typer is a third"),
)
