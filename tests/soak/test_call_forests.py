"""More random forests of calls."""

from __future__ import annotations

import pytest

from tests.runtime.test_call_forests import KINDS, check_cancelled, check_ends, check_late
from tests.virtual_time import in_virtual_time


@pytest.mark.parametrize(("tools", "keys"), KINDS)
@in_virtual_time
async def test_forests_end_within_their_limits(tools: tuple[str, ...], keys: str) -> None:
    await check_ends(tools, keys, range(8, 1_000))


@in_virtual_time
async def test_cancelled_forests_leave_nothing_behind() -> None:
    await check_cancelled(range(100, 5_000))


@pytest.mark.parametrize("is_cancelled", [False, True])
@in_virtual_time
async def test_forests_of_late_executors_end(is_cancelled: bool) -> None:
    await check_late(range(20, 1_000), is_cancelled=is_cancelled)
