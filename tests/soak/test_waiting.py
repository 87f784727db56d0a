"""A file of as many calls that wait as a host may ever have."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runtime.test_many_waiting import check_many


async def test_one_of_a_hundred_thousand_is_found_and_answered_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await check_many(tmp_path / "runs.db", 100_000, monkeypatch)
