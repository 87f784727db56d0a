"""Random types: what the JSON Schema accepts is what the validator accepts."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from decimal import Decimal
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from tests.conformance import oracle
from tests.conformance.agreement import CALENDAR, documents, drawing, pick
from tests.selection import volume
from toolgen.shapes.design.schema import type_schema
from toolgen.shapes.design.validator import Validator
from toolgen.shapes.fields import (
    ArrayType,
    DataType,
    EnumType,
    Field,
    MapType,
    NullableType,
    NumberType,
    ObjectType,
    RefType,
    ScalarType,
    StringType,
    UnionType,
)

SCALARS = ("boolean", "bytes", "date", "datetime", "duration", "uuid", "url", "decimal", "any")

scalars: st.SearchStrategy[DataType] = st.one_of(
    st.sampled_from(SCALARS).map(lambda kind: ScalarType(kind=kind)),  # type: ignore[arg-type]  # a kind
    st.sampled_from(
        [
            ScalarType(kind="date", minimum=dt.date(2026, 1, 31), maximum=dt.date(9000, 1, 1)),
            ScalarType(kind="datetime", exclusive_minimum=dt.datetime(2026, 1, 31, tzinfo=dt.UTC)),
            ScalarType(kind="duration", minimum=dt.timedelta(0), exclusive_maximum=dt.timedelta(days=400)),
            ScalarType(kind="decimal", minimum=Decimal("1.50"), exclusive_maximum=Decimal(10**40)),
            ScalarType(kind="decimal", multiple_of=Decimal("0.5")),
            ScalarType(kind="duration", multiple_of=dt.timedelta(hours=1)),
        ]
    ),
    st.builds(StringType, min_length=st.sampled_from([None, 1]), max_length=st.sampled_from([None, 5])),
    st.sampled_from(["^a+$", r"\d", r"^[\w-]+$", r"a.c", r"^\s?x$"]).map(lambda p: StringType(pattern=p)),
    st.sampled_from(["email", "hostname", "ipv4", "ipv6"]).map(lambda f: StringType(format=f)),
    st.builds(
        NumberType, integer=st.just(True), minimum=st.sampled_from([None, 0]), multiple_of=st.just(None)
    ),
    st.builds(
        NumberType,
        integer=st.just(True),
        exclusive_maximum=st.just(10),
        multiple_of=st.sampled_from([None, 5]),
    ),
    st.builds(NumberType, integer=st.just(False), maximum=st.sampled_from([None, 1.5])),
    st.sampled_from([0.1, 3]).map(lambda step: NumberType(integer=False, multiple_of=step)),
    st.sampled_from([2**53, 2**53 + 1]).map(lambda most: NumberType(integer=False, exclusive_maximum=most)),
    st.sampled_from([EnumType(values=("a", "b")), EnumType(values=("stop",)), EnumType(values=(1, 5))]),
)
UNIQUE: tuple[DataType, ...] = (
    StringType(max_length=1),
    NumberType(integer=False),
    ScalarType(kind="any"),
    ScalarType(kind="boolean"),
    ArrayType(items=NumberType(integer=True)),
)
"""Items that are one value just where JSON Schema says so."""
KINDS = UnionType(
    tag="kind",
    branches=(("stop", RefType(name="Stop")), ("kind", RefType(name="Kind"))),
)
types: st.SearchStrategy[DataType] = st.recursive(
    st.one_of(scalars, st.just(KINDS), st.just(RefType(name="Node"))),
    lambda inner: st.one_of(
        st.builds(ArrayType, items=inner, max_length=st.sampled_from([None, 2])),
        st.builds(ArrayType, items=st.sampled_from(UNIQUE), unique_items=st.just(True)),
        st.builds(MapType, values=inner, keys=st.sampled_from([StringType(), StringType(pattern="^[a-x]")])),
        inner.filter(lambda type_: not _nullable(type_)).map(lambda type_: NullableType(inner=type_)),
    ),
    max_leaves=3,
)


def _nullable(type_: DataType) -> bool:
    return isinstance(type_, NullableType) or type_ == ScalarType(kind="any")


def _field(name: str, type_: DataType, *, required: bool = False) -> Field:
    return Field(name=name, type=type_, description="", title=name, required=required)


def _objects(one: DataType, other: DataType, opened: frozenset[str]) -> dict[str, ObjectType]:
    tags = {"Stop": "stop", "Kind": "kind"}
    fields = {
        "Root": (_field("one", one, required=True), _field("other", other)),
        "Node": (_field("value", one), _field("children", ArrayType(items=RefType(name="Node")))),
        "Stop": (_field("kind", EnumType(values=("stop",)), required=True), _field("stop", other)),
        "Kind": (
            _field("kind", EnumType(values=("kind",)), required=True),
            _field("node", RefType(name="Node")),
        ),
    }
    assert set(tags) < set(fields)
    return {
        name: ObjectType(name=name, description="", fields=of, open=name in opened)
        for name, of in fields.items()
    }


TYPES = volume(20, lab=150)
seen: Counter[str] = Counter()


@drawing(TYPES)
@given(types, types, st.frozensets(st.sampled_from(["Root", "Node", "Stop"])), st.data())
def check(one: DataType, other: DataType, opened: frozenset[str], data: st.DataObject) -> None:
    objects = _objects(one, other, opened)
    root = RefType(name="Root")
    schema: dict[str, Any] = type_schema(root, objects)
    judge, validator = oracle.validator(schema), Validator(root, objects)
    instance = data.draw(documents(schema))
    for document in [instance, *(oracle.mutations(instance, pick(data)) for _ in range(4))]:
        if CALENDAR.search(json.dumps(document)):
            continue
        expected = judge.is_valid(oracle.without_optional_nulls(document, schema))
        issues = validator.issues(document)
        assert expected == (not issues), (document, schema, issues)
        seen["valid" if expected else "invalid"] += 1
        seen["more than an empty object"] += bool(document)


@pytest.mark.volume
def test_schema_accepts_exactly_what_the_validator_accepts() -> None:
    check()
    assert seen["valid"] > TYPES
    assert seen["invalid"] > TYPES
    assert seen["more than an empty object"] > 2 * TYPES
