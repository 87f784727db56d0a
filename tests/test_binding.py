"""How tools are bound to methods: what is inherited, what is computed, and what is lost."""

from typing import Any

from tests.checked import DEVICE, SESSION, bound, codes, filled, names, only, service
from toolgen.dsl import (
    Args,
    ArrayOf,
    Artifact,
    Attribute,
    BindTo,
    Boolean,
    BoundedResult,
    Design,
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
    build,
)
from toolgen.dsl.expr.tree import Choose, Each, OrNone, Rebuild, Same


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
    assert diagnostic.hint == "write d.Int(minimum=0, maximum=5): that is the length of 'rows'"


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
        "if 'devices' is meant, write rename={'devices': 'device'}; otherwise add "
        'd.Attribute("device", …) to '
        "the method's Result, or remove BindTo and return it from the executor"
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
            "'key' of method 'Devices.m' is sensitive, but argument 'key' of tool 'go' is not",
            "'code' of method 'Devices.m' is sensitive, but result field 'code' of tool 'go' is not",
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
            "but result field 'all[][].number' of tool 'go' is not"
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
            "'card' of method 'Devices.m' is sensitive, but artifact 'card' of tool 'go' is not"
        ]

    def test_nobody_is_shown_an_injected_field(self) -> None:
        method = Method(
            "m", "M.", Payload(Attribute("session_id", String, "S.", required=True, sensitive=True))
        )
        assert self.said(method, Args(), Inject("session_id")) == []
