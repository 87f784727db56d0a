"""What `build` makes of a right design: types, tools and texts, however deep they go."""

import datetime as dt
from pathlib import Path
from typing import Any as Anything

import pytest

from tests import golden
from tests.checked import DEVICE, SESSION, bound, built, codes, field_of, names, only, service
from tests.conftest import in_a_process
from tests.selection import first
from toolgen.codegen import generate
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
    Nullable,
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
from toolgen.dsl.evaluation.checks.arguments import well_typed
from toolgen.dsl.evaluation.report import Report
from toolgen.dsl.expr import tree
from toolgen.shapes.fields import ArrayType, EnumType, RefType, StringType, UnionType
from toolgen.shapes.tree.schema import object_schema


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
        filter_ = toolset.objects[1]
        assert filter_.inline
        assert filter_.fields[0].type == RefType(name="Device")
        assert toolset.tools[0].id == "assistant.devices.find"
        assert toolset.tools[0].facts.title == "Find"

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
        assert (tool.binding, tool.bounded, tool.facts.annotations, tool.facts.meta) == (None, None, {}, {})

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
        assert checked.tools[0].facts.tags == ("a", "b")
        assert checked.tools[0].facts.meta == {"order": 2, "icon": "x"}
        assert checked.tools[0].facts.annotations == {"read_only": True}
        assert checked.tools[0].facts.title == "Go!"

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

    def test_returned_counts_the_only_list(self) -> None:
        """Of several lists, or of none, only the executor knows which one it counts."""

        def items(*fields: Attribute) -> str | None:
            tool = Tool("go", "Go.", Return(*fields), BoundedResult())
            window = built(Service("a", "A.", Toolset("t", "T.", tool))).services[0].toolsets[0].tools[0]
            assert window.bounded is not None
            return window.bounded.items

        rows, more = Attribute("rows", ArrayOf(Int), "R."), Attribute("more", ArrayOf(DEVICE), "M.")
        null = Attribute("null", Nullable(ArrayOf(Int)), "N.")
        assert items(rows, Attribute("a", Int, "A.")) == "rows"
        assert items(null) == "null"
        assert items(rows, more) is items(rows, null) is items() is None

    def test_the_bounds_of_an_example_hold(self) -> None:
        """The contract of the result holds in what models are shown of it."""

        def wrong(paged: bool = False, **result: Anything) -> list[str]:
            cursor = Attribute("cursor", String, "C.")
            window = BoundedResult("cursor", "cursor") if paged else BoundedResult()
            rows = Return(Attribute("rows", ArrayOf(Int), "R.", required=True), cursor)
            example = Example({}, result={"rows": [1], "returned": 1, "truncated": False, **result})
            tool = Tool("go", "Go.", Args(cursor), rows, window, example)
            found = build(Design("home", "A home.", Service("a", "A.", Toolset("t", "T.", tool)))).diagnostics
            return [diagnostic.message.partition("does not fit: ")[2] for diagnostic in found]

        assert wrong() == wrong(total=1) == wrong(truncated=True, refinement_hint="Less.") == []
        assert wrong(paged=True, truncated=True, cursor="c") == []
        assert wrong(returned=2) == ["returned is 2, but the result has 1 item"]
        assert wrong(truncated=True, cursor="c") == [
            "truncated is true, but refinement_hint is not set, so the model cannot get the rest"
        ]
        assert wrong(rows=[], returned=0, total=3) == [
            "nothing was returned, so total must be 0 or unknown and truncated false"
        ]
        assert wrong(returned="1") == ["$.returned must be an integer, not a string"], "told once"

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

    def test_examples_of_a_type_stand_in_its_schema(self) -> None:
        """Where the type is referred to, and where it is the arguments or the result as it is."""
        day = Type("Day", "A day.", Attribute("date", Date, "Date."), Example({"date": dt.date(2026, 1, 31)}))
        more = Attribute("session_id", String, "Session.")
        session = Type("Call", "A call.", more, Example({"session_id": "s"}))
        method = Method("m", "M.", Payload(session), Result(day))
        tool = bound(method, Tool("go", "Go.", BindTo("m"), Inject("session_id")))
        examples = [{"date": "2026-01-31"}]
        assert object_schema(tool.result, {})["examples"] == examples
        assert "examples" not in object_schema(tool.payload, {})
        design = built(Type("Week", "A week.", Attribute("first", day, "Its first day.")))
        schema = object_schema(design.shared["Week"], design.shared)
        assert schema["$defs"] == {"Day": {**object_schema(design.shared["Day"], {}), "examples": examples}}


class TestDepth:
    """Python's stack ends somewhere; a design ends before."""

    @staticmethod
    def chain(length: int) -> list[Type]:
        last = Type(f"T{length}", "T.", Attribute("n", Int, "N."))
        return [
            *(Type(f"T{n}", "T.", Attribute("n", f"T{n + 1}", "N.")) for n in range(1, length)),
            last,
        ]

    @pytest.mark.parametrize("length", first([51, 250, 2000], 2))
    def test_a_long_chain_of_types_is_reported_once(self, length: int) -> None:
        """Neither examples nor bindings of it are followed."""
        types = self.chain(length)
        args = Args(Attribute("x", "T2", "X."))
        method = Method("m", "M.", Payload(Attribute("x", "T3", "X.")))
        tool = Tool("t", "T.", args, BindTo("m"), Example({"x": {}}))
        diagnostic = only(*types, service(method, tool))
        assert (diagnostic.code, diagnostic.message) == (
            "nested-too-deep",
            "attribute 'n' of 'T50' is more than 50 levels deep in 'T1'",
        )

    @pytest.mark.exhaustive
    def test_the_deepest_design_becomes_code_that_runs(self, tmp_path: Path) -> None:
        """pydantic follows the types too, from wherever it is called."""
        tool = Tool("go", "Go.", Args(Attribute("x", "T1", "X.")), Example({"x": {}}))
        design = built(*self.chain(49), Service("S", "S.", Toolset("ts", "T.", tool)))
        golden.write(tmp_path / "deepest", generate(design, module="design"))
        decode = "from deepest.s.toolsets.ts import codecs; codecs.GO_PAYLOAD.decode(b'{\"x\": {}}')"
        assert in_a_process(tmp_path, "-c", f"import sys; sys.path[:0] = ['.']; {decode}").stderr == ""

    def test_nested_arrays_count_as_levels(self) -> None:
        deep: Anything = Int
        for _ in range(60):
            deep = ArrayOf(deep)
        assert codes(Type("T", "T.", Attribute("deep", deep, "D."))) == ["nested-too-deep"]

    def test_a_cycle_of_many_types_has_the_depth_of_its_types(self) -> None:
        """A type counts once."""
        hub = [Attribute(f"a{n}", f"T{n}", "A.") for n in range(100)]
        spokes = [Type(f"T{n}", "T.", Attribute("hub", "Hub", "H.")) for n in range(100)]
        assert codes(Type("Hub", "H.", *hub), *spokes) == []


class TestTexts:
    def test_a_number_that_is_too_long_to_print(self) -> None:
        """It is a whole number, and says what is wrong with it."""
        diagnostic = only(Type("T", "T.", Attribute("x", Int, "X.", minimum=10**5000)))
        assert diagnostic.message == (
            "'minimum' of 'x' is a number of more than 4300 digits, not a whole number of up to 4300 digits"
        )

    def test_an_instant_needs_a_time_zone(self) -> None:
        """Also inside a value; the offset is not a matter of the text."""
        naive = dt.datetime(2026, 1, 31)  # noqa: DTZ001  # that is the mistake
        needs = "2026-01-31 00:00:00 needs a time zone: datetime(…, tzinfo=UTC)"
        assert needs in only(Type("T", "T.", Attribute("at", DateTime, "At.", default=naive))).message
        at = Attribute("at", ArrayOf(DateTime), "At.", examples=[[naive]])
        assert needs in only(Type("T", "T.", at)).message
        tool = Tool("t", "T.", Args(Attribute("at", DateTime, "At.")), Example({"at": naive}))
        assert needs in only(Service("S", "S.", Toolset("t", "T.", tool))).message

    def test_the_title_of_a_toolset_is_what_was_given(self) -> None:
        titled = Toolset("t", "T.", Tool("go", "Go."), title="Travel")
        plain = Toolset("u", "U.", Tool("go", "Go."))
        toolsets = built(Service("S", "S.", titled, plain)).services[0].toolsets
        assert [toolset.title for toolset in toolsets] == ["Travel", None]


def test_a_design_without_mistakes_is_built_without_a_copy_of_it() -> None:
    device = Type("Device", "A device.", Attribute("id", String, "Its id.", required=True))
    order = OneOf("by", name=Object(), place=Object())
    name, by = Attribute("name", String, "N."), Attribute("order", order, "O.")
    tool = Tool("find", "Find a device.", Args(name, by), Return(Attribute("of", device, "D.")), Tags("read"))
    design = Design("d", "D.", Service("s", "S.", Toolset("t", "T.", tool)))
    assert build(design).diagnostics == ()
    assert well_typed(design, Report()) is design
