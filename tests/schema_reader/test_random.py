"""Random schemas: the contract means what the schema meant, and the normal form holds it."""

from __future__ import annotations

import jsonschema_rs
import pytest

from tests.selection import first
from toolgen.shapes.foreign.reader import read

from .random_schemas import Draws
from .reader import disagreement


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "seed", first([0, 1, 2, *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(3, 8))])
)
def test_the_normal_form_never_refuses_what_the_schema_accepts(seed: int) -> None:
    draws = Draws(seed)
    exact = total = 0
    for number in range(60):
        schema = draws.root(draft_7=number % 3 == 0)
        reading = read(schema, name="Root")
        if reading.foreign is None:
            assert all("refers back to this schema" in problem.message for problem in reading.problems)
            continue
        total += 1
        exact += reading.foreign.is_exact
        original = jsonschema_rs.validator_for(schema, validate_formats=False)
        contract = jsonschema_rs.Draft202012Validator(reading.foreign.schema, validate_formats=False)
        for value in [draws.instance(schema, schema) for _ in range(15)]:
            assert contract.is_valid(value) == original.is_valid(value), (schema, value)
            assert not disagreement(reading.foreign, original, value), (schema, value)
    assert 0 < exact < total
