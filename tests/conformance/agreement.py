"""Whether a codec accepts a document exactly when its schema does, on documents drawn from the schema.

Of a foreign schema the document is the one with the defaults of absent required properties filled in.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import hypothesis.strategies as st
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis_jsonschema import from_schema

from tests.conformance import oracle
from toolgen.runtime import FieldIssue, ToolValidationError
from toolgen.runtime.functions import Codec, SchemaCodec

CALENDAR = re.compile(r":60|\b0000-|[0-9]{9,}[DS.]|[0-9]{8,}M|[0-9]{7,}H")
"""Leap seconds, the year 0 and endless durations: limits of the validators, outside the schema."""
SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)


def drawing(examples: int) -> settings:
    """Return the settings that draw the same documents in every run."""
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=SLOW,
        phases=[Phase.explicit, Phase.generate],  # shrinking one of these can take minutes
    )


def documents(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Return valid documents; formats that hypothesis-jsonschema does not know are drawn here."""
    return from_schema(oracle.unrolled(schema, schema), custom_formats={"uuid": st.uuids().map(str)})


def pick(data: st.DataObject) -> Any:
    return lambda options: data.draw(st.sampled_from(list(options)))


def decoded(codec: Codec[Any], document: Any) -> tuple[Any, tuple[FieldIssue, ...]]:
    """Return the value, or None and what is wrong with the document."""
    try:
        return codec.decode(json.dumps(document)), ()
    except ToolValidationError as error:
        return None, error.issues


CHANGES = 10
"""How often each document is broken in one place, which is cheap beside drawing it."""


def hold(codec: Codec[Any], examples: int, seen: Counter[str]) -> None:
    """Draw documents, break each in one place, and compare; what was seen is counted."""
    schema = codec.schema
    judge = oracle.validator(schema)

    @drawing(examples)
    @given(documents(schema), st.data())
    def check(instance: Any, data: st.DataObject) -> None:
        broken = [oracle.mutations(instance, pick(data)) for _ in range(CHANGES)]
        for document in [instance, *broken]:
            compare(codec, judge, document, seen)

    check()


def is_same(one: Any, other: Any) -> bool:
    """Return whether two documents are the same; `5` and `5.0` are not."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_same(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    return type(one) is type(other) and bool(one == other)


def keeps_numbers(document: Any, written: Any) -> bool:
    """Return whether what was written has the numbers of a document, and no float where an integer came.

    Keys that only one of them has are passed over; an integer may stand where `5.0` came.
    """
    if isinstance(document, dict) and isinstance(written, dict):
        shared = document.keys() & written.keys()
        return all(keeps_numbers(document[key], written[key]) for key in shared)
    if isinstance(document, list) and isinstance(written, list):
        return len(document) == len(written) and all(map(keeps_numbers, document, written))
    if type(document) not in (int, float):
        return True
    return type(written) in (int, type(document)) and bool(written == document)


def is_taken(codec: Codec[Any], document: Any) -> bool:
    """Return whether a door takes a document, where null of an optional attribute means absent."""
    try:
        codec.decode_null_as_absent(json.dumps(document))
    except ToolValidationError:
        return False
    return True


def compare(codec: Codec[Any], judge: Any, document: Any, seen: Counter[str]) -> None:
    if CALENDAR.search(json.dumps(document)):
        seen["calendar"] += 1
        return
    is_foreign = isinstance(codec, SchemaCodec)
    expected = judge.is_valid(oracle.filled(document, codec.schema) if is_foreign else document)
    value, issues = decoded(codec, document)
    assert expected == (not issues), (document, issues)
    if not is_foreign:
        meant = oracle.without_optional_nulls(document, codec.schema)
        assert judge.is_valid(meant) == is_taken(codec, document), document
    if issues:
        assert max(Counter((issue.keys, issue.message) for issue in issues).values()) == 1, issues
        seen["invalid"] += 1
        return
    encoded = codec.encode(value)
    assert codec.decode(encoded) == value
    assert judge.is_valid(json.loads(encoded)), encoded
    assert keeps_numbers(document, json.loads(encoded)), (document, encoded)
    seen["valid"] += 1
    seen["valid and not empty"] += bool(document)
