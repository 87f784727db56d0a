"""Answers to the schemas of real tools, and of tools that were changed at random: all losses are named."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import jsonschema
import pytest

from tests.conformance import corpora
from tests.conformance.mutated_schemas import mutated
from tests.providers.answers import unexplained
from tests.providers.test_losses import OWN
from tests.selection import volume
from toolgen.catalog.providers import project

ANSWERS = volume(2, lab=6)
"""Of each tool in each dialect; with 2,665 tools some 16,000 in the lab."""
MUTATED = volume(60, lab=200)
LARGEST = 20_000
"""Characters of a changed schema."""


def schemas() -> list[Any]:
    corpora.require()
    return [record.input_schema for file in corpora.files() for record in corpora.part(corpora.records(file))]


@pytest.mark.volume
@pytest.mark.parametrize("dialect", OWN)
def test_what_real_tools_lose_is_named(dialect: str) -> None:
    for number, schema in enumerate(schemas()):
        one = project("tool", "", schema, dialect)
        for seed in range(ANSWERS):
            found = unexplained(one, schema, Random(f"{number}/{seed}"))
            assert found is None, (found, schema, one.schema, one.losses)


@pytest.mark.volume
@pytest.mark.parametrize("dialect", OWN)
def test_what_changed_tools_lose_is_named(dialect: str) -> None:
    for number, schema in enumerate(_changed(dialect)):
        one = project("tool", "", schema, dialect)
        assert not [loss for loss in one.losses if "Error:" in loss.detail], schema
        if _is_judged(schema):
            found = unexplained(one, schema, Random(f"{number}"))
            assert found is None, (found, schema, one.schema, one.losses)


def _changed(dialect: str) -> Iterator[Any]:
    own = schemas()
    chance = Random(dialect)
    for _ in range(MUTATED):
        schema = mutated(chance.choice(own), own, chance)
        if isinstance(schema, dict):
            yield schema


def _is_judged(schema: Any) -> bool:
    """Return whether the other validator takes the schema: it has no reference."""
    try:
        text = json.dumps(schema, allow_nan=False)
        if len(text) > LARGEST or '"$id"' in text or '"$schema"' in text or '"$ref"' in text:
            return False
        jsonschema.Draft202012Validator.check_schema(schema)
    except (ValueError, RecursionError, jsonschema.SchemaError):
        return False
    return True
