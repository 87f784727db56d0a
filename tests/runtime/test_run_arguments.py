"""Arguments of `Runtime.runs` that no run can have: the same error, whatever keeps the runs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from toolgen.engines import InProcessEngine, UnknownRunError
from toolgen.runtime import Runtime


def note(text: str) -> str:
    """Note."""
    return text


@pytest.mark.parametrize(
    ("value", "error"), [(-1, ValueError), (10**30, ValueError), (1.5, TypeError), ("1", TypeError)]
)
async def test_a_number_that_counts_nothing_is_named(
    serve: Callable[..., Runtime], value: Any, error: type[Exception]
) -> None:
    async with serve(note) as runtime:
        with pytest.raises(error, match=r"^limit must be "):
            await runtime.runs.list(limit=value)
        with pytest.raises(error, match=r"^after must be "):
            await runtime.runs.events("r", after=value)


async def test_the_largest_numbers_count(engine: InProcessEngine) -> None:
    async with Runtime(engine=engine) as runtime:
        assert await runtime.runs.list(limit=sys.maxsize) == ()
        assert await runtime.runs.list(limit=0) == ()


async def test_no_run_has_an_id_with_a_lone_surrogate(serve: Callable[..., Runtime]) -> None:
    async with serve(note) as runtime:
        runs = runtime.runs
        for ask in (runs.status, runs.events, runs.cancel):
            with pytest.raises(UnknownRunError, match="no run has the id"):
                await ask("\ud800")
