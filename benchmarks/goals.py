"""What the costs of toolgen should be at most.

The page and its test read this; `tables` compares it with the results. NOTES.md has what would reduce the
rows that miss their goal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """The most that a row should cost."""

    row: str
    """As the page names it."""
    most: float
    unit: str
    """`×` is a ratio, to bare pydantic unless the row names another base; others are CPU time or sizes."""
    place: tuple[str, ...]
    """The keys of the results that lead to the value."""
    newer: bool = False
    """Whether the goal is for the newer Python."""
    against: tuple[str, ...] = ()
    """The keys of the value to divide by, if any."""

    def now(self, results: dict[str, Any]) -> float | None:
        """Return the measured value, or None if it was not measured."""
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


def _call(row: str, most: float, *, name: str = "", newer: bool = False) -> Goal:
    calls = ("newer", "calls") if newer else ("calls",)
    place = (*calls, row, "ratio")
    return Goal(row=name or row, most=most, unit="×", place=place, newer=newer)


def _generation(row: str, most: float) -> Goal:
    return Goal(row=f"`toolgen gen` of {row}", most=most, unit="s", place=("generation", row))


def _size(row: str, most: float) -> Goal:
    name, _, unit = row.rpartition(", ")
    return Goal(row=f"`toolgen gen`: {name}", most=most, unit=unit, place=("sizes", row))


def _start(row: str, most: float, name: str = "") -> Goal:
    return Goal(row=name or f"`{row}`", most=most, unit="ms", place=("start", row))


def _import(row: str, most: float) -> Goal:
    """Return the goal of a ratio over the documents of 20 operations and more."""
    name = f"OpenAPI import compared with FastMCP, {row}"
    return Goal(row=name, most=most, unit="×", place=("imports", row))


def _mcp(row: str, most: float, name: str) -> Goal:
    return Goal(row=name, most=most, unit="×", place=("mcp", row, "ratio"))


def _run(row: str, most: float, place: tuple[str, str], against: tuple[str, str]) -> Goal:
    return Goal(row=row, most=most, unit="×", place=("runs", *place), against=("runs", *against))


GOALS: Final = (
    _call("20 devices", 1.15),
    _call("ping", 1.6),
    _call("invalid", 2.5, name="invalid, two issues"),
    _call("artifact", 1.5),
    _call("before and after hook", 1.6),
    _call("before and after hook, ping", 6),
    _call("time limit", 1.4, newer=True),
    _call("time limit, ping", 4, newer=True),
    _call("subscriber", 2.2),
    _call("foreign with rules", 2.0),
    _call("9,000 floats, decode", 1.05),
    _call("9,000 floats, encode", 1.05),
    _mcp("1,000 tools", 1.3, "MCP, 1,000 tools, compared with the SDK"),
    _mcp("1,000 tools against one", 1.1, "MCP, 1,000 tools, compared with one"),
    _run(
        "20 runs at once on SQLite (`NORMAL`), compared with memory",
        1.25,
        ("NORMAL", "20 at once"),
        ("memory", "20 at once"),
    ),
    _run(
        "20 runs at once on SQLite (`FULL`), compared with memory",
        1.54,
        ("FULL", "20 at once"),
        ("memory", "20 at once"),
    ),
    _run(
        "a run alone on SQLite (`NORMAL`), compared with memory",
        1.25,
        ("NORMAL", "alone"),
        ("memory", "alone"),
    ),
    _run(
        "1,000 runs at once in memory, compared with 20",
        1.1,
        ("many", "1,000 at once"),
        ("many", "20 at once"),
    ),
    Goal(
        row="turn after 300 others, with the whole history",
        most=5.8,
        unit="ms",
        place=("turns", "memory"),
    ),
    _generation("1,000 tools, first", 1.0),
    _generation("1,000 tools, unchanged", 0.5),
    _generation("1,000 imported tools, first", 4),
    _generation("1,000 imported tools, unchanged", 0.5),
    _size("10,000 tools, first, s", 10),
    _size("10,000 tools, memory, MB", 500),
    _size("catalogs of 1,000 tools and an agent, MB", 9),
    _import("median", 3),
    _import("worst", 6),
    _start("import toolgen.runtime", 40, "`import toolgen.runtime`, beyond pydantic"),
    _start("toolgen call", 220),
    _start("toolgen --help", 100),
)
