"""The words of agents: the tree of a good design, and each rule with its message and its place."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from toolgen.contract.policy import RunPolicy as CheckedPolicy
from toolgen.contract.tool_facts import Confirmation
from toolgen.dsl import (
    Agent,
    AgentToolset,
    Args,
    Attribute,
    BindTo,
    Completion,
    Confirm,
    Design,
    Export,
    History,
    Inject,
    LongRunning,
    NativeTool,
    Needs,
    Object,
    Return,
    RunPolicy,
    Service,
    String,
    Timeout,
    Tool,
    Toolset,
    Transfer,
    Use,
    build,
)
from toolgen.dsl.agents import AgentChild
from toolgen.dsl.expr.tree import Agent as CheckedAgent
from toolgen.dsl.expr.tree import Design as CheckedDesign
from toolgen.dsl.services import ServiceChild

ID = Attribute("id", String, "Which one.", required=True)


def notes(*more: Tool | NativeTool, prefix: str = "") -> Toolset:
    add = Tool("add", "Add a note.", Args(ID), Confirm("Add {id}?"))
    return Toolset("notes", "Keep notes.", add, Tool("list", "List them."), *more, prefix=prefix)


def checks(*clauses: Needs | LongRunning | BindTo | Inject) -> Toolset:
    result = Return(Attribute("cause", String, "What is wrong.", required=True))
    return Toolset("checks", "Look into faults.", Tool("probe", "Probe.", Args(ID), result, *clauses))


def home(*children: ServiceChild, more: Sequence[Service] = ()) -> Design:
    return Design("home", "A home.", Service("assistant", "Helps.", *children), *more)


def good(*children: ServiceChild, more: Sequence[Service] = ()) -> CheckedDesign:
    evaluation = build(home(*children, more=more))
    assert evaluation.diagnostics == ()
    assert evaluation.design is not None
    return evaluation.design


def agent_of(*clauses: AgentChild) -> CheckedAgent:
    (agent,) = good(Agent("chat", "Talks.", *clauses)).services[0].agents
    return agent


def told(*children: ServiceChild, more: Sequence[Service] = ()) -> list[tuple[str, str]]:
    """Return code and message of everything that is wrong."""
    found = build(home(*children, more=more)).diagnostics
    assert all(diagnostic.hint for diagnostic in found)
    return [(diagnostic.code, diagnostic.message) for diagnostic in found]


def test_an_agent_calls_tools_by_its_own_names() -> None:
    agent = agent_of(Use(notes(prefix="n_"), prefix="my_", exclude=["list"]))
    assert (agent.id, agent.service, agent.description) == ("assistant.chat", "assistant", "Talks.")
    (used,) = agent.uses
    assert [(tool.name, tool.tool.id) for tool in used.tools] == [("my_n_add", "assistant.notes.add")]


@pytest.mark.parametrize(
    ("confirm", "expected"),
    [
        (False, [None, None]),
        (True, [Confirmation(hint="Add {id}?"), Confirmation()]),
        (["list"], [None, Confirmation()]),
        (
            {"add": Confirm("Really add {id}?", when={"id": "x"})},
            [Confirmation(hint="Really add {id}?", when={"id": ("x",)}), None],
        ),
    ],
)
def test_an_agent_may_ask_more_than_the_tool(
    confirm: bool | list[str] | dict[str, Confirm], expected: list[Confirmation[str] | None]
) -> None:
    (used,) = agent_of(Use(notes(), confirm=confirm)).uses
    assert [tool.confirmation for tool in used.tools] == expected


def test_what_no_service_lists_belongs_to_an_agent() -> None:
    shared, listed = checks(), notes()
    design = good(
        Agent("chat", "Talks.", Use(shared), Use(AgentToolset("clinic", "doctor", "heart"), prefix="my_")),
        more=[
            Service("clinic", "Heals.", listed, Agent("doctor", "Looks.", Export(renamed(shared, "heart")))),
            Service("lab", "Tests.", Agent("tester", "Tests.", Export(shared))),
        ],
    )
    assistant, clinic, lab = design.services
    assert [(one.name, one.exporter) for one in assistant.toolsets] == []
    assert [(one.name, one.exporter) for one in clinic.toolsets] == [
        ("notes", ""),
        ("heart", "clinic.doctor"),
    ]
    assert [(one.name, one.exporter) for one in lab.toolsets] == [("checks", "lab.tester")]
    (chat,) = assistant.agents
    assert [used.toolset.exporter for used in chat.uses] == ["lab.tester", "clinic.doctor"]


def renamed(toolset: Toolset, name: str) -> Toolset:
    return Toolset(name, toolset.description, *toolset.children)


def test_exports_transfers_and_policy() -> None:
    design = good(
        Agent(
            "chat",
            "Talks.",
            Transfer("doctor", "clinic.nurse"),
            RunPolicy(
                max_tool_calls=3,
                max_consecutive_failed_tool_calls=2,
                time_budget="2m",
                plan_timeout="30s",
                tool_timeout="500ms",
                interrupts_allowed=True,
                on_missing_fields="finalize",
                history=History(3, summarize_after=9),
            ),
        ),
        Agent("doctor", "Looks.", Export(checks(), prompts={"probe": "Probe {id} {{now}}."})),
        more=[Service("clinic", "Heals.", Agent("nurse", "Cares."))],
    )
    chat, doctor = design.services[0].agents
    assert chat.transfers == ("assistant.doctor", "clinic.nurse")
    policy = chat.policy
    assert (policy.time_budget, policy.plan_timeout, policy.tool_timeout) == (120.0, 30.0, 0.5)
    assert policy.history is not None
    assert (policy.history.keep_turns, policy.history.summarize_after) == (3, 9)
    assert doctor.policy == CheckedPolicy()
    assert doctor.exports[0].prompts == {"probe": "Probe {id} {{now}}."}


def test_a_completion_has_a_class_of_its_own() -> None:
    inner = Object(Attribute("text", String, "It.", required=True))
    design = good(Completion("day", "The day.", Return(Attribute("best", inner, "The best.", required=True))))
    (service,) = design.services
    (completion,) = service.completions
    assert (completion.id, completion.result.name) == ("assistant.day", "DayResult")
    assert [object_.name for object_ in service.completion_objects] == ["DayResult", "DayResultBest"]


def test_native_tools_are_used_as_they_are() -> None:
    (used,) = agent_of(Use(notes(NativeTool("openai", "web_search")), only=["list"])).uses
    assert [tool.kind for tool in used.toolset.native] == ["web_search"]


SHARED = checks()
SLOW = Toolset("t", "T.", Tool("x", "X.", Timeout("9s")))
RULES: dict[str, tuple[list[ServiceChild], list[str]]] = {
    "unknown-tool": (
        [
            Agent("chat", "T.", Use(notes(), only=["lst"])),
            Agent("doc", "L.", Export(SHARED, prompts={"prob": "x"})),
        ],
        [
            "only of Use of agent 'chat' names the tool 'lst', which toolset 'notes' does not have",
            "prompts of Export of agent 'doc' names the tool 'prob', which toolset 'checks' does not have",
        ],
    ),
    "empty-use": (
        [Agent("chat", "T.", Use(notes(), exclude=["add", "list"]))],
        ["Use of toolset 'notes' gives agent 'chat' no tools"],
    ),
    "unused-confirm": (
        [Agent("chat", "T.", Use(notes(), only=["list"], confirm=["add"]))],
        ["confirm of Use names the tool 'add', which agent 'chat' does not use"],
    ),
    "confirm-payload": (
        [Agent("chat", "T.", Use(notes(), confirm={"add": Confirm("Add?", payload=Object(ID))}))],
        ["Confirm of tool 'add' in a Use of agent 'chat' has a payload"],
    ),
    "own-export": (
        [Agent("doc", "L.", Export(SHARED), Use(SHARED))],
        ["agent 'doc' uses the toolset 'checks', which it exports itself"],
    ),
    "unknown-agent": (
        [Agent("chat", "T.", Transfer("chat", "nobody"))],
        [
            "Transfer of agent 'chat' names 'chat', which is itself",
            "Transfer of agent 'chat' names 'nobody', which the design does not have",
        ],
    ),
    "exported-tool": (
        [Agent("doc", "L.", Export(checks(Needs("state"), LongRunning(), Inject("tenant"))))],
        [
            "tool 'probe' of the exported toolset 'checks' has Needs",
            "tool 'probe' of the exported toolset 'checks' is LongRunning",
        ],
    ),
    "bad-limit": (
        [
            Agent("chat", "T.", RunPolicy(max_tool_calls=0, time_budget="1s", tool_timeout="2s")),
            Agent(
                "slow",
                "T.",
                Use(Toolset("t", "T.", Tool("x", "X.", Timeout("9s")))),
                RunPolicy(time_budget="1s"),
            ),
        ],
        [
            "max_tool_calls of RunPolicy of agent 'chat' is 0, but it must be at least 1",
            "tool_timeout of RunPolicy of agent 'chat' is 2 s, but the time_budget of the run is 1 s",
            "time_budget of RunPolicy of agent 'slow' is 1 s, but the Timeout of its tool 'x' is 9 s",
        ],
    ),
    "no-return": ([Completion("day", "The day.")], ["completion 'day' has no Return"]),
}


@pytest.mark.parametrize("code", RULES)
def test_a_rule_says_what_is_wrong(code: str) -> None:
    children, messages = RULES[code]
    found = told(*children)
    assert [message for one, message in found if one == code] == messages


def test_wire_names_are_told_apart() -> None:
    one, other = notes(), renamed(notes(), "more_notes")
    ((code, message), _) = told(Agent("chat", "T.", Use(one), Use(other)))
    assert code == "wire-name-clash"
    assert message == (
        "agent 'chat' would call two tools 'add': assistant.notes.add and assistant.more_notes.add"
    )
    assert told(Agent("chat", "T.", Use(one), Use(other, prefix="more_"))) == []
    reserved = Toolset("ways", "W.", Tool("transfer_to_x", "Go."))
    assert [
        code for code, _ in told(Agent("chat", "T.", Use(reserved), Transfer("x")), Agent("x", "X."))
    ] == ["wire-name-clash"]
    long = Toolset("t", "T.", Tool("a" * 60, "A."))
    assert [code for code, _ in told(Agent("chat", "T.", Use(long, prefix="b_c_d")))] == ["name-too-long"]


def test_a_circle_of_agents_needs_a_way_out() -> None:
    first, second = checks(), renamed(checks(), "advice")
    circle = [Agent("a", "A.", Export(first), Use(second)), Agent("b", "B.", Export(second), Use(first))]
    assert told(*circle) == [
        (
            "agent-cycle",
            "agents 'assistant.a', 'assistant.b' only call each other: none of them has another tool",
        )
    ]
    way_out = Agent("b", "B.", Export(second), Use(first), Use(notes()))
    assert told(circle[0], way_out) == []


def test_two_agents_cannot_export_one_toolset() -> None:
    found = told(Agent("a", "A.", Export(SHARED)), Agent("b", "B.", Export(SHARED)))
    assert found == [
        ("two-exporters", "toolset 'checks' is exported by the agents 'assistant.a' and 'assistant.b'")
    ]


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        (AgentToolset("asistant", "doc", "checks"), "the service 'asistant', which the design does not have"),
        (
            AgentToolset("assistant", "dock", "checks"),
            "the agent 'dock', which service 'assistant' does not have",
        ),
        (AgentToolset("assistant", "doc", "check"), "the toolset 'check', which agent 'doc' does not export"),
    ],
)
def test_a_reference_to_nothing_suggests_something(reference: AgentToolset, message: str) -> None:
    children = [Agent("chat", "T.", Use(reference)), Agent("doc", "L.", Export(SHARED))]
    (diagnostic,) = build(home(*children)).diagnostics
    assert diagnostic.message == f"AgentToolset names {message}"
    assert diagnostic.hint.startswith("did you mean")
    assert diagnostic.place == reference.source.located()


def test_wrong_arguments_are_all_told() -> None:
    children: list[ServiceChild] = [
        Agent("chat", "T.", Use("notes"), Use(notes(), only="add"), Transfer(3)),  # type: ignore[arg-type]
        Agent("doc", "L.", Export(AgentToolset("a", "b", "c"))),  # type: ignore[arg-type]
        Agent("ops", "O.", RunPolicy(max_tool_calls="3", on_missing_fields="ask", history=3)),  # type: ignore[arg-type]
    ]
    assert [code for code, _ in told(*children)] == ["wrong-argument"] * 7
    assert "only of Use is 'add', not a tuple or a list of names" in [
        message for _, message in told(*children)
    ]


def test_two_policies_are_one_too_many() -> None:
    assert [code for code, _ in told(Agent("a", "A.", RunPolicy(), RunPolicy()))] == ["duplicate-clause"]
    assert [code for code, _ in told(Agent("a", "A."), Agent("a", "A."))] == ["duplicate-name"]
    assert [code for code, _ in told(Agent("Chat", "A."))] == ["bad-name"]
    assert [code for code, _ in told(Agent("chat", ""))] == ["missing-description"]
