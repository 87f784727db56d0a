"""Changes of a design, each with whom it breaks, and the way back.

The rows are those of the table of changes, more than one for most. A small letter breaks in behaviour.
"""

# ruff: noqa: E501  # a row is a line

from __future__ import annotations

import decimal
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from toolgen.catalog import parse_catalog
from toolgen.checks.compatibility import (
    ContractChange,
    SuspendedCallRecord,
    compare,
    contract_of,
    suspended_call_changes,
)
from toolgen.codegen import generate
from toolgen.dsl import (
    Agent,
    Annotations,
    Args,
    ArrayOf,
    Artifact,
    Attribute,
    Bookkeeping,
    BoundedResult,
    Completion,
    Confirm,
    Date,
    Decimal,
    Deprecated,
    Design,
    Error,
    Export,
    Float,
    Inject,
    Int,
    LongRunning,
    NativeTool,
    Object,
    Return,
    RunPolicy,
    Sequential,
    Service,
    String,
    Timeout,
    Tool,
    Toolset,
    Type,
    Use,
    build,
)

SITE = Attribute("site", String, "Site.", required=True)
LIMIT = Attribute("limit", Int, "Most to return.", minimum=1, maximum=500, default=50)
ARGS = Args(SITE, LIMIT)
COUNT = Attribute("count", Int, "How many.", required=True, minimum=0, maximum=100)
RETURN = Return(COUNT)
OPEN = Return(COUNT, open=True)
Rows = Type("Rows", "Rows.", Attribute("rows", Int, "How many.", required=True, maximum=10))
LooseRows = Type("Rows", "Rows.", Attribute("rows", Int, "How many.", required=True, maximum=20))

NotedRows = Type(
    "Rows",
    "Rows.",
    Attribute("rows", Int, "How many.", required=True, maximum=10),
    Attribute("note", String, "Note."),
)


def args(*more: Attribute) -> Args:
    return Args(SITE, *more)


def depth(**more: Any) -> Object:
    """Return an object with a key, which has these facts."""
    return Object(Attribute("depth", Int, "How deep.", **more))


def tool(*children: Any, name: str = "list", arguments: Any = ARGS, returns: Any = RETURN) -> Tool:
    return Tool(name, "List devices.", arguments, returns, *children)


def designed(*tools: Any, toolset: str = "devices") -> Service:
    return Service("desk", "A desk.", Toolset(toolset, "Devices.", *tools))


def used(
    *tools: Tool,
    only: tuple[str, ...] = (),
    prefix: str = "",
    offered: tuple[Export, ...] = (),
    toolset: str = "devices",
    confirm: Mapping[str, Confirm] | Sequence[str] | None = None,
) -> Service:
    devices = Toolset(toolset, "Devices.", *tools)
    facts: dict[str, Any] = {"only": only, "confirm": confirm}
    use = Use(devices, prefix=prefix, **{name: value for name, value in facts.items() if value})
    return Service("desk", "A desk.", devices, Agent("clerk", "A clerk.", use, *offered))


def run_by(*policy: RunPolicy) -> Service:
    """Return a service with an agent whose runs have these limits."""
    return Service("desk", "A desk.", DEVICES, Agent("clerk", "A clerk.", Use(DEVICES), *policy))


def completed(*more: Attribute) -> Service:
    return Service("desk", "A desk.", Completion("sum", "A sum.", Return(COUNT, *more)))


def exported() -> Service:
    """Return a service whose agent offers a toolset to others."""
    checks = Toolset("checks", "Look into faults.", Tool("probe", "Probe the site.", Args(SITE), RETURN))
    return used(tool(), offered=(Export(checks),))


def contract(service: Service) -> Any:
    evaluation = build(Design("home", "A home.", service))
    assert evaluation.design is not None, [each.message for each in evaluation.diagnostics]
    texts = generate(evaluation.design, module="d")
    return contract_of(parse_catalog(json.loads(texts["tool_schemas.json"])))


DEVICES = Toolset("devices", "Devices.", tool())
QUIET = {"text-changed", "approval-invalidated"}


def verdict(changes: list[ContractChange]) -> dict[str, str]:
    """Return whom each change breaks, by its code, but for words."""
    return {each.code: each.breaks for each in changes if each.code not in QUIET}


Row = tuple[str, Callable[[], Service], Callable[[], Service], dict[str, str], dict[str, str]]


def row(
    name: str, before: Tool | Service, after: Tool | Service, there: dict[str, str], back: dict[str, str]
) -> Any:
    def made(side: Tool | Service) -> Service:
        return side if isinstance(side, Service) else designed(side)

    return pytest.param(made(before), made(after), there, back, id=name)


TWO = tool(name="count")
ADDED = Attribute("kind", String, "Kind.")
NEEDED = Attribute("kind", String, "Kind.", required=True)
ENUM_2 = Attribute("state", String, "State.", enum=("on", "off"))
ENUM_3 = Attribute("state", String, "State.", enum=("on", "off", "dim"))

Seen = Type("Seen", "Seen.", Attribute("pin", String, "Pin."))
Masked = Type("Seen", "Seen.", Attribute("pin", String, "Pin.", sensitive=True))
MASKED_AROUND = Attribute("who", Object(Attribute("pin", String, "Pin.")), "Who.", sensitive=True)
MASKED_INSIDE = Attribute("who", Object(Attribute("pin", String, "Pin.", sensitive=True)), "Who.")

ROWS = [
    row("tool removed", designed(tool(), TWO), designed(tool()), {"tool-removed": "CWS"}, {"tool-added": ""}),
    row("id changed", designed(tool()), designed(tool(), toolset="things"), {"tool-moved": "WS"}, {"tool-moved": "WS"}),
    row("optional argument", tool(), tool(arguments=args(LIMIT, ADDED)), {"argument-added": ""}, {"argument-removed": "CS"}),
    row("required argument", tool(), tool(arguments=args(LIMIT, NEEDED)), {"argument-added-required": "CWS"}, {"argument-removed": "CS"}),
    row("made required", tool(arguments=args(ADDED)), tool(arguments=args(NEEDED)), {"argument-required": "CWS"}, {"argument-optional": "S"}),
    row("a default given", tool(arguments=args(NEEDED)), tool(arguments=args(Attribute("kind", String, "Kind.", default="any"))), {"argument-defaulted": ""}, {"argument-required": "CWS"}),
    row("renamed", tool(), tool(arguments=Args(Attribute("site_id", String, "Site.", required=True), LIMIT)), {"argument-renamed": "CWS"}, {"argument-renamed": "CWS"}),
    row("limit lowered", tool(), tool(arguments=args(Attribute("limit", Int, "Most to return.", minimum=1, maximum=60, default=50))), {"argument-narrowed": "CW"}, {"limit-loosened": ""}),
    row("enum value gone", tool(arguments=args(ENUM_3)), tool(arguments=args(ENUM_2)), {"argument-narrowed": "CW"}, {"argument-widened": "S"}),
    row("type narrowed", tool(arguments=args(Attribute("n", Float, "N."))), tool(arguments=args(Attribute("n", Int, "N."))), {"argument-narrowed": "CW"}, {"argument-widened": "S"}),
    row("type changed", tool(arguments=args(Attribute("n", String, "N."))), tool(arguments=args(Attribute("n", Int, "N."))), {"argument-narrowed": "CW", "argument-widened": "S"}, {"argument-narrowed": "CW", "argument-widened": "S"}),
    row("pattern", tool(), tool(arguments=Args(Attribute("site", String, "Site.", required=True, pattern="^s-[0-9]+$"), LIMIT)), {"argument-narrowed": "CW"}, {"argument-widened": "S"}),
    row("asserted format", tool(arguments=args(ADDED)), tool(arguments=args(Attribute("kind", Date, "Kind."))), {"argument-narrowed": "CW"}, {"argument-widened": "S"}),
    row("closed", tool(arguments=Args(SITE, open=True)), tool(arguments=Args(SITE)), {"argument-narrowed": "CW"}, {"argument-widened": "S"}),
    row("decimal", tool(arguments=args(Attribute("p", Decimal, "P.", maximum=decimal.Decimal(10)))), tool(arguments=args(Attribute("p", Decimal, "P.", maximum=decimal.Decimal("9.50")))), {"argument-narrowed": "CW"}, {"limit-loosened": ""}),
    row("a limit of another type", tool(arguments=args(Attribute("n", Float, "N."))), tool(arguments=args(Attribute("n", Int, "N.", maximum=9))), {"argument-narrowed": "CW"}, {"argument-widened": "S", "limit-loosened": ""}),
    row("a limit and a list of values", tool(arguments=args(Attribute("n", Int, "N.", maximum=9))), tool(arguments=args(Attribute("n", Int, "N.", enum=(5, 50)))), {"argument-narrowed": "CW", "limit-loosened": ""}, {"argument-narrowed": "CW", "argument-widened": "S"}),
    row("a limit of items", tool(arguments=args(Attribute("n", ArrayOf(Int), "N."))), tool(arguments=args(Attribute("n", ArrayOf(Int), "N.", max_length=9))), {"argument-narrowed": "CW"}, {"limit-loosened": ""}),
    row("default", tool(), tool(arguments=args(Attribute("limit", Int, "Most to return.", minimum=1, maximum=500, default=20))), {"default-changed": "c"}, {"default-changed": "c"}),
    row("result field", tool(), tool(returns=Return(COUNT, Attribute("note", String, "Note."))), {"result-field-added": "R"}, {"result-field-removed": "RS"}),
    row("open result field", tool(returns=OPEN), tool(returns=Return(COUNT, Attribute("note", String, "Note."), open=True)), {"result-field-added": ""}, {"result-field-removed": "RS"}),
    row("result optional", tool(), tool(returns=Return(Attribute("count", Int, "How many.", minimum=0, maximum=100))), {"result-optional": "RS"}, {"result-required": "S"}),
    row("result widened", tool(), tool(returns=Return(Attribute("count", Int, "How many.", required=True, minimum=0, maximum=200))), {"result-widened": "R"}, {"result-narrowed": "S"}),
    row("result enum", tool(returns=Return(ENUM_2)), tool(returns=Return(ENUM_3)), {"result-widened": "R"}, {"result-narrowed": "S"}),
    row("bounded", tool(), tool(BoundedResult()), {"bounded-added": "RS"}, {"bounded-removed": "RS"}),
    row("artifact", tool(), tool(Artifact("rows", Rows, "Rows.")), {"artifact-added": ""}, {"artifact-removed": "RS"}),
    row("artifact's field", tool(Artifact("rows", NotedRows, "Rows.")), tool(Artifact("rows", Rows, "Rows.")), {"result-field-removed": "RS"}, {"artifact-widened": "R"}),
    row("error's field", tool(Error("gone", NotedRows, "It is gone.")), tool(Error("gone", Rows, "It is gone.")), {"result-field-removed": "RS"}, {"error-widened": "R"}),
    row("completion's field", completed(), completed(Attribute("note", String, "Note.")), {"completion-widened": "R"}, {"result-field-removed": "RS"}),
    row("artifact widened", tool(Artifact("rows", Rows, "Rows.")), tool(Artifact("rows", LooseRows, "Rows.")), {"artifact-widened": "R"}, {}),
    row("error", tool(), tool(Error("gone", None, "It is gone.")), {"error-added": "r"}, {"error-removed": "S"}),
    row("confirmation", tool(), tool(Confirm("List?")), {"confirmation-added": "cW"}, {"confirmation-removed": "w"}),
    row("grants", tool(Confirm("List?")), tool(Confirm("List?", grantable=True)), {"confirmation-narrowed": "w"}, {}),
    row("confirmation of an agent", used(tool()), used(tool(), confirm={"list": Confirm("List?")}), {"confirmation-added": "cW"}, {"confirmation-removed": "w"}),
    row("confirmation of a new agent", designed(tool(Confirm("List?"))), used(tool(Confirm("List?")), confirm={"list": Confirm("List?", when={"limit": (500,)})}), {"confirmation-narrowed": "w"}, {"agent-removed": "CWS"}),
    row("confirmation of an agent by name", used(tool()), used(tool(), confirm=["list"]), {"confirmation-added": "cW"}, {"confirmation-removed": "w"}),
    row("confirmation of an agent by the new id", used(tool()), used(tool(), toolset="things", confirm=["list"]), {"tool-moved": "WS", "confirmation-added": "cW"}, {"tool-moved": "WS", "confirmation-removed": "w"}),
    row("condition", tool(Confirm("List?", when={"limit": (500,)})), tool(Confirm("List?")), {"confirmation-added": "cW"}, {"confirmation-narrowed": "w"}),
    row("reach gained", tool(Annotations(open_world=False)), tool(Annotations(open_world=True)), {"hint-lost": "cW"}, {"hint-gained": ""}),
    row("read only lost", tool(Annotations(read_only=True)), tool(Annotations(destructive=False)), {"hint-lost": "cW"}, {"hint-gained": ""}),
    row("idempotent lost", tool(Annotations(idempotent=True)), tool(), {"hint-lost": "cW"}, {"hint-gained": ""}),
    row("destructive gained", tool(Annotations(destructive=False)), tool(Annotations(destructive=True)), {"hint-lost": "cW"}, {"hint-gained": ""}),
    row("injected", tool(), tool(Inject("site")), {"inject-added": "CS"}, {"inject-removed": "C"}),
    row("injected and gone", tool(Inject("site")), tool(arguments=Args(LIMIT)), {"inject-removed": ""}, {}),
    row("injected and optional", tool(Inject("site")), tool(arguments=Args(Attribute("site", String, "Site."), LIMIT)), {"inject-removed": "c"}, {"inject-added": "CS"}),
    row("long running", tool(), tool(LongRunning(ack=Object(Attribute("job", String, "Job.", required=True)))), {"long-running-added": "cR"}, {"long-running-removed": "r"}),
    row("deprecated", tool(), tool(Deprecated("It is old.")), {"deprecated": ""}, {}),
    row("time limit", tool(), tool(Timeout("5s")), {}, {"limit-loosened": ""}),
    row("time limit raised", tool(Timeout("5s")), tool(Timeout("6s")), {"limit-loosened": ""}, {}),
    row("sequential", tool(), tool(Sequential()), {}, {"limit-loosened": ""}),
    row("sequential by session", tool(Sequential()), tool(Sequential(by="session")), {"limit-loosened": ""}, {}),
    row("bookkeeping", tool(), tool(Bookkeeping()), {"limit-loosened": ""}, {}),
    row("limits of runs", run_by(RunPolicy(max_tool_calls=3, time_budget="5m")), run_by(RunPolicy(max_tool_calls=4, time_budget="4m")), {"limit-loosened": ""}, {"limit-loosened": ""}),
    row("a limit of runs gone", run_by(RunPolicy(max_tool_calls=3)), run_by(), {"limit-loosened": ""}, {}),
    row("sensitive", tool(arguments=args(ADDED)), tool(arguments=args(Attribute("kind", String, "Kind.", sensitive=True))), {"sensitive-added": ""}, {"sensitive-removed": ""}),
    row("default removed", tool(), tool(arguments=args(Attribute("limit", Int, "Most to return.", minimum=1, maximum=500))), {"default-removed": "cS"}, {"default-changed": "c"}),
    row("multiple of", tool(arguments=args(Attribute("n", Int, "N.", multiple_of=5))), tool(arguments=args(Attribute("n", Int, "N.", multiple_of=10))), {"argument-narrowed": "CW"}, {"argument-widened": "S"}),
    row("agent gone", used(tool()), designed(tool()), {"agent-removed": "CWS"}, {}),
    row("agent's name", used(tool()), used(tool(), prefix="desk_"), {"agent-tool-renamed": "CWS"}, {"agent-tool-renamed": "CWS"}),
    row("export gone", exported(), used(tool()), {"agent-export-removed": "CWS", "tool-removed": "CWS"}, {"tool-added": ""}),
    row("details of an error", tool(Error("gone", Rows, "It is gone.")), tool(Error("gone", LooseRows, "It is gone.")), {"error-widened": "R"}, {}),
    row("masks of artifacts", tool(Artifact("seen", Masked, "Seen.")), tool(Artifact("seen", Seen, "Seen.")), {"sensitive-removed": ""}, {"sensitive-added": ""}),
    row("masks of errors", tool(Error("seen", Masked, "Seen.")), tool(Error("seen", Seen, "Seen.")), {"sensitive-removed": ""}, {"sensitive-added": ""}),
    row("masks of acknowledgements", tool(LongRunning(ack=Masked)), tool(LongRunning(ack=Seen)), {"sensitive-removed": ""}, {"sensitive-added": ""}),
    row("masks of approvals", tool(Confirm("List?", payload=Masked)), tool(Confirm("List?", payload=Seen)), {"sensitive-removed": ""}, {"sensitive-added": ""}),
    row("a mask around", tool(arguments=args(MASKED_INSIDE)), tool(arguments=args(MASKED_AROUND)), {"sensitive-added": ""}, {"sensitive-removed": ""}),
    row("a masked field renamed", tool(arguments=Args(Attribute("pin", String, "Pin.", sensitive=True))), tool(arguments=Args(Attribute("code", String, "Pin."))), {"argument-renamed": "CWS", "sensitive-removed": ""}, {"argument-renamed": "CWS"}),
    row("masks of completions", completed(Attribute("pin", String, "Pin.", sensitive=True)), completed(Attribute("pin", String, "Pin.")), {"sensitive-removed": ""}, {"sensitive-added": ""}),
    row("a masked field gone", tool(arguments=args(Attribute("pin", String, "Pin.", sensitive=True))), tool(arguments=args()), {"argument-removed": "CS"}, {"argument-added": ""}),
    row("error without details", tool(Error("gone", Rows, "It is gone.")), tool(Error("gone", None, "It is gone.")), {"error-widened": "R"}, {}),
    row("a long text", tool(arguments=args(Attribute("kind", String, "Kind.", max_length=200_000))), tool(arguments=args(Attribute("kind", String, "Kind.", max_length=100_000))), {"argument-narrowed": "CW"}, {"limit-loosened": ""}),
    row("a long list", tool(arguments=args(Attribute("n", ArrayOf(Int), "N.", max_length=200_000))), tool(arguments=args(Attribute("n", ArrayOf(Int), "N.", max_length=100_000))), {"argument-narrowed": "CW"}, {"limit-loosened": ""}),
    row("inner default", tool(arguments=args(Attribute("who", ArrayOf(depth(default=3)), "Who."))), tool(arguments=args(Attribute("who", ArrayOf(depth(default=5)), "Who."))), {"default-changed": "c"}, {"default-changed": "c"}),
    row("inner default gone", tool(arguments=args(Attribute("who", depth(default=3), "Who."))), tool(arguments=args(Attribute("who", depth(), "Who."))), {"default-removed": "cS"}, {"default-changed": "c"}),
    row("acknowledgement", tool(LongRunning(ack=Rows)), tool(LongRunning(ack=LooseRows)), {"result-widened": "R"}, {"result-narrowed": "S"}),
    row("progress", tool(LongRunning(progress=Rows)), tool(LongRunning(progress=LooseRows)), {"result-widened": "R"}, {"result-narrowed": "S"}),
    row("approval narrowed", tool(Confirm("List?", payload=LooseRows)), tool(Confirm("List?", payload=Rows)), {"argument-narrowed": "CW"}, {"limit-loosened": ""}),
    row("approval without a reason", tool(Confirm("List?", payload=Rows)), tool(Confirm("List?")), {"argument-narrowed": "CW", "confirmation-narrowed": "w"}, {"argument-narrowed": "CW"}),
    row("native", designed(tool(name="web_search")), designed(NativeTool("openai", "web_search")), {"tool-removed": "CWS"}, {"tool-removed": "CWS"}),
    row("agent's toolset renamed", used(tool()), used(tool(), toolset="things"), {"tool-moved": "WS"}, {"tool-moved": "WS"}),
    row("agent's tool", used(tool(), TWO), used(tool(), TWO, only=("list",)), {"agent-tool-removed": "CWS"}, {}),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "there", "back"), ROWS)
def test_a_change_breaks_whom_the_table_says(
    before: Service, after: Service, there: dict[str, str], back: dict[str, str]
) -> None:
    old, new = contract(before), contract(after)
    assert (verdict(compare(old, new)), verdict(compare(new, old))) == (there, back)
    for one, other in ((old, new), (new, old)):
        for each in compare(one, other):
            assert not each.rule.is_undecided, each.message
            if each.code in ("argument-narrowed", "result-widened", "argument-required", "artifact-widened"):
                assert each.witness, each


def test_the_same_design_has_no_changes() -> None:
    assert compare(contract(designed(tool())), contract(designed(tool()))) == []


def test_words_are_a_patch() -> None:
    other = Tool("list", "List all devices.", ARGS, RETURN)
    (change,) = compare(contract(designed(tool())), contract(designed(other)))
    assert (change.code, change.step, change.breaks) == ("text-changed", "patch", "")
    assert change.lines() == [
        "desk.devices.list: changed texts or settings: description.",
        "@@ /description @@",
        "-List devices.",
        "+List all devices.",
    ]


def test_an_approval_that_waits_is_void_when_its_schemas_change() -> None:
    old, new = (
        designed(tool(Confirm("List?"))),
        designed(tool(Confirm("List?"), arguments=args(LIMIT, ADDED))),
    )
    assert {each.code: each.breaks for each in compare(contract(old), contract(new))} == {
        "argument-added": "",
        "approval-invalidated": "w",
    }


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (designed(NativeTool("openai", "web_search")), designed(NativeTool("openai", "web_search", config={"search_context_size": "low"})), "config"),
        (used(tool()), Service("desk", "A desk.", DEVICES, Agent("clerk", "A clerk.", Use(DEVICES), RunPolicy(max_tool_calls=3))), "policy"),
    ],
)  # fmt: skip
def test_whatever_else_differs_is_listed(before: Service, after: Service, words: str) -> None:
    (change,) = compare(contract(before), contract(after))
    assert (change.code, words in change.message) == ("text-changed", True)


SHARED = {"properties": {"depth": {"$ref": "#/$defs/Depth"}}}


def sent(schema: Mapping[str, Any]) -> Any:
    """Return a contract of one tool that takes what fits a schema."""
    tools = [{"id": "desk.devices.list", "payload": {"name": "P", "schema": {"type": "object", **schema}}}]
    return contract_of(parse_catalog({"tools": tools}))


@pytest.mark.parametrize(
    "schema",
    [
        lambda default: {**SHARED, "$defs": {"Depth": {"type": "integer", "default": default}}},
        lambda default: {"anyOf": [{"properties": {"depth": {"default": default}}}, {"required": ["site"]}]},
    ],
    ids=["in a type", "in a branch"],
)
def test_a_default_counts_wherever_it_stands(schema: Callable[[int], Mapping[str, Any]]) -> None:
    assert verdict(compare(sent(schema(1)), sent(schema(2)))) == {"default-changed": "c"}


def test_a_schema_that_is_wrong_is_said_in_a_sentence() -> None:
    wrong, right = ({"properties": {"site": {"pattern": each}}} for each in ("(", "s"))
    (change,) = compare(sent(wrong), sent(right))
    assert change.code == "undecided"
    assert (
        "the new schema cannot be compared, because the other one has an error: it cannot be"
        in change.message
    )
    assert "\n" not in change.message


def test_arguments_of_a_schema_that_is_wrong_are_not_gone() -> None:
    wrong, right = ({"properties": {"site": each}} for each in ({"$ref": "#/$defs/None"}, {"type": "string"}))
    for sides in ((wrong, right), (right, wrong)):
        assert [each.code for each in compare(*map(sent, sides))] == ["undecided"]


def test_a_schema_that_is_wrong_hides_no_guard() -> None:
    def masked(pattern: str, **guards: Any) -> Any:
        pin, site = {"type": "string", "pattern": pattern}, {"type": "string", "maxLength": 9}
        schema = {"type": "object", "properties": {"pin": pin, **({} if guards else {"site": site})}}
        payload = {"name": "P", "schema": schema, "sensitive": ["/pin"] if guards else []}
        tool = {"id": "desk.devices.list", "payload": payload, **guards}
        return contract_of(parse_catalog({"tools": [tool]}))

    before = masked("p", inject=["site"], confirmation={}, timeout=5.0)
    assert {each.code for each in compare(before, masked("("))} == {
        "confirmation-removed",
        "inject-removed",
        "limit-loosened",
        "sensitive-removed",
        "undecided",
    }


def test_an_agent_asks_before_tools_of_other_designs_too() -> None:
    def asking(**confirmation: Any) -> Any:
        agent = {"id": "desk.clerk", "tools": [{"id": "else.where.list", "name": "list", **confirmation}]}
        return contract_of(parse_catalog({"tools": [], "agents": [agent]}))

    there = compare(asking(confirmation={}), asking())
    assert verdict(there) == {"confirmation-removed": "w"}


def test_an_approval_that_waits_is_void_when_what_a_person_adds_changes() -> None:
    old, new = (contract(designed(tool(Confirm("List?", payload=each)))) for each in (LooseRows, Rows))
    assert "approval-invalidated" in {each.code for each in compare(new, old)}


def test_a_call_that_waits_is_held_to_what_people_approved() -> None:
    old, new = (contract(designed(tool(Confirm("List?", payload=each)))) for each in (Rows, LooseRows))
    native = contract(designed(NativeTool("openai", "list", {})))
    call = SuspendedCallRecord(id="c", tool="desk.devices.list", kind="confirmation", arguments={"site": "s"})
    for after, told in ((old, []), (new, ["w"]), (native, ["W"])):
        assert [each.breaks for each in suspended_call_changes([call], old, after)] == told


def test_a_call_of_a_tool_that_the_old_side_lacks_is_held_to_its_arguments_alone() -> None:
    old, new = contract(designed(TWO)), contract(designed(tool(), TWO))
    fitting, refused = (
        SuspendedCallRecord(id="c1", tool="desk.devices.list", kind="confirmation", arguments=each)
        for each in ({"site": "s"}, {"site": 1})
    )
    assert [each.breaks for each in suspended_call_changes([fitting, refused], old, new)] == ["W"]


def test_a_nested_place_has_its_keys_and_pointers() -> None:
    old = tool(arguments=args(Attribute("filter", Object(Attribute("kind", String, "Kind.")), "Filter.")))
    new = tool(
        arguments=args(
            Attribute("filter", Object(Attribute("kind", String, "Kind.", max_length=3)), "Filter.")
        )
    )
    (change,) = compare(contract(designed(old)), contract(designed(new)))
    assert (change.argument, change.after) == (
        "filter.kind",
        "/payload/schema/properties/filter/properties/kind",
    )
    assert change.witness[0]["filter"]["kind"] == "toolgen"
