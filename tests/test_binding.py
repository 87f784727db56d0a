"""How tools are bound to methods: what fits, what is computed, and what is lost."""

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal as PythonDecimal
from typing import Any

import pytest

from tests.checked import DEVICE, SESSION, bound, codes, filled, names, only, service
from toolgen.dsl import (
    Args,
    ArrayOf,
    Artifact,
    Attribute,
    BindTo,
    Boolean,
    BoundedResult,
    Date,
    DateTime,
    Decimal,
    Design,
    Duration,
    Enum,
    Float,
    Inject,
    Int,
    MapOf,
    Method,
    Nullable,
    Object,
    OneOf,
    Payload,
    Required,
    Result,
    Return,
    String,
    Tool,
    Type,
    Url,
    build,
)
from toolgen.expr.tree import Choose, Each, OrNone, Rebuild, Same

DAY = dt.date(2026, 1, 31)


class TestBinding:
    def test_args_and_return_are_inherited(self) -> None:
        """The tool takes what its method takes, less what the server fills, under its own names."""
        method = Method(
            "find",
            "Find.",
            Payload(SESSION, Attribute("nick_name", String, "Name.", required=True)),
            Result(Attribute("device", DEVICE, "Device."), Attribute("hits", Int, "Hits.", required=True)),
        )
        rename = {"nick_name": "name", "hits": "count"}
        tool = bound(method, Tool("go", "Go.", BindTo("find", rename=rename), Inject("session_id")))
        assert names(tool.payload) == ["name"]
        assert names(tool.result) == ["device", "count"]
        assert tool.binding is not None
        assert filled(tool.binding.payload) == {"session_id": "session_id", "nick_name": "name"}
        assert filled(tool.binding.result) == {"device": "device", "count": "hits"}

    def test_an_injected_field_may_come_from_the_method_alone(self) -> None:
        """Args need not repeat what only the method takes; the server fills it, so it is required."""
        optional = Attribute("session_id", String, "Session.")
        method = Method("find", "Find.", Payload(optional, Attribute("name", String, "Name.")))
        args = Args(Attribute("name", String, "Name."))
        tool = bound(method, Tool("go", "Go.", args, BindTo("Devices", "find"), Inject("session_id")))
        assert [(field.name, field.required) for field in tool.injected] == [("session_id", True)]

    def test_artifacts_are_filled_from_the_result(self) -> None:
        """The field leaves what the model sees."""
        result = Result(Attribute("device", DEVICE, "Device."), Attribute("count", Int, "Count."))
        tool = bound(
            Method("m", "M.", result), Tool("go", "Go.", BindTo("m"), Artifact("device", DEVICE, "D."))
        )
        assert names(tool.result) == ["count"]
        assert tool.binding is not None
        assert [(one.kind, one.source.name) for one in tool.binding.artifacts] == [("device", "device")]

    def test_bounds_are_computed(self) -> None:
        """`returned` is the length of the only array, `truncated` follows from total or cursor."""
        result = Result(
            Attribute("devices", ArrayOf(DEVICE), "Devices.", required=True),
            Attribute("total", Int, "All.", required=True),
            Attribute("refinement_hint", String, "Ask for less."),
        )
        tool = bound(Method("m", "M.", result), Tool("go", "Go.", BindTo("m"), BoundedResult()))
        assert names(tool.result) == ["devices", "returned", "truncated", "total", "refinement_hint"]
        assert tool.binding is not None
        assert filled(tool.binding.result) == {
            "devices": "devices",
            "returned": "returned",
            "truncated": "truncated",
            "total": "total",
            "refinement_hint": "refinement_hint",
        }
        assert tool.bounded is not None
        assert tool.bounded.items == "devices"
        assert [one.computed for one in tool.binding.result.assignments] == [
            None,
            "returned",
            "truncated",
            None,
            None,
        ]

    def test_nested_objects_are_rebuilt_once(self) -> None:
        """A recursive inline shape of method and tool maps by one function for each pair."""
        there = Type(
            "There",
            "T.",
            Attribute("next", "There", "Next."),
            Attribute("n", Int, "N."),
            Attribute("m", Int, "M."),
        )
        here = Type("Here", "H.", Attribute("next", "Here", "Next."), Attribute("n", Float, "N."))
        tool = bound(
            Method("m", "M.", Result(Attribute("all", ArrayOf(there), "All.", required=True))),
            Tool("go", "Go.", BindTo("m"), Return(Attribute("all", ArrayOf(here), "All.", required=True))),
        )
        assert tool.binding is not None
        rebuild = Rebuild(source="There", target="Here")
        assert tool.binding.result.assignments[0].conversion == Each(of=rebuild, container="array")
        (mapping,) = tool.binding.result_objects
        assert [(one.target.name, one.conversion) for one in mapping.assignments] == [
            ("next", OrNone(of=rebuild)),
            ("n", Same()),
        ]

    def test_unions_are_rebuilt_branch_by_branch(self) -> None:
        """The classes of method and tool differ, the tags are the same."""
        method = Method("m", "M.", Payload(Attribute("do", OneOf("kind", stop=DEVICE, go=DEVICE), "Do.")))
        tool = bound(
            method, Tool("t", "T.", BindTo("m"), Args(Attribute("do", OneOf("kind", stop=DEVICE), "Do.")))
        )
        assert tool.binding is not None
        assert tool.binding.payload.assignments[0].conversion == OrNone(
            of=Choose(branches=(Rebuild(source="TPayloadDoStop", target="MPayloadDoStop"),))
        )


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
        "write ArrayOf(Int, max_length=3) in the tool, or ArrayOf(Int(maximum=5)) in the method"
    )


def test_a_next_cursor_that_is_always_there_says_nothing() -> None:
    """`truncated` would be True on the last page too; the total says more."""
    cursor, rows = Attribute("cursor", String, "C."), Attribute("rows", ArrayOf(Int), "R.", required=True)
    always = Attribute("next", String, "N.", required=True)
    null = Attribute("next", Nullable(String), "N.", required=True)
    total = Attribute("total", Int, "T.", required=True)
    tool = Tool(
        "t",
        "T.",
        Args(cursor),
        Return(rows, Attribute("next", String, "N.")),
        BoundedResult("cursor", "next"),
        BindTo("m"),
    )
    diagnostic = only(service(Method("m", "M.", Payload(cursor), Result(rows, always)), tool))
    assert diagnostic.code == "bounds-not-computable"
    assert diagnostic.hint.endswith("or make 'next' optional there: the last page has no next cursor")
    assert codes(service(Method("m", "M.", Payload(cursor), Result(rows, null)), tool)) == []
    assert codes(service(Method("m", "M.", Payload(cursor), Result(rows, always, total)), tool)) == []


def test_what_is_computed_fits_too() -> None:
    """The number of rows is as large as their array may be long."""
    few = Attribute("rows", ArrayOf(Int, max_length=5), "R.", required=True)
    total = Attribute("total", Int, "T.", required=True)
    hint = Attribute("refinement_hint", String, "H.")
    method = Method("m", "M.", Result(few, total, hint))

    def tool(most: int) -> Tool:
        returned = Attribute("returned", Int, "R.", required=True, maximum=most)
        return Tool("t", "T.", Return(few, total, returned), BoundedResult(), BindTo("m"))

    assert codes(service(method, tool(5))) == []
    diagnostic = only(service(method, tool(4)))
    assert diagnostic.code == "bounds-not-computable"
    assert diagnostic.hint == "write Int(minimum=0, maximum=5): that is the length of 'rows'"


def test_what_is_left_out_can_be_asked_for() -> None:
    """A method has a refinement hint, or the next cursor of its tool; a broken rename is the one mistake."""
    rows, total = Attribute("rows", ArrayOf(Int), "R.", required=True), Attribute("total", Int, "T.")
    truncated = Attribute("truncated", Boolean, "T.", required=True)
    hint, cursor = Attribute("hint", String, "H."), Attribute("cursor", String, "C.")
    pages = (Args(cursor), Return(rows, cursor), BoundedResult("cursor", "cursor"))

    def found(*result: Attribute, clauses: tuple[Any, ...] = (BoundedResult(),), **rename: str) -> list[str]:
        method = Method("m", "M.", Payload(cursor), Result(rows, total, truncated, *result))
        args = () if len(clauses) > 1 else (Args(cursor),)
        return codes(service(method, Tool("t", "T.", BindTo("m", rename=rename), *args, *clauses)))

    assert found() == ["bounds-not-refinable"]
    assert found(hint) == ["bounds-not-refinable"]
    assert found(hint, hint="refinement_hint") == []
    assert found(cursor) == ["bounds-not-refinable"], "a cursor that the tool does not declare leads nowhere"
    assert found(clauses=pages) == ["bounds-not-refinable"]
    assert found(cursor, clauses=pages) == []
    assert found(hint, hnt="refinement_hint") == ["bad-rename"]


def test_an_artifact_that_nothing_fills_is_reported() -> None:
    """By name or by `rename` it is filled; a broken rename is the one mistake."""
    method = Method("m", "M.", Result(Attribute("devices", DEVICE, "D.")))

    def tool(**rename: str) -> Tool:
        return Tool("t", "T.", BindTo("m", rename=rename), Artifact("device", DEVICE, "D."))

    diagnostic = only(service(method, tool()))
    assert diagnostic.code == "unfilled-artifact"
    assert diagnostic.hint == (
        "if 'devices' is meant, write rename={'devices': 'device'}; else add Attribute(\"device\", …) to the "
        "method's Result, or remove BindTo and give it in the executor"
    )
    assert codes(service(method, tool(devices="device"))) == []
    assert codes(service(method, tool(device="device"))) == ["bad-rename"]


def test_no_hint_asks_for_what_another_rule_forbids() -> None:
    """A bound is always there in the tool, a cursor is optional in it."""
    rows, total = Attribute("rows", ArrayOf(Int), "R.", required=True), Attribute("total", Int, "T.")
    hint = Attribute("refinement_hint", String, "H.")
    method = Method("m", "M.", Result(rows, total, hint, Attribute("truncated", Boolean, "T.")))
    tool = Tool("t", "T.", Return(rows, total), BoundedResult(), BindTo("m"))
    assert only(service(method, tool)).hint == "add required=True or a default to the result field"
    cursor = Attribute("cursor", String, "C.")
    method = Method("m", "M.", Payload(Required("cursor"), cursor), Result(rows, cursor))
    bounds = BoundedResult(cursor="cursor", next_cursor="cursor")
    tool = Tool("t", "T.", Args(cursor), Return(rows, cursor), bounds, BindTo("m"))
    assert only(service(method, tool)).hint == "make 'cursor' optional in the method"


def test_nested_arguments_are_not_lost() -> None:
    """An argument's attribute reaches the method, or it is a diagnostic; a result may say less."""
    more = Object(Attribute("x", Int, "X."), Attribute("y", Int, "Y."))
    less = Object(Attribute("x", Int, "X."))
    method = Method("m", "M.", Payload(attribute(less)), Result(attribute(more)))
    assert codes(service(method, Tool("t", "T.", Args(attribute(more)), BindTo("m")))) == ["lost-argument"]
    assert codes(service(method, Tool("t", "T.", Return(attribute(less)), BindTo("m")))) == []


class TestSensitiveFields:
    """What a method calls sensitive, a tool with its own Args and Return has to call so too."""

    CARD = Type("Card", "A card.", Attribute("number", String, "Number.", sensitive=True))

    def said(self, method: Method, *clauses: Any) -> list[str]:
        tool = Tool("go", "Go.", BindTo("m"), *clauses)
        return [one.message for one in build(Design("home", "A home.", service(method, tool))).diagnostics]

    def test_fields_that_are_not_marked(self) -> None:
        key = Attribute("key", String, "Key.", sensitive=True)
        method = Method("m", "M.", Payload(key), Result(Attribute("code", String, "Code.", sensitive=True)))
        args, given = Args(Attribute("key", String, "Key.")), Return(Attribute("code", String, "Code."))
        assert self.said(method, args, given) == [
            "'key' of method 'Devices.m' is sensitive, and argument 'key' of tool 'go' is not",
            "'code' of method 'Devices.m' is sensitive, and result field 'code' of tool 'go' is not",
        ]
        assert self.said(method) == []
        marked = Return(Attribute("code", String, "Code.", sensitive=True))
        assert self.said(method, Args(key), marked) == []

    def test_fields_deep_in_types(self) -> None:
        plain = Object(Attribute("number", String, "Number."), Attribute("holder", String, "Whose."))
        given = Type(
            "Given",
            "Given.",
            Attribute("number", String, "N.", sensitive=True),
            Attribute("in", "Given", "I."),
        )
        other = Type("Other", "Other.", Attribute("number", String, "N."), Attribute("in", "Other", "I."))
        types = (ArrayOf(MapOf(String, Nullable(given))), ArrayOf(MapOf(String, Nullable(other))))
        method = Method("m", "M.", Result(Attribute("all", types[0], "All.")))
        assert self.said(method, Return(Attribute("all", types[1], "All."))) == [
            "'all[][].number' of method 'Devices.m' is sensitive, "
            "and result field 'all[][].number' of tool 'go' is not"
        ]
        assert self.said(method, Return(Attribute("all", types[1], "All.", sensitive=True))) == []
        assert self.said(method, Return(Attribute("all", types[0], "All."))) == []
        either = OneOf("kind", card=self.CARD, cash=Object(Attribute("sum", Int, "Sum.")))
        shown = OneOf("kind", card=plain, cash=Object(Attribute("sum", Int, "Sum.")))
        method = Method("m", "M.", Result(Attribute("by", either, "By.")))
        assert len(self.said(method, Return(Attribute("by", shown, "By.")))) == 1

    def test_a_whole_object_is_sensitive_by_its_attributes(self) -> None:
        method = Method("m", "M.", Result(Attribute("card", self.CARD, "Card.", sensitive=True)))
        assert self.said(method, Artifact("card", self.CARD, "Card."), Return()) == []
        plain = Type("Plain", "Plain.", Attribute("number", String, "Number."))
        method = Method("m", "M.", Result(Attribute("card", plain, "Card.", sensitive=True)))
        assert self.said(method, Artifact("card", plain, "Card."), Return()) == [
            "'card' of method 'Devices.m' is sensitive, and artifact 'card' of tool 'go' is not"
        ]

    def test_nobody_is_shown_an_injected_field(self) -> None:
        method = Method(
            "m", "M.", Payload(Attribute("session_id", String, "S.", required=True, sensitive=True))
        )
        assert self.said(method, Args(), Inject("session_id")) == []
