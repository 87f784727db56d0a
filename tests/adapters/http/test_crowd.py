"""Readers of events over sockets beside calls; tests/conformance/test_http_crowd.py has a thousand."""

from __future__ import annotations

import pytest

from .crowd import crowd


@pytest.mark.exhaustive
async def test_fifty_readers_miss_nothing() -> None:
    counts = await crowd(streams=50, calls=30, runs=3)
    assert (counts.readers, counts.calls, counts.runs) == (50, 34, 3)
    assert counts.events > 40 * 34
