"""How tools are bound to methods: what fits, what is computed, and what is lost."""

from collections.abc import Mapping

import pytest

from tests.checked import DEVICE, SESSION, bound, codes, filled, names, service
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
    Result,
    Return,
    String,
    Tool,
    Type,
    Url,
)
from toolgen.expr.tree import Choose, Each, OrNone, Rebuild, Same


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
        )
        tool = bound(Method("m", "M.", result), Tool("go", "Go.", BindTo("m"), BoundedResult()))
        assert names(tool.result) == ["devices", "returned", "truncated", "total", "refinement_hint"]
        assert tool.binding is not None
        assert filled(tool.binding.result) == {
            "devices": "devices",
            "returned": "returned",
            "truncated": "truncated",
            "total": "total",
        }
        assert [one.computed for one in tool.binding.result.assignments] == [
            None,
            "returned",
            "truncated",
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
    "constraints are not compared": (attribute(Int, maximum=9), attribute(Int, maximum=5)),
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


def test_nested_arguments_are_not_lost() -> None:
    """An argument's attribute reaches the method, or it is a diagnostic; a result may say less."""
    more = Object(Attribute("x", Int, "X."), Attribute("y", Int, "Y."))
    less = Object(Attribute("x", Int, "X."))
    method = Method("m", "M.", Payload(attribute(less)), Result(attribute(more)))
    assert codes(service(method, Tool("t", "T.", Args(attribute(more)), BindTo("m")))) == ["lost-argument"]
    assert codes(service(method, Tool("t", "T.", Return(attribute(less)), BindTo("m")))) == []
