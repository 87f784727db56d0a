"""What the script of each peer measures, and how it prints it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from importlib.metadata import version
from statistics import median
from typing import Any, Final

from ..bare import (
    BAD,
    FEW_ROUNDS,
    GATHERED,
    GOOD,
    PING,
    Once,
    Row,
    gathered,
    is_page,
    listing,
    measure,
    pinging,
    refusing,
)

SMALL: Final = 1
LARGE: Final = 20
"""Devices of a result."""
ROUNDS: Final = 3
CALLS: Final = 3
"""Calls of each round of a run; after the rounds the agent answers."""
AT_ONCE: Final = 20
REPEATS: Final = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way in which a peer calls a tool; each call returns the text that the model gets."""

    name: str
    """As the page shows it."""
    large: Once
    """`list_devices` with 20 devices."""
    small: Once
    """`list_devices` with one device."""
    ping: Once
    invalid: Once | str
    """A call with two issues, or why it cannot be measured."""

    @classmethod
    def by(cls, name: str, calling: Callable[[int, str, bytes], Once]) -> Way:
        """Return the way of calls that are made for so many devices, a tool and its arguments."""
        return cls(
            name=name,
            large=calling(LARGE, "list_devices", GOOD),
            small=calling(SMALL, "list_devices", GOOD),
            ping=calling(SMALL, "ping", PING),
            invalid=calling(SMALL, "list_devices", BAD),
        )


Run = Callable[[], Awaitable[str]]
"""One run of an agent: three rounds of three calls, and the answer, which it returns."""


def show(packages: list[str], ways: list[Way], run: Run | None = None, *, why_no_run: str = "") -> None:
    """Measure and print what a peer costs, as JSON."""
    print(json.dumps(asyncio.run(_all(packages, ways, run, why_no_run)), ensure_ascii=False))


async def _all(packages: list[str], ways: list[Way], run: Run | None, why_no_run: str) -> dict[str, Any]:
    return {
        "versions": {package: version(package) for package in [*packages, "pydantic", "pydantic-core"]},
        "ways": [await _way(way) for way in ways],
        "run": {"missing": why_no_run} if run is None else await costs_of(run),
    }


async def _way(way: Way) -> dict[str, Any]:
    """Return the ratios of a way, and what the model reads of arguments that do not fit."""
    assert is_page(await way.large(), LARGE), await way.large()
    assert is_page(await way.small(), SMALL)
    assert await way.ping() in ("pong", '"pong"', b'"pong"')
    rows = [
        Row("20 devices", way.large, "", listing(LARGE)),
        Row("1 device", way.small, "", listing(SMALL)),
        Row("ping", way.ping, "", pinging()),
    ]
    missing, said = {}, ""
    if isinstance(way.invalid, str):
        missing["invalid"] = way.invalid
    else:
        rows.append(Row("invalid", way.invalid, "", refusing()))
        said = str(await way.invalid())
    at_once = Row(GATHERED, gathered(way.large), "", gathered(listing(LARGE)))
    measured = await measure(rows) | await measure([at_once], FEW_ROUNDS)
    return {
        "way": way.name,
        "ratios": {name: round(ratio.ratio, 3) for name, ratio in measured.items()},
        "missing": missing,
        "invalid_text": said,
    }


async def costs_of(run: Run) -> dict[str, float]:
    """Return the milliseconds of the processor for a run: alone, and of 20 at once."""

    async def several() -> None:
        await asyncio.gather(*(run() for _ in range(AT_ONCE)))

    assert await run() == "done"
    costs: dict[str, list[float]] = {"alone": [], "20 at once": []}
    for _ in range(REPEATS):
        costs["alone"].append(await _cost_ms(lambda: _one_after_the_other(run)))
        costs["20 at once"].append(await _cost_ms(several))
    return {name: round(median(found) / AT_ONCE, 3) for name, found in costs.items()}


async def _one_after_the_other(run: Run) -> None:
    for _ in range(AT_ONCE):
        await run()


async def _cost_ms(work: Callable[[], Coroutine[Any, Any, None]]) -> float:
    began = time.process_time()
    await work()
    return (time.process_time() - began) * 1000
