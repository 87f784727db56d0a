"""What `build` says of a wrong design: one mistake is one diagnostic, at its place."""

import datetime as dt
import os
from collections.abc import Callable
from decimal import Decimal as PythonDecimal
from pathlib import Path
from typing import Any as Anything

import pytest

from tests.checked import DEVICE, SESSION, codes, only, service
from toolgen.contract.findings import render
from toolgen.dsl import (
    Args,
    ArrayOf,
    Artifact,
    Attribute,
    BindTo,
    BoundedResult,
    Date,
    Decimal,
    Design,
    Duration,
    Example,
    Inject,
    Int,
    JSONSchema,
    Method,
    Nullable,
    Object,
    Payload,
    Result,
    Return,
    Service,
    String,
    Tool,
    Toolset,
    Type,
    build,
)


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

    def test_a_misnamed_injected_field_is_not_reported_through_examples(self) -> None:
        """What the model sends is not known; the result is."""
        result = Return(Attribute("n", Int, "N."))
        example = Example({"a": 1}, result={"n": 1})
        tool = Tool("t", "T.", Args(SESSION, Attribute("a", Int, "A.")), result, Inject("session"), example)
        assert codes(Service("S", "S.", Toolset("t", "T.", tool))) == ["unknown-inject"]
        wrong = Tool("t", "T.", result, Inject("session"), Example({}, result={"n": "x"}))
        assert codes(Service("S", "S.", Toolset("t", "T.", wrong))) == ["unknown-inject", "example-mismatch"]

    @pytest.mark.parametrize("broken", ["Nope", ArrayOf(Int)])
    def test_a_broken_clause_is_not_reported_through_what_hangs_on_it(self, broken: Anything) -> None:
        """Binding, injected fields, cursors, bounds, artifacts and examples wait for the repair."""
        wanted = Attribute("x", Int, "X.", required=True)
        rename, inject = {"y": "x"}, Inject("session_id")
        bounds = BoundedResult(cursor="cursor", next_cursor="next")
        example = Example({"a": 1}, result={"b": 2})
        for method, tool in (
            (Method("m", "M.", Result(broken)), Tool("t", "T.", Return(wanted), BindTo("m"))),
            (Method("m", "M.", Result(broken)), Tool("t", "T.", BindTo("m"), Artifact("d", DEVICE, "D."))),
            (Method("m", "M.", Payload(broken)), Tool("t", "T.", Args(wanted), BindTo("m"))),
            (Method("m", "M.", Payload(broken)), Tool("t", "T.", BindTo("m", rename=rename), inject)),
            (
                Method("m", "M.", Payload(broken), Result(broken)),
                Tool("t", "T.", BindTo("m"), bounds, example),
            ),
            (Method("n", "N."), Tool("t", "T.", Args(broken), Return(broken), inject, bounds, example)),
        ):
            found = build(Design("home", "A home.", service(method, tool))).diagnostics
            assert found
            assert {diagnostic.code for diagnostic in found} <= {"unknown-type", "not-an-object"}

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

    @pytest.mark.parametrize(
        "attribute",
        [
            Attribute("a", Date, "A.", minimum=dt.date(2026, 2, 1), default=dt.date(2026, 1, 31)),
            Attribute("a", Duration, "A.", exclusive_maximum=dt.timedelta(1), default=dt.timedelta(hours=24)),
            Attribute("a", Decimal, "A.", minimum=PythonDecimal("0.5"), default=PythonDecimal("0.49")),
            Attribute("a", Nullable(Int(maximum=1)), "A.", default=2),
        ],
    )
    def test_a_default_beyond_a_bound_is_out_of_range(self, attribute: Attribute) -> None:
        assert codes(service(Method("m", "M."), Tool("t", "T.", Args(attribute)))) == ["default-out-of-range"]

    def test_an_unknown_method_is_not_reported_through_inject_and_bounds(self) -> None:
        tool = Tool(
            "t", "T.", BindTo("n"), Inject("session_id"), BoundedResult(), Example({"a": 1}, result={"b": 2})
        )
        assert codes(service(Method("m", "M."), tool)) == ["unknown-method"]


@pytest.mark.parametrize(("name", "other"), [("a_b", "a__b"), ("a", "a_"), ("HTTPBin", "httpbin")])
def test_no_two_services_have_one_variable_for_their_credentials(name: str, other: str) -> None:
    diagnostic = only(Service(name, "S."), Service(other, "S."))
    assert diagnostic.code == "identifier-clash"
    assert diagnostic.message.endswith(" in the environment")


class TestIdentifiers:
    """Names that would stand twice in one module of the generated code."""

    @staticmethod
    def clash(toolset: str, *tools: Tool) -> str:
        diagnostic = only(Service("S", "S.", Toolset(toolset, "T.", *tools)))
        assert diagnostic.code == "identifier-clash"
        return diagnostic.message

    def test_codecs_of_different_classes_differ(self) -> None:
        """Classes differ by capitals, constants do not."""
        payload = Type("SEARCHPayload", "P.", Attribute("a", Int, "A."))
        assert self.clash("ts", Tool("search", "S.", Artifact("hits", payload, "H."))) == (
            "class 'SEARCHPayload' of artifact 'hits' of tool 'search' and the payload of tool 'search' "
            "both become 'SEARCH_PAYLOAD' in the codecs of toolset 'ts'"
        )
        logs = (Type("HTTPLog", "L."), Type("HttpLog", "L."))
        artifacts = [Artifact(f"log_{number}", log, "L.") for number, log in enumerate(logs)]
        assert "both become 'HTTP_LOG'" in self.clash("ts", Tool("go", "G.", *artifacts))

    def test_one_class_may_be_of_several_artifacts(self) -> None:
        tools = [Tool(name, "T.", Artifact("device", DEVICE, "D.")) for name in ("a", "b")]
        assert codes(Service("S", "S.", Toolset("ts", "T.", *tools))) == []

    def test_classes_differ_from_what_every_toolset_has(self) -> None:
        """Executors, `ToolId` and `SPECS` stand beside them in the package."""
        inline = Object(Attribute("a", Int, "A."))
        for toolset, tool, kind in (
            ("ts", "ts", "executor"),
            ("ts", "bound_ts", "executor"),
            ("ts", "tool", "id"),
            ("ts", "s", "p_e_c_s"),
        ):
            message = self.clash(toolset, Tool(tool, "T.", Artifact(kind, inline, "A.")))
            assert f"artifact {kind!r} and " in message

    def test_classes_differ_from_the_constants_of_specs(self) -> None:
        one = Tool("a", "A.", Artifact("b_c", Object(Attribute("a", Int, "A.")), "A."))
        assert "both become 'ABC'" in self.clash("ts", Tool("abc", "A."), one)

    def test_shared_types_stand_apart_from_the_package(self) -> None:
        """They are imported under the name of their module."""
        types = [Type(name, "T.") for name in ("GO", "SPECS", "ToolId", "TsExecutor")]
        assert codes(*types, Service("S", "S.", Toolset("ts", "T.", Tool("go", "G.")))) == []

    def test_no_service_is_called_as_an_argument_of_an_executor(self) -> None:
        diagnostic = only(Service("Self", "S."))
        assert (diagnostic.code, diagnostic.hint) == (
            "reserved-name",
            "choose another name, such as 'SelfService'",
        )


def test_diagnostics_are_in_the_order_of_the_file() -> None:
    """Also two on one line."""
    first, second = Attribute("a b", Int, "A."), Attribute("c d", Int, "C.")
    diagnostics = build(Design("home", "A home.", Type("T", "T.", second, first))).diagnostics
    assert ["a b" in diagnostic.message for diagnostic in diagnostics] == [True, False]
    assert diagnostics[0].place.line == diagnostics[1].place.line
    assert diagnostics[0].place.column < diagnostics[1].place.column


def test_places_without_columns_still_have_a_line() -> None:
    """A design may be compiled without columns, or run without a file."""
    names_: dict[str, object] = {}
    exec("from toolgen.dsl import *\ndesign = Design('home', '')", names_)
    (diagnostic,) = build(names_["design"]).diagnostics  # type: ignore[arg-type]  # made by exec
    assert render([diagnostic], "text", "/") == (
        "<string>:2:10: error: the design has no description [missing-description]\n"
        "  hint: describe it in one sentence; models choose and fill tools by their descriptions"
    )


def test_a_list_of_a_type_is_shown_without_addresses() -> None:
    for wrong, shown, hint in (
        ([DEVICE], "[Type('Device')]", "write d.ArrayOf(Device)"),
        (list[DEVICE], "list[Type('Device')]", "write d.ArrayOf(Device)"),  # type: ignore[valid-type]
        (
            {"of": String},
            "{'of': String(…)}",
            "write d.Object(d.Attribute('of', d.String, \"…\"))",
        ),
    ):
        design = Design("home", "A home.", Type("T", "T.", Attribute("a", wrong, "A.")))  # type: ignore[arg-type]
        (found,) = build(design).diagnostics
        assert (found.message, found.hint) == (f"the type of Attribute 'a' is {shown}, not a type", hint)


def test_a_schema_in_the_place_of_its_path_is_to_be_a_dict() -> None:
    tool = Tool("find", "Find.", Args(JSONSchema('{"type": "object"}')))
    design = Design("home", "A home.", Service("desk", "A desk.", Toolset("finds", "Find.", tool)))
    (found,) = build(design).diagnostics
    assert found.code == "unreadable-schema"
    assert found.hint == "write the schema as a dict, without quotes around it"


@pytest.mark.parametrize("put", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/zero")])
def test_a_schema_that_is_no_file_is_not_read(put: Callable[[Path], object], tmp_path: Path) -> None:
    put(tmp_path / "device.json")
    tool = Tool("t", "T.", Args(JSONSchema(str(tmp_path / "device.json"))))
    design = Design("home", "A home.", Service("desk", "A desk.", Toolset("finds", "Find.", tool)))
    (found,) = build(design).diagnostics
    assert (found.code, "device.json': it is not a regular file" in found.message) == (
        "unreadable-schema",
        True,
    )
