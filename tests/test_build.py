"""What `build` makes of a right design, and that one mistake is one diagnostic."""

import datetime as dt

from tests.checked import DEVICE, SESSION, bound, built, codes, field_of, names, service
from toolgen.contract.fields import (
    ArrayType,
    EnumType,
    RefType,
    StringType,
    UnionType,
)
from toolgen.dsl import (
    Annotations,
    Args,
    ArrayOf,
    Artifact,
    Attribute,
    BindTo,
    BoundedResult,
    Date,
    DateTime,
    Design,
    Enum,
    Example,
    Inject,
    Int,
    Meta,
    Method,
    Object,
    OneOf,
    Payload,
    Required,
    Result,
    Return,
    Service,
    String,
    Tags,
    Tool,
    Toolset,
    Type,
    build,
)
from toolgen.expr import tree


class TestTypes:
    def test_named_types_are_shared_and_payloads_are_local(self) -> None:
        """A type that is used is found without being listed; inline objects are named by their place."""
        tool = Tool(
            "find",
            "Find.",
            Args(Attribute("filter", Object(Attribute("device", DEVICE, "Device.")), "Filter.")),
        )
        design = built(Service("assistant", "Helps.", Toolset("devices", "Devices.", tool)))
        toolset = design.services[0].toolsets[0]
        assert [type_.name for type_ in design.types] == ["Device"]
        assert [type_.name for type_ in toolset.objects] == ["FindPayload", "FindPayloadFilter", "FindResult"]
        filter_ = design.objects(toolset)["FindPayloadFilter"]
        assert filter_.inline
        assert filter_.fields[0].type == RefType(name="Device")
        assert toolset.tools[0].id == "assistant.devices.find"
        assert toolset.tools[0].title == "Find"

    def test_types_refer_to_themselves_and_to_later_ones(self) -> None:
        """A name in quotes stands for the type."""
        tree_ = Type("Tree", "A tree.", Attribute("root", "Node", "Its root.", required=True))
        node = Type("Node", "A node.", Attribute("children", ArrayOf("Node"), "Children."))
        design = built(tree_, node)
        assert design.shared["Tree"].fields[0].type == RefType(name="Node")
        assert design.shared["Node"].fields[0].type == ArrayType(items=RefType(name="Node"))

    def test_branches_are_classes_with_the_tag_first(self) -> None:
        """A branch has the attributes of its type, also of one that refers back to the union."""
        stop = Type("Stop", "Stop.", Attribute("next", OneOf("kind", stop="Stop"), "Next step."))
        design = built(stop)
        branch = design.shared["StopNextStop"]
        assert names(branch) == ["kind", "next"]
        assert branch.fields[0].type == EnumType(values=("stop",))
        assert branch.fields[0].required
        assert branch.fields[1].type == UnionType(
            tag="kind", branches=(("stop", RefType(name="StopNextStop")),)
        )

    def test_constraints_of_attribute_and_type_come_together(self) -> None:
        """Constraints on an attribute are shorthand for those of its type."""
        attribute = Attribute("name", String(min_length=1), "Name.", max_length=9)
        assert built(Type("T", "T.", attribute)).shared["T"].fields[0].type == StringType(
            min_length=1, max_length=9
        )

    def test_enums_are_shared_by_name_and_values(self) -> None:
        """A named enumeration is one type wherever it stands."""
        state = Enum("State", "State.", "on", "off")
        design = built(Type("T", "T.", Attribute("a", state, "A."), Attribute("b", "State", "B.")))
        assert design.enums == (EnumType(name="State", values=("on", "off"), description="State."),)
        assert {field.type for field in design.shared["T"].fields} == set(design.enums)

    def test_required_names_attributes_beside_it(self) -> None:
        """`Required` is Goa's form of `required=True`."""
        design = built(Type("T", "T.", Required("a"), Attribute("a", Int, "A."), Attribute("b", Int, "B.")))
        assert [field.required for field in design.shared["T"].fields] == [True, False]

    def test_defaults_and_examples_are_json(self) -> None:
        """Values of Python stand in the tree as JSON."""
        instant = dt.datetime(2026, 1, 31, tzinfo=dt.UTC)
        attribute = Attribute("at", DateTime, "Instant.", default=instant, examples=[instant])
        field = built(Type("T", "T.", attribute)).shared["T"].fields[0]
        assert field.default == "2026-01-31T00:00:00Z"
        assert field.examples == ("2026-01-31T00:00:00Z",)

    def test_descriptions_lose_their_indentation(self) -> None:
        """A description over several lines is cleaned like a docstring."""
        text = """First line.

            Indented.
        """
        assert built(Type("T", text)).shared["T"].description == "First line.\n\nIndented."


class TestTools:
    def test_a_tool_without_clauses_takes_and_gives_nothing(self) -> None:
        """Payload and result are objects without attributes."""
        tool = (
            built(Service("a", "A.", Toolset("t", "T.", Tool("go", "Go.")))).services[0].toolsets[0].tools[0]
        )
        assert (tool.payload.fields, tool.result.fields) == ((), ())
        assert (tool.binding, tool.bounded, tool.annotations, tool.meta) == (None, None, None, None)

    def test_one_type_lends_its_attributes(self) -> None:
        """`Args(Type)` makes the tool's own class with the type's fields."""
        tool = bound(Method("m", "M."), Tool("go", "Go.", Args(DEVICE), Return("Device")))
        assert tool.payload.name == "GoPayload"
        assert tool.payload.description == "A device."
        assert names(tool.payload) == names(tool.result) == ["id"]

    def test_tags_and_meta_of_the_toolset_come_first(self) -> None:
        """A tool adds to what its toolset says."""
        tool = Tool("go", "Go.", Tags("b", "a"), Meta(order=2), Annotations(read_only=True), title="Go!")
        toolset = Toolset("t", "T.", Tags("a"), Meta(order=1, icon="x"), tool, prefix="my_")
        checked = built(Service("a", "A.", toolset)).services[0].toolsets[0]
        assert checked.prefix == "my_"
        assert checked.tools[0].tags == ("a", "b")
        assert checked.tools[0].meta == {"order": 2, "icon": "x"}
        assert checked.tools[0].annotations == {"read_only": True}
        assert checked.tools[0].title == "Go!"

    def test_injected_fields_leave_the_payload(self) -> None:
        """The model never sees them."""
        tool = Tool("go", "Go.", Args(SESSION, Attribute("a", Int, "A.")), Inject("session_id"))
        checked = built(Service("a", "A.", Toolset("t", "T.", tool))).services[0].toolsets[0].tools[0]
        assert names(checked.payload) == ["a"]
        assert [field.name for field in checked.injected] == ["session_id"]

    def test_bounds_are_added_where_they_are_missing(self) -> None:
        """What the author wrote stays where it is."""
        tool = Tool("go", "Go.", Return(Attribute("total", Int, "All of them.")), BoundedResult())
        result = built(Service("a", "A.", Toolset("t", "T.", tool))).services[0].toolsets[0].tools[0].result
        assert names(result) == ["total", "returned", "truncated", "refinement_hint"]
        assert field_of(result, "total").description == "All of them."
        assert [field.required for field in result.fields] == [False, True, True, False]

    def test_artifacts_are_objects(self) -> None:
        """A named type is shared, an inline one is the tool's own."""
        tool = Tool(
            "go",
            "Go.",
            Artifact("device", DEVICE, "D."),
            Artifact("plan", Object(Attribute("a", Int, "A.")), "P."),
        )
        toolset = built(Service("a", "A.", Toolset("t", "T.", tool))).services[0].toolsets[0]
        assert [artifact.type for artifact in toolset.tools[0].artifacts] == ["Device", "GoPlan"]
        assert [type_.name for type_ in toolset.objects] == ["GoPayload", "GoPlan", "GoResult"]

    def test_examples_are_checked_and_kept(self) -> None:
        """An example is JSON that the schema accepts."""
        tool = Tool(
            "go",
            "Go.",
            Args(Attribute("day", Date, "Day.", required=True)),
            Return(Attribute("n", Int, "N.")),
            Example({"day": dt.date(2026, 1, 31)}, result={"n": 1}),
        )
        checked = built(Service("a", "A.", Toolset("t", "T.", tool))).services[0].toolsets[0].tools[0]
        assert checked.examples == (tree.Example(args={"day": "2026-01-31"}, result={"n": 1}),)


class TestOneMistakeOneDiagnostic:
    """The three changes that the issue names, and what hangs on them."""

    def test_a_required_field_is_removed_from_the_payload(self) -> None:
        tool = Tool("t", "T.", Args(Attribute("site", String, "S.", required=True)), BindTo("m"))
        assert codes(service(Method("m", "M.", Payload()), tool)) == ["lost-argument"]

    def test_a_payload_field_is_renamed(self) -> None:
        method = Method("m", "M.", Payload(Attribute("site_id", String, "S.", required=True)))
        tool = Tool("t", "T.", Args(Attribute("site", String, "S.", required=True)), BindTo("m"))
        (diagnostic,) = build(Design("home", "A home.", service(method, tool))).diagnostics
        assert diagnostic.code == "unfilled-payload-field"
        assert "rename={'site_id': 'site'}" in diagnostic.hint

    def test_an_injected_field_is_renamed(self) -> None:
        method = Method("m", "M.", Payload(Attribute("session", String, "S.", required=True)))
        tool = Tool("t", "T.", BindTo("m"), Inject("session_id"))
        (diagnostic,) = build(Design("home", "A home.", service(method, tool))).diagnostics
        assert diagnostic.code == "unknown-inject"
        assert diagnostic.hint == "did you mean 'session'?"

    def test_a_broken_type_is_not_reported_through_its_users(self) -> None:
        broken = Type("Broken", "B.", Attribute("a", String, "A.", pattern="["))
        method = Method("m", "M.", Payload(broken), Result(Attribute("b", broken, "B.")))
        result = Return(Attribute("b", broken, "B.", default={"a": 1}))
        tool = Tool("t", "T.", Args(Attribute("a", Int, "A.")), result, BindTo("m"), Example({"a": 1}))
        assert codes(service(method, tool)) == ["bad-pattern"]

    def test_a_wrong_default_is_still_a_default(self) -> None:
        method = Method("m", "M.", Payload(Attribute("a", Int, "A.", required=True)))
        args = Args(Attribute("a", Int, "A.", maximum=1, default=2))
        assert codes(service(method, Tool("t", "T.", args, BindTo("m")))) == ["default-out-of-range"]

    def test_an_unknown_method_is_not_reported_through_inject_and_bounds(self) -> None:
        tool = Tool(
            "t", "T.", BindTo("n"), Inject("session_id"), BoundedResult(), Example({"a": 1}, result={"b": 2})
        )
        assert codes(service(Method("m", "M."), tool)) == ["unknown-method"]


def test_diagnostics_are_in_the_order_of_the_file() -> None:
    """Also two on one line."""
    first, second = Attribute("a b", Int, "A."), Attribute("c d", Int, "C.")
    diagnostics = build(Design("home", "A home.", Type("T", "T.", second, first))).diagnostics
    assert ["a b" in diagnostic.message for diagnostic in diagnostics] == [True, False]
    assert diagnostics[0].source.line == diagnostics[1].source.line
    assert diagnostics[0].source.column < diagnostics[1].source.column


def test_places_without_columns_still_have_a_line() -> None:
    """A design may be compiled without columns, or run without a file."""
    names_: dict[str, object] = {}
    exec("from toolgen.dsl import *\ndesign = Design('home', '')", names_)
    (diagnostic,) = build(names_["design"]).diagnostics  # type: ignore[arg-type]  # made by exec
    assert diagnostic.render("/") == (
        "<string>:2:10: error: the design has no description [missing-description]\n"
        "  hint: say in one sentence what it is; models choose and fill tools by their descriptions"
    )
