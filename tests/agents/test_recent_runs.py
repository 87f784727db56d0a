"""Values by run, of which a process keeps only so many."""

from __future__ import annotations

from toolgen.agents.recent_runs import RecentRuns


def test_the_run_that_was_used_first_makes_room() -> None:
    kept: RecentRuns[str] = RecentRuns(2)
    assert [kept.put("a", "1"), kept.put("b", "2")] == [None, None]
    assert kept.get("a") == "1"
    assert kept.put("c", "3") == "2"
    assert [kept.get(run) for run in "abc"] == ["1", None, "3"]


def test_a_run_has_one_value_and_the_newest() -> None:
    kept: RecentRuns[str] = RecentRuns(2)
    for value in ("1", "2"):
        kept.put("a", value)
    assert kept.put("b", "3") is None
    assert [kept.pop("a"), kept.pop("a"), kept.get("b")] == ["2", None, "3"]


def test_without_a_limit_every_run_keeps_its_value() -> None:
    kept: RecentRuns[int] = RecentRuns(None)
    assert [kept.put(str(number), number) for number in range(2_000)] == [None] * 2_000
    assert kept.get("0") == 0
