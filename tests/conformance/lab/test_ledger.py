"""The ledger of the laboratory outlives kills in the middle of a line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab.ledger import Ledger


@pytest.mark.parametrize("part", ['{"kind": "begin", "ru', '{"kind": "begin", "facts": {"a": {}}', ""])
def test_a_part_of_a_line_counts_as_not_written(tmp_path: Path, part: str) -> None:
    path = tmp_path / "ledger"
    ledger = Ledger(path)
    ledger.write("ready")
    with path.open("a", encoding="utf-8") as file:
        file.write(f"\n{part}")
    assert [entry.kind for entry in ledger.read()] == ["ready"]
    ledger.write("done", run="r", left=1)
    assert [(entry.kind, entry.run, dict(entry.facts)) for entry in ledger.read()] == [
        ("ready", "", {}),
        ("done", "r", {"left": 1}),
    ]
    ledger.close()
