"""docs/performance.md and docs/import.md show what `make bench` measured.

`python -m benchmarks.report --again` renders it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.goals import GOALS
from benchmarks.tables import CHARTS, COLUMNS, IMAGES, PAGE, PAGES, RESULTS, TABLES, filled

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RESULTS.read_text("utf-8"))
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_tables_are_those_of_the_results(page: Path, results: dict[str, Any]) -> None:
    assert filled(page, results) == page.read_text("utf-8")


def test_another_result_is_another_table(results: dict[str, Any]) -> None:
    results = json.loads(json.dumps(results))
    results["calls"]["ping"]["ratio"] = 7777.0
    assert filled(PAGE, results).count("| **7777** |") == 1


def test_each_chart_exists_and_the_page_shows_it() -> None:
    for name in CHARTS:
        assert f"(images/{name}.svg)" in PAGE.read_text("utf-8")
        assert (IMAGES / f"{name}.svg").read_text("utf-8").startswith("<?xml")
        assert (IMAGES / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert sum(file.stat().st_size for file in IMAGES.iterdir()) < 400_000


def test_each_goal_has_its_row_with_what_was_measured(results: dict[str, Any]) -> None:
    rows = TABLES["goals"](results).splitlines()[2:]
    assert len(rows) == len(GOALS)
    for goal, row in zip(GOALS, rows, strict=True):
        name, most, now = (cell.strip() for cell in row.strip("|").split("|"))
        assert name.startswith(goal.row)
        assert most == f"≤ {goal.most:g} {goal.unit}"
        assert goal.now(results) is not None
        assert ("missed" in now) == (goal.now(results) > goal.most)  # type: ignore[operator]


def test_a_goal_that_was_not_measured_says_so(results: dict[str, Any]) -> None:
    rows = TABLES["goals"](results | {"newer": None}).splitlines()
    assert len([row for row in rows if "not measured" in row]) == sum(goal.newer for goal in GOALS) > 0


def test_what_a_peer_cannot_do_has_a_footnote(results: dict[str, Any]) -> None:
    for peer in results["peers"].values():
        for way in peer["ways"]:
            assert {*way["ratios"], *way["missing"]} == set(COLUMNS)
    table = TABLES["peers"](results)
    assert ("–¹" in table) == any(
        way["missing"] for peer in results["peers"].values() for way in peer["ways"]
    )


def test_each_peer_has_a_script_and_a_lock_with_hashes(results: dict[str, Any]) -> None:
    for name in results["peers"]:
        assert (ROOT / "benchmarks/peers" / f"{name.replace('-', '_')}.py").exists()
        lock = (ROOT / "benchmarks/locks" / f"{name}.txt").read_text("utf-8")
        for package, version in results["peers"][name]["versions"].items():
            assert f"\n{package}=={version} \\\n    --hash=sha256:" in lock
