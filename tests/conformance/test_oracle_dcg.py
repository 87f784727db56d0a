"""datamodel-code-generator as a second opinion: its types accept what our codecs accept.

Its types are made of the generated schemas, in one run. Documents are drawn from a schema, then one
value is replaced by each strange one. Where the two disagree, that one place is the cause; the causes
are exactly those of `oracle_dcg_exceptions.toml`, which says the reason of each.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections import Counter
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from pydantic import TypeAdapter, ValidationError

from tests.conformance import dcg, oracle
from tests.conformance.agreement import CALENDAR, decoded, documents, drawing
from tests.conformance.generated import codecs
from toolgen.runtime import Codec
from toolgen.shapes.constraints import LIMITS
from toolgen.shapes.issues import json_type

pytestmark = pytest.mark.costly

_ANNOTATED = tuple(row.keyword for row in LIMITS if row.keyword.startswith("x-"))
_WITHIN = {"since": "2026-06-01T00:00:00Z", "quarter": "PT15M"}
"""Values of required fields with such limits, in `tests/cases`."""
EXCEPTIONS = Path(__file__).with_name("oracle_dcg_exceptions.toml")


@dataclass(frozen=True, slots=True, order=True)
class Cause:
    """What a schema says of a place, the JSON type that stands there, and what dcg does with it."""

    dcg: str
    """`accepts` what our codec refuses, or `refuses` what it accepts."""
    schema: str
    value: str


def test_accept_sets_differ_only_where_the_list_says(theirs: ModuleType) -> None:
    causes: dict[Cause, str] = {}
    seen: Counter[str] = Counter()
    for index, codec in enumerate(_distinct()):
        _compare(codec, TypeAdapter(getattr(theirs, dcg.root_name(index))), causes, seen)
    listed = tomllib.loads(EXCEPTIONS.read_text("utf-8"))["exception"]
    assert all(one["reason"] for one in listed)
    expected = {Cause(one["dcg"], one["schema"], one["value"]) for one in listed}
    unlisted = [f"{cause} in {causes[cause]}" for cause in sorted(set(causes) - expected)]
    assert not unlisted, "\n".join(unlisted)
    assert sorted(expected - set(causes)) == [], "listed, but seen no more"
    assert len(expected) == len(listed), "a cause is listed twice"
    assert seen["accepted"] > 5_000, seen
    assert seen["refused"] > 15_000, seen


def _distinct() -> list[Codec[Any]]:
    return list({codec.schema_json: codec for codec in codecs().values()}.values())


def _limited(schema: oracle.Schema) -> set[str]:
    """Return the fields that have limits which no schema asserts."""
    return {
        name
        for name, part in schema.get("properties", {}).items()
        if any(f'"{keyword}"' in json.dumps(part) for keyword in _ANNOTATED)
    }


def _compare(
    codec: Codec[Any], theirs: TypeAdapter[Any], causes: dict[Cause, str], seen: Counter[str]
) -> None:
    schema = codec.schema
    judge = oracle.validator(schema)
    tried: set[str] = set()
    limited = _limited(schema)
    within = {name: _WITHIN[name] for name in limited.intersection(schema.get("required", ()))}

    @drawing(4)
    @given(documents(schema))
    def check(instance: Any) -> None:
        if isinstance(instance, dict):
            instance = {name: value for name, value in instance.items() if name not in limited} | within
        text = json.dumps(instance)
        if CALENDAR.search(text) or ("\\u" in text and "pattern" in codec.schema_json):
            return  # they are drawn by Python's patterns, whose digits are those of all scripts
        if not judge.is_valid(instance):
            return  # multiples are drawn by arithmetic of floats, and 22497 * 0.1 is no multiple of 0.1
        assert not decoded(codec, instance)[1]
        assert _accepts(theirs, instance), instance
        for keys, part in oracle.places(schema, instance):
            if keys and keys[0] in limited:
                continue
            said = json.dumps(part)
            for value in () if said in tried else oracle.STRANGE:
                document = oracle.replaced(instance, keys, value)
                ours = not decoded(codec, document)[1]
                seen["accepted" if ours else "refused"] += 1
                if ours != _accepts(theirs, document):
                    cause = Cause("refuses" if ours else "accepts", _said(part), json_type(value))
                    causes.setdefault(cause, f"{codec.name}: {value!r} at {keys}")
            tried.add(said)

    check()


def _accepts(theirs: TypeAdapter[Any], document: Any) -> bool:
    try:
        theirs.validate_json(json.dumps(document))
    except ValidationError:
        return False
    return True


def _said(part: oracle.Schema) -> str:
    """Return what the schema says of a value, in a few words."""
    match part:
        case {"anyOf": [inner, *_]}:
            return _said(inner)
        case {"$ref": _}:
            return "object"
        case {"format": name}:
            return f"format {name}"
        case {"pattern": pattern}:
            return f"pattern {pattern}"
        case {"type": str(kind) | [str(kind), *_]}:
            values = {"enum", "const", "oneOf"}  # a `oneOf` beside a type has constants with their meanings
            return kind if values.isdisjoint(part) else f"{kind} enum"
        case _:
            return "union" if "oneOf" in part else "any"


@pytest.fixture
def theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """dcg's module of all schemas, imported."""
    file = tmp_path / "dcg_types.py"
    file.write_text(dcg.source([codec.schema for codec in _distinct()]), "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, file.stem, raising=False)
    return import_module(file.stem)
