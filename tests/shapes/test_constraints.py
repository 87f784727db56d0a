"""The table of constraints; `tests/test_layers.py` holds that no second list of them stands beside it."""

from __future__ import annotations

from toolgen.dsl.expr.type_codes import CONSTRAINT_MISMATCH
from toolgen.shapes.constraints import CONSTRAINTS, Holder, held_by


def test_a_constraint_has_one_row_for_each_kind_of_type() -> None:
    holders: set[Holder] = {holder for row in CONSTRAINTS for holder in row.holders}
    for holder in holders:
        rows = held_by(holder)
        assert len({row.name for row in rows}) == len({row.keyword for row in rows}) == len(rows)


def test_the_explanation_of_a_mismatch_names_every_kind_of_type_and_of_constraint() -> None:
    text = CONSTRAINT_MISMATCH.explanation.replace("DateTime", "Datetime").replace("MapOf", "Map")
    text = text.replace("ArrayOf", "Array").replace("Float", "Number").replace("Int", "Integer")
    for row in CONSTRAINTS:
        assert {"bound": "bounds", "length": "lengths"}.get(row.takes, f"`{row.name}`") in text
        assert all(holder.capitalize() in text for holder in row.holders)
