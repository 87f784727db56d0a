"""Toolsets that agents export, and which service owns a toolset."""

from __future__ import annotations

import pytest

from tests.agent_designs import (
    ID,
    NATIVE,
    REASON,
    TEXT,
    agent,
    checked,
    places,
    serving,
    tool,
    toolset,
    wrong,
)
from tests.checked import built, codes, only
from toolgen.dsl import (
    AgentToolset,
    Args,
    ArrayOf,
    Artifact,
    Attribute,
    BindTo,
    Completion,
    Enum,
    Export,
    Inject,
    LongRunning,
    Method,
    NativeTool,
    Needs,
    Payload,
    Result,
    Return,
    Service,
    String,
    Tool,
    Toolset,
    Type,
    Use,
)
from toolgen.dsl.expr import tree


class TestOwners:
    def test_a_service_that_lists_it_comes_first(self) -> None:
        """The agent that exports it may stand in another one."""
        checks = toolset("checks")
        first, second = built(
            Service("a", "A.", agent("nurse", Export(checks))), Service("b", "B.", checks)
        ).services
        assert first.toolsets == ()
        assert [(one.service, one.exporter) for one in second.toolsets] == [("b", "a.nurse")]

    def test_then_the_one_whose_agent_exports_it(self) -> None:
        """Even if another one uses it before."""
        checks = toolset("checks")
        first, second = built(
            Service("a", "A.", agent("chat", Use(checks))),
            Service("b", "B.", agent("nurse", Export(checks))),
        ).services
        assert first.toolsets == ()
        assert second.toolsets[0].tools[0].id == "b.checks.probe"
        assert first.agents[0].uses[0].toolset is second.toolsets[0]

    def test_then_the_first_whose_agent_uses_it(self) -> None:
        """After those that are listed, in the order of mention."""
        listed, one, two = toolset("listed"), toolset("one"), toolset("two", tool("other"))
        first, second = built(
            Service("a", "A.", agent("chat", Use(two), Use(one)), listed),
            Service("b", "B.", agent("chat", Use(one))),
        ).services
        assert [toolset.name for toolset in first.toolsets] == ["listed", "two", "one"]
        assert second.toolsets == ()

    def test_two_services_are_reported(self) -> None:
        """An agent that uses it does not decide."""
        notes = toolset("notes")
        found = only(Service("a", "A.", notes), Service("b", "B.", notes, agent("chat", Use(notes))))
        assert (found.code, len(found.related)) == ("two-owners", 2)

    def test_two_agents_are_reported(self) -> None:
        """One value in two services is two agents as well."""
        checks = toolset("checks")
        nurse = agent("nurse", Export(checks))
        found = only(serving(nurse, agent("doctor", Export(checks))))
        assert found.code == "two-exporters"
        assert places(found) == ["agent 'home.nurse' is defined here", "agent 'home.doctor' is defined here"]
        assert codes(Service("a", "A.", nurse), Service("b", "B.", nurse)) == ["two-exporters"]

    def test_types_are_found_wherever_they_stand(self) -> None:
        """In toolsets that only agents have, and in completions."""
        cause, level = Type("Cause", "Why.", ID), Enum("Level", "How bad.", "low", "high")
        seen = Return(Attribute("causes", ArrayOf("Cause"), "Why.", required=True))
        checks = Toolset("checks", "Checks.", Tool("probe", "Probe.", Args(ID), seen))
        design = built(
            serving(
                agent("nurse", Export(Toolset("causes", "C.", Tool("one", "O.", Args(ID), Return(cause))))),
                agent("chat", Use(checks)),
                Completion("report", "The day.", Return(Attribute("level", level, "How bad."))),
            )
        )
        assert names_of(design) == (["Cause"], ["Level"])


def names_of(design: tree.Design) -> tuple[list[str], list[str | None]]:
    return [type_.name for type_ in design.types], [enum.name for enum in design.enums]


class TestExports:
    def test_the_toolset_knows_its_agent(self) -> None:
        """By value or by name, and before the agent that exports it."""
        checks = toolset("checks")
        by_name = Use(AgentToolset("home", "nurse", "checks"), prefix="n_")
        service = checked(
            agent("a", by_name),
            agent("b", Use(checks)),
            agent("nurse", Export(checks, prompts={"probe": "Look at {id}."})),
        )
        assert [used.toolset.exporter for agent in service.agents[:2] for used in agent.uses] == [
            "home.nurse",
            "home.nurse",
        ]
        (export,) = service.agents[2].exports
        assert export.prompts == {"probe": "Look at {id}."}
        assert export.toolset is service.toolsets[0]

    @pytest.mark.parametrize(
        ("wrong_tool", "fault"),
        [
            (tool("probe", Needs("state")), "has Needs"),
            (tool("probe", LongRunning()), "is LongRunning"),
            (tool("probe", Inject("id")), "injects id"),
            (tool("probe", Artifact("log", REASON, "Log.")), "has artifacts"),
            (Tool("probe", "Probe.", Args(ID), TEXT, BindTo("probe")), "has BindTo"),
            (Tool("probe", "Probe.", TEXT), "has no Args"),
            (Tool("probe", "Probe.", Args(ID)), "has no Return"),
            (NATIVE, "is run by the provider of a model"),
        ],
    )
    def test_an_agent_implements_the_tools(self, wrong_tool: Tool | NativeTool, fault: str) -> None:
        """What only an executor or a provider could do is reported."""
        result = Result(Attribute("text", String, "It.", required=True))
        method = Method("probe", "Probe.", Payload(ID), result)
        code, message, hint = wrong(method, agent("nurse", Export(toolset("checks", wrong_tool))))
        assert (code, message.endswith(fault), bool(hint)) == ("exported-tool", True, True)

    def test_facts_of_the_call_may_be_injected(self) -> None:
        """The runtime knows them for every call."""
        checks = toolset("checks", tool("probe", Inject("session_id")))
        (exported,) = checked(agent("nurse", Export(checks))).toolsets
        assert [field.name for field in exported.tools[0].injected] == ["session_id"]

    def test_prompts_name_tools_and_arguments(self) -> None:
        """As CallHint does."""
        checks = toolset("checks")
        assert wrong(agent("nurse", Export(checks, prompts={"probe": "{ip}"})))[0] == "unknown-hint-name"
        secret = Tool("probe", "Probe.", Args(Attribute("key", String, "Key.", sensitive=True)), TEXT)
        prompts = {"probe": "Use {key}."}  # which the agent is to see
        shown = checked(agent("nurse", Export(toolset("checks", secret), prompts=prompts)))
        assert shown.agents
        found = wrong(agent("nurse", Export(checks, prompts={"prob": "Go."})))
        assert (found[0], found[2]) == ("unknown-tool", "did you mean 'probe'?")

    def test_a_toolset_is_exported_once(self) -> None:
        """Twice the same, or two that become one package."""
        checks = toolset("checks")
        assert wrong(agent("nurse", Export(checks), Export(checks)))[::2] == (
            "duplicate-name",
            "export it once",
        )
        clash = wrong(agent("nurse", Export(toolset("class")), Export(toolset("class_"))))
        assert (clash[0], "the exports of agent 'nurse'" in clash[1]) == ("identifier-clash", True)

    def test_exports_stand_apart_from_the_toolsets_of_a_service(self) -> None:
        """Their packages are those of the agent."""
        assert not codes(serving(toolset("class"), agent("nurse", Export(toolset("class_")))))
