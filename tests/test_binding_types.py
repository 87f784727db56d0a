"""Which types and constraints of a tool fit those of its method, and what is said where they do not."""

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal as PythonDecimal

import pytest

from tests.checked import DEVICE, bound, codes, filled, only, service
from toolgen.dsl import (
    Args,
    ArrayOf,
    Attribute,
    BindTo,
    Boolean,
    Date,
    DateTime,
    Decimal,
    Duration,
    Enum,
    Float,
    Int,
    MapOf,
    Method,
    Nullable,
    Object,
    OneOf,
    Payload,
    Result,
    Return,
    String,
    Tool,
    Url,
)

DAY = dt.date(2026, 1, 31)
ON = Enum("On", "On.", "on")
STATE = Enum("State", "State.", "on", "off")


def attribute(type_: object, **facts: object) -> Attribute:
    return Attribute("a", type_, "A.", **facts)  # type: ignore[arg-type]  # any type word


FITS: Mapping[str, tuple[Attribute, Attribute]] = {
    "same": (attribute(Int), attribute(Int)),
    "Int into Float": (attribute(Int), attribute(Float)),
    "smaller enum": (attribute(ON), attribute(STATE)),
    "enum into String": (attribute(STATE), attribute(String)),
    "Url into String": (attribute(Url), attribute(String)),
    "value into Nullable": (attribute(Int, required=True), attribute(Nullable(Int), required=True)),
    "required into optional": (attribute(Int, required=True), attribute(Int)),
    "optional into defaulted": (attribute(Int), attribute(Int, default=1)),
    "defaulted into required": (attribute(Int, default=1), attribute(Int, required=True)),
    "absent into null": (attribute(Int), attribute(Nullable(Int), required=True)),
    "null into absent": (attribute(Nullable(Int), required=True), attribute(Int)),
    "items": (attribute(ArrayOf(Int)), attribute(ArrayOf(Float))),
    "items into Nullable": (attribute(ArrayOf(Int)), attribute(ArrayOf(Nullable(Int)))),
    "map": (attribute(MapOf(String, ON)), attribute(MapOf(String, String))),
    "smaller range": (attribute(Int, minimum=1, maximum=9), attribute(Int, minimum=1, maximum=9)),
    "whole numbers between bounds": (
        attribute(Int, minimum=1, exclusive_maximum=6),
        attribute(Int, exclusive_minimum=0, maximum=5),
    ),
    "Int into a Float range": (attribute(Int, minimum=1), attribute(Float, exclusive_minimum=0.5)),
    "Int is a multiple of one": (attribute(Int), attribute(Float, multiple_of=0.5)),
    "multiple of a multiple": (attribute(Float, multiple_of=0.3), attribute(Float, multiple_of=0.1)),
    "decimal of a multiple": (
        attribute(Decimal, multiple_of=PythonDecimal("0.50")),
        attribute(Decimal, multiple_of=PythonDecimal("0.05")),
    ),
    "shorter String": (attribute(String, min_length=1, max_length=4), attribute(String, max_length=5)),
    "same pattern": (attribute(String, pattern="^a"), attribute(String, pattern="^a")),
    "pattern into any String": (attribute(String, pattern="^a"), attribute(String, min_length=0)),
    "format into any String": (attribute(String, format="email"), attribute(String)),
    "enum into a String that takes each": (attribute(STATE), attribute(String, pattern="^o", max_length=3)),
    "enum into an Int range": (attribute(Int, enum=(1, 2)), attribute(Int, minimum=1)),
    "shorter array": (attribute(ArrayOf(Int), max_length=2), attribute(ArrayOf(Int), max_length=3)),
    "unique items into any": (attribute(ArrayOf(Int), unique_items=True), attribute(ArrayOf(Int))),
    "the same instants": (
        attribute(DateTime, minimum=dt.datetime(2026, 1, 1, 2, tzinfo=dt.timezone(dt.timedelta(hours=2)))),
        attribute(DateTime, minimum=dt.datetime(2026, 1, 1, tzinfo=dt.UTC)),
    ),
    "a range into a nullable one": (
        attribute(Int, maximum=5),
        attribute(Nullable(Int(maximum=5)), required=True),
    ),
}
FITS_NOT: Mapping[str, tuple[Attribute, Attribute]] = {
    "Float into Int": (attribute(Float), attribute(Int)),
    "larger enum": (attribute(STATE), attribute(ON)),
    "String into enum": (attribute(String), attribute(STATE)),
    "String into Url": (attribute(String), attribute(Url)),
    "Boolean into Int": (attribute(Boolean), attribute(Int)),
    "Date into DateTime": (attribute(Date), attribute(DateTime)),
    "optional into required": (attribute(Int), attribute(Int, required=True)),
    "null into required": (attribute(Nullable(Int), required=True), attribute(Int, required=True)),
    "null items": (attribute(ArrayOf(Nullable(Int))), attribute(ArrayOf(Int))),
    "items": (attribute(ArrayOf(String)), attribute(ArrayOf(Int))),
    "array into map": (attribute(ArrayOf(Int)), attribute(MapOf(String, Int))),
    "object into scalar": (attribute(DEVICE), attribute(String)),
    "another tag": (attribute(OneOf("kind", a=DEVICE)), attribute(OneOf("type", a=DEVICE))),
    "unknown branch": (attribute(OneOf("kind", a=DEVICE)), attribute(OneOf("kind", b=DEVICE))),
}
ALLOWS_MORE: Mapping[str, tuple[Attribute, Attribute]] = {
    "maximum": (attribute(Int, maximum=100), attribute(Int, maximum=10)),
    "no maximum": (attribute(Int), attribute(Int, maximum=10)),
    "minimum": (attribute(Float, minimum=0), attribute(Float, minimum=0.5)),
    "exclusive maximum": (attribute(Float, maximum=1), attribute(Float, exclusive_maximum=1)),
    "exclusive minimum": (attribute(Int, minimum=0), attribute(Float, exclusive_minimum=0)),
    "multiple_of": (attribute(Int, multiple_of=3), attribute(Int, multiple_of=2)),
    "no multiple_of": (attribute(Float), attribute(Float, multiple_of=1)),
    "duration of another multiple": (
        attribute(Duration, multiple_of=dt.timedelta(hours=1)),
        attribute(Duration, multiple_of=dt.timedelta(hours=2)),
    ),
    "no multiple of decimals": (attribute(Decimal), attribute(Decimal, multiple_of=PythonDecimal(1))),
    "day": (attribute(Date, minimum=DAY), attribute(Date, exclusive_minimum=DAY)),
    "no last day": (attribute(Date, minimum=DAY), attribute(Date, minimum=DAY, maximum=DAY)),
    "duration": (
        attribute(Duration, maximum=dt.timedelta(hours=25)),
        attribute(Duration, maximum=dt.timedelta(days=1)),
    ),
    "min_length": (attribute(String), attribute(String, min_length=1)),
    "max_length": (attribute(String, max_length=6), attribute(String, max_length=5)),
    "another pattern": (attribute(String, pattern="^ab"), attribute(String, pattern="^a")),
    "no pattern": (attribute(String), attribute(String, pattern="^a")),
    "another format": (attribute(String, format="ipv4"), attribute(String, format="ipv6")),
    "Url into a short String": (attribute(Url), attribute(String, max_length=9)),
    "enum into a short String": (attribute(STATE), attribute(String, max_length=2)),
    "enum into an Int range": (attribute(Int, enum=(1, 2)), attribute(Int, maximum=1)),
    "items": (attribute(ArrayOf(String)), attribute(ArrayOf(String(max_length=5)))),
    "array length": (attribute(ArrayOf(Int)), attribute(ArrayOf(Int), max_length=3)),
    "items that may be the same": (attribute(ArrayOf(Int)), attribute(ArrayOf(Int), unique_items=True)),
    "map keys": (attribute(MapOf(String, Int)), attribute(MapOf(String(max_length=1), Int))),
    "map values": (attribute(MapOf(String, Int)), attribute(MapOf(String, Int(minimum=0)))),
    "map length": (attribute(MapOf(String, Int)), attribute(MapOf(String, Int), min_length=1)),
    "inside Nullable": (attribute(Nullable(Int)), attribute(Nullable(Int(minimum=0)))),
}


@pytest.mark.parametrize("case", FITS)
def test_types_that_fit(case: str) -> None:
    source, target = FITS[case]
    tool = bound(Method("m", "M.", Payload(target)), Tool("t", "T.", Args(source), BindTo("m")))
    assert tool.binding is not None
    assert filled(tool.binding.payload) == {"a": "a"}


@pytest.mark.parametrize("case", FITS_NOT)
def test_types_that_do_not_fit(case: str) -> None:
    source, target = FITS_NOT[case]
    tool = Tool("t", "T.", Args(source), BindTo("m"))
    assert codes(service(Method("m", "M.", Payload(target)), tool)) == ["bind-mismatch"]


@pytest.mark.parametrize("case", ALLOWS_MORE)
def test_constraints_that_allow_more_are_reported_on_both_sides(case: str) -> None:
    """Else a call would fail although the model did nothing wrong."""
    source, target = ALLOWS_MORE[case]
    taking = Tool("t", "T.", Args(source), BindTo("m"))
    assert codes(service(Method("m", "M.", Payload(target)), taking)) == ["bind-mismatch"]
    giving = Tool("t", "T.", Return(target), BindTo("m"))
    assert codes(service(Method("m", "M.", Result(source)), giving)) == ["bind-mismatch"]


def test_constraints_that_do_not_fit_are_shown_with_the_fix() -> None:
    """Also inside an object, with the path to it."""
    method = Method("m", "M.", Payload(attribute(Object(attribute(ArrayOf(Int, max_length=3))))))
    tool = Tool("t", "T.", Args(attribute(Object(attribute(ArrayOf(Int(maximum=5)))))), BindTo("m"))
    diagnostic = only(service(method, tool))
    assert diagnostic.message == (
        "argument 'a.a' of tool 't' is ArrayOf(Int(maximum=5)), "
        "but 'a.a' of method 'Devices.m' is ArrayOf(Int, max_length=3)"
    )
    assert diagnostic.hint == (
        "write d.ArrayOf(d.Int, max_length=3) in the tool, or d.ArrayOf(d.Int(maximum=5)) in the method"
    )


def test_nested_arguments_are_not_lost() -> None:
    """An argument's attribute reaches the method, or it is a diagnostic; a result may say less."""
    more = Object(Attribute("x", Int, "X."), Attribute("y", Int, "Y."))
    less = Object(Attribute("x", Int, "X."))
    method = Method("m", "M.", Payload(attribute(less)), Result(attribute(more)))
    assert codes(service(method, Tool("t", "T.", Args(attribute(more)), BindTo("m")))) == ["lost-argument"]
    assert codes(service(method, Tool("t", "T.", Return(attribute(less)), BindTo("m")))) == []
