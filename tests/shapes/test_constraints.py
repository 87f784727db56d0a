"""The table of constraints, and that no second list of them stands beside it."""

from __future__ import annotations

from collections import defaultdict

from tests.sources import sources
from toolgen.expr.type_codes import CONSTRAINT_MISMATCH
from toolgen.shapes.constraints import CONSTRAINTS, FLAGS, LIMITS, OF_BYTES, Holder, held_by

TABLE = "shapes/constraints.py"
DRAFT_4 = ("catalog/providers/reading.py", "importers/openapi_schemas.py", "schema_reader/validator.py")
"""Read bounds as draft-04 and OpenAPI 3.0 write them, which no other schema does."""
PROVIDERS = "catalog/providers/dialects.py"
"""Says which keywords each provider documents."""
FORMS = "adapters/mcp/client/forms.py"
"""Says which keywords a form of MCP has."""


def test_a_limit_is_named_in_the_table_alone() -> None:
    literals = defaultdict[str, set[str]](set)
    for file, source in sources().items():
        for word in source.literals:
            literals[word].add(file)
    words = {word for row in (*LIMITS, *FLAGS, *OF_BYTES) for word in (row.name, row.keyword, row.error)}
    elsewhere = {word: literals[word] - {TABLE, PROVIDERS, FORMS, *DRAFT_4} for word in words}
    assert {word: files for word, files in elsewhere.items() if files} == {}
    assert all(TABLE in literals[word] for word in words if word)


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
