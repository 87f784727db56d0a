"""Real tools and real arguments in the dialects of the providers.

Every schema obeys the documented rules of its provider, and known-good arguments come back as they were.
What does not stands in `provider_misses.toml` by tool and dialect, with its reason, and nothing else does.
"""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.conformance import corpora
from tests.conformance.agreement import is_same
from tests.conformance.provider_rules import broken, names_broken, without_nullable
from toolgen.catalog.providers import DIALECTS, Projection, declarations

MISSES = Path(__file__).with_name("provider_misses.toml")
LEAST = 0.996
"""The share of known-good arguments of all tools that have to survive."""


def records() -> list[corpora.Record]:
    corpora.require()
    return [record for file in corpora.files() for record in corpora.part(corpora.records(file))]


def entry(record: corpora.Record) -> dict[str, Any]:
    facts = record.facts
    payload = {"name": "Arguments", "schema": record.input_schema}
    return {"name": facts["name"], "description": facts.get("description") or "", "payload": payload}


@pytest.mark.volume
@pytest.mark.parametrize("dialect", DIALECTS)
def test_real_tools_fit_and_real_arguments_survive(dialect: str, capsys: pytest.CaptureFixture[str]) -> None:
    counts: Counter[str] = Counter()
    misses: set[tuple[str, str]] = set()
    refused: list[tuple[str, list[str]]] = []
    for record in records():
        (one,) = declarations([entry(record)], dialect).projections
        counts["tools"] += 1
        counts["strict"] += one.is_strict
        spoken = dialect if one.is_strict or not DIALECTS[dialect].is_strict else DIALECTS[dialect].plain
        problems = broken(dict(one.schema), spoken)
        if problems or names_broken(one.name, dialect):
            refused.append((record.id, problems))
        judge = jsonschema.Draft202012Validator(without_nullable(one.schema))
        for document in record.valid:
            counts["arguments"] += 1
            if reason := lost(one, document, judge):
                misses.add((record.id, reason))
            else:
                counts["survive"] += 1
    with capsys.disabled():
        print(f"\n{dialect}: {dict(counts)}")
    assert not refused
    known = {record.id for record in records()}
    listed = [
        miss for miss in tomllib.loads(MISSES.read_text("utf-8"))["miss"] if dialect in miss["dialects"]
    ]
    assert all(miss["why"] for miss in listed)
    assert misses == {(miss["id"], miss["what"]) for miss in listed if miss["id"] in known}
    assert counts["survive"] / counts["arguments"] >= LEAST or corpora.STRIDE > 1


def lost(one: Projection, document: Any, judge: Any) -> str:
    """Return what is wrong with the way there and back; "" for nothing."""
    try:
        sent = one.encode(json.dumps(document))
    except ValueError:
        return "not encoded"
    if not judge.is_valid(json.loads(sent)):
        return "refused by the provider's schema"
    return "" if is_same([json.loads(one.decode(sent))], [document]) else "changed"
