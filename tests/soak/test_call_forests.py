"""More random forests of calls."""

from __future__ import annotations

import pytest

from tests.runtime.test_call_forests import KINDS, check_cancelled, check_ends
from tests.virtual_time import in_virtual_time


@pytest.mark.parametrize(("tools", "keys"), KINDS)
@in_virtual_time
async def test_forests_end_within_their_limits(tools: tuple[str, ...], keys: str) -> None:
    await check_ends(tools, keys, range(40, 1_000))


@in_virtual_time
async def test_cancelled_forests_leave_nothing_behind() -> None:
    await check_cancelled(range(100, 5_000))
