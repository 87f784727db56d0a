"""Agents and completions at the edges of their rules; what each word says stands in `test_agent_words`."""

from __future__ import annotations

import pytest

from tests.checked import built, codes, only
from toolgen.codegen import generate
from toolgen.contract import policy, tool_facts
from toolgen.dsl import (
    Agent,
    AgentToolset,
    Args,
    ArrayOf,
    Artifact,
    Attribute,
    BindTo,
    Boolean,
    Completion,
    Confirm,
    Enum,
    Export,
    History,
    Inject,
    LongRunning,
    Method,
    NativeTool,
    Needs,
    Object,
    Payload,
    Result,
    Return,
    RunPolicy,
    Service,
    String,
    Tool,
    Toolset,
    Transfer,
    Type,
    Use,
)
from toolgen.dsl.agents import AgentChild
from toolgen.dsl.services import ServiceChild
from toolgen.dsl.structure import ToolClause
from toolgen.expr import tree
from toolgen.findings import Finding

ID = Attribute("id", String, "Device.", required=True)
HARD = Attribute("hard", Boolean, "At once.")
SESSION = Attribute("session_id", String, "Session.", required=True)
TEXT = Return(Attribute("text", String, "It.", required=True))
NATIVE = NativeTool("openai", "web_search")
REASON = Type("Reason", "Why.", Attribute("text", String, "In a sentence."))


def tool(name: str, *clauses: ToolClause) -> Tool:
    return Tool(name, f"Do {name}.", Args(ID, HARD, SESSION), TEXT, *clauses)


def toolset(name: str, *tools: Tool | NativeTool, prefix: str = "") -> Toolset:
    return Toolset(name, f"All of {name}.", *(tools or (tool("probe"),)), prefix=prefix)


def agent(name: str, *children: AgentChild) -> Agent:
    return Agent(name, f"Is {name}.", *children)


def serving(*children: ServiceChild) -> Service:
    return Service("home", "Serves.", *children)


def checked(*children: ServiceChild) -> tree.Service:
    return built(serving(*children)).services[0]


def wrong(*children: ServiceChild) -> tuple[str, str, str]:
    """Return code, message and hint of the one thing that is wrong with a service."""
    found = only(serving(*children))
    return found.code, found.message, found.hint


def places(diagnostic: Finding) -> list[str]:
    return [related.message for related in diagnostic.related]


class TestUses:
    def test_exclude_leaves_out(self) -> None:
        """What is not excluded stays; native tools come along."""
        notes = toolset("notes", tool("add"), tool("drop"), NATIVE)
        (used,) = checked(notes, agent("chat", Use(notes, exclude=["drop"]))).agents[0].uses
        assert [one.name for one in used.tools] == ["add"]
        assert used.toolset.native

    def test_an_agent_may_use_nothing(self) -> None:
        """It only talks, without limits."""
        (chat,) = checked(agent("chat")).agents
        assert (chat.uses, chat.exports, chat.transfers, chat.policy) == ((), (), (), policy.RunPolicy())

    def test_one_toolset_may_be_taken_in_parts(self) -> None:
        """Each part has its own prefix; the native tools do not count twice."""
        notes = toolset("notes", tool("add"), tool("drop"), NATIVE)
        parts = Use(notes, only=["add"]), Use(notes, only=["drop"], prefix="old_")
        uses = checked(notes, agent("chat", *parts)).agents[0].uses
        assert [one.name for used in uses for one in used.tools] == ["add", "old_drop"]

    def test_one_that_leaves_nothing_is_reported(self) -> None:
        """`only` and `exclude` may cancel each other; an empty toolset is reported for itself."""
        notes, empty = toolset("notes"), Toolset("empty", "Nothing.")
        use = Use(notes, only=["probe"], exclude=["probe"])
        assert codes(serving(notes, agent("chat", use))) == ["empty-use"]
        assert codes(serving(empty, agent("chat", Use(empty)))) == ["empty-toolset"]


class TestWireNames:
    def test_a_tool_stands_once(self) -> None:
        """One diagnostic a Use, whatever its prefix and however many tools it repeats."""
        notes = toolset("notes", tool("add"), tool("drop"))
        found = only(serving(notes, agent("chat", Use(notes), Use(notes, prefix="my_"))))
        assert found.message == "agent 'chat' uses the tools 'add', 'drop' of toolset 'notes' twice"
        assert places(found) == ["it stands first here"]

    def test_a_use_stands_once(self) -> None:
        """One value twice is twice the same; so are native tools alone."""
        notes, search = toolset("notes"), toolset("search", NATIVE)
        use = Use(notes)
        assert codes(serving(notes, agent("chat", use, use))) == ["repeated-use"]
        assert wrong(search, agent("chat", Use(search), Use(search)))[1] == (
            "agent 'chat' uses the tool 'web_search' of toolset 'search' twice"
        )

    def test_two_tools_of_one_name_are_reported_with_both_places(self) -> None:
        """Prefixes count: other names may become the same."""
        notes, drafts = toolset("notes", tool("my_add")), toolset("drafts", tool("add"))
        found = only(serving(notes, drafts, agent("chat", Use(notes), Use(drafts, prefix="my_"))))
        assert (found.code, places(found)) == ("wire-name-clash", ["the first one stands here"])
        assert found.message == (
            "agent 'chat' would call two tools 'my_add': home.notes.my_add and home.drafts.add"
        )

    def test_transfers_have_names_of_their_own(self) -> None:
        """An agent without Transfer may call a tool so."""
        moves = toolset("moves", tool("transfer_to_b"))
        other = agent("b")
        assert not codes(serving(moves, agent("a", Use(moves)), other))
        clash = wrong(moves, agent("a", Use(moves), Transfer("b")), other)
        assert clash[0] == "wire-name-clash"
        assert "a hand-over and home.moves.transfer_to_b" in clash[1]

    def test_long_names_are_reported_once(self) -> None:
        """At the Use that makes one too long; what is too long anyway, at the tool alone."""
        long, longer = toolset("long", tool("a" * 60)), toolset("long", tool("a" * 60), prefix="prefix_")
        code, message, hint = wrong(long, agent("chat", Use(long, prefix="of_his_")))
        assert (code, hint) == ("name-too-long", "shorten a prefix by 3 characters")
        assert "of a tool with its prefixes has 67 characters" in message
        assert codes(serving(longer, agent("chat", Use(longer)))) == ["name-too-long"]


class TestConfirmations:
    NOTES = toolset("notes", tool("add", Confirm("Add {id}?", payload=REASON)), tool("drop"))

    def confirmed(self, use: Use) -> list[tool_facts.Confirmation[str] | None]:
        (used,) = checked(self.NOTES, agent("chat", use)).agents[0].uses
        return [one.confirmation for one in used.tools]

    def test_a_mapping_asks_in_its_own_words(self) -> None:
        """What a person may add stays as the tool says."""
        ask = Confirm("Really {id}?", when={"hard": True})
        assert self.confirmed(Use(self.NOTES, confirm={"add": ask})) == [
            tool_facts.Confirmation(hint="Really {id}?", when={"hard": (True,)}, payload="Reason"),
            None,
        ]

    @pytest.mark.parametrize(
        ("ask", "code"),
        [
            (Confirm("{ip}"), "unknown-hint-name"),
            (Confirm(when={"hart": True}), "bad-when"),
            (Confirm(when={"hard": "yes"}), "bad-when"),
            (Confirm(payload=REASON), "confirm-payload"),
        ],
    )
    def test_it_is_checked_as_that_of_the_tool(self, ask: Confirm, code: str) -> None:
        """Against the arguments of the tool; its payload is not the agent's to say."""
        assert wrong(self.NOTES, agent("chat", Use(self.NOTES, confirm={"drop": ask})))[0] == code


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
        assert places(found) == ["agent 'home.nurse' stands here", "agent 'home.doctor' stands here"]
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


class TestCycles:
    ONE, TWO = toolset("one", tool("ask")), toolset("two", tool("tell"))

    def circle(self, *more: AgentChild) -> Service:
        return serving(
            agent("a", Use(self.ONE), Export(self.TWO)), agent("b", Use(self.TWO), Export(self.ONE), *more)
        )

    @pytest.mark.parametrize("out", [toolset("notes"), toolset("search", NATIVE)])
    def test_one_other_tool_is_a_way_out(self, out: Toolset) -> None:
        """Of an executor, or of a provider."""
        assert not codes(self.circle(Use(out)))

    def test_an_agent_outside_is_a_way_out(self) -> None:
        """It stands in no circle."""
        exported = toolset("checks")
        circle = self.circle(Use(exported))
        assert not codes(circle, Service("other", "O.", agent("nurse", Export(exported))))


class TestTransfers:
    def test_targets_are_ids(self) -> None:
        """Of the own service by name alone; each once."""
        first, _ = built(
            serving(agent("chat", Transfer("nurse", "home.nurse", "b.clerk")), agent("nurse")),
            Service("b", "B.", agent("clerk")),
        ).services
        assert first.agents[0].transfers == ("home.nurse", "b.clerk")

    @pytest.mark.parametrize(
        ("name", "fault", "hint"),
        [
            ("nurze", "which the design does not have", "did you mean 'home.nurse'?"),
            ("b.nurse", "which the design does not have", "did you mean 'home.nurse'?"),
            ("chat", "which is itself", "remove it"),
            ("home.chat", "which is itself", "remove it"),
        ],
    )
    def test_others_are_reported(self, name: str, fault: str, hint: str) -> None:
        """Nobody hands over to himself, or to nobody."""
        found = wrong(agent("chat", Transfer(name)), agent("nurse"))
        assert (found[0], found[1].endswith(fault), found[2]) == ("unknown-agent", True, hint)


class TestPolicies:
    @pytest.mark.parametrize(
        ("policy", "code"),
        [
            (RunPolicy(max_tool_calls=0), "bad-limit"),
            (RunPolicy(max_consecutive_failed_tool_calls=-1), "bad-limit"),
            (RunPolicy(history=History(0)), "bad-limit"),
            (RunPolicy(history=History(5, summarize_after=4)), "bad-limit"),
            (RunPolicy(history=History(keep_tokens=0)), "bad-limit"),
            (RunPolicy(history=History(keep_tokens=500, summarize_at=499)), "bad-limit"),
            (RunPolicy(history=History(summarize_at=499)), "bad-limit"),
            (RunPolicy(time_budget="10s", plan_timeout="11s"), "bad-limit"),
            (RunPolicy(time_budget="10s", tool_timeout="11s"), "bad-limit"),
            (RunPolicy(time_budget="soon"), "bad-duration"),
            (RunPolicy(tool_timeout="0s"), "bad-duration"),
            (RunPolicy(max_tool_calls=True), "wrong-argument"),
            (RunPolicy(max_tool_calls=10**5000), "wrong-argument"),
            (RunPolicy(history=History(-(10**5000))), "wrong-argument"),
            (RunPolicy(time_budget=10), "wrong-argument"),  # type: ignore[arg-type]  # the mistake
            (RunPolicy(on_missing_fields="wait"), "wrong-argument"),  # type: ignore[arg-type]  # the mistake
        ],
    )
    def test_others_are_reported(self, policy: RunPolicy, code: str) -> None:
        """Limits are above 0 and fit into one another."""
        assert wrong(agent("chat", policy))[0] == code


class TestCompletions:
    @pytest.mark.parametrize(
        ("completion", "code"),
        [
            (Completion("report", "The day."), "no-return"),
            (Completion("report", "The day.", TEXT, TEXT), "duplicate-clause"),
            (Completion("report", "", TEXT), "missing-description"),
            (Completion("Report", "The day.", TEXT), "bad-name"),
            (Completion("r" * 65, "The day.", TEXT), "name-too-long"),
            (Completion("report", "The day.", Return(String)), "not-an-object"),  # type: ignore[arg-type]  # the mistake
        ],
    )
    def test_mistakes_are_reported(self, completion: Completion, code: str) -> None:
        """As those of tools."""
        assert wrong(completion)[0] == code

    def test_each_name_stands_once(self) -> None:
        """Within the service, as a name and as an identifier."""
        report = Completion("report", "The day.", TEXT)
        other = Completion("report", "The night.", TEXT)
        assert wrong(report, other)[0] == "duplicate-name"
        inline = Return(Attribute("result", Object(Attribute("text", String, "It.")), "It."))
        clashing = Completion("a", "A.", inline), Completion("a_result", "B.", TEXT)
        assert wrong(*clashing)[0] == "identifier-clash"


class TestAgents:
    def test_names_are_those_of_packages(self) -> None:
        """Each once, written like a toolset's, and no two the same package."""
        assert wrong(agent("chat"), agent("chat"))[0] == "duplicate-name"
        assert wrong(agent("class"), agent("class_"))[0] == "identifier-clash"
        assert wrong(agent("Chat"))[::2] == ("bad-name", "write 'chat'")
        assert wrong(Agent("chat", ""))[0] == "missing-description"

    def test_two_services_may_have_the_same(self) -> None:
        """Their ids differ."""
        design = built(Service("a", "A.", agent("chat")), Service("b", "B.", agent("chat")))
        assert [one.agents[0].id for one in design.services] == ["a.chat", "b.chat"]

    def test_what_they_hold_is_generated(self) -> None:
        """A design of agents alone has their packages, and the module of its completions."""
        checks = toolset("checks")
        design = built(
            serving(
                agent("chat", Use(checks)),
                agent("nurse", Export(checks)),
                Completion("report", "The day.", TEXT),
            )
        )
        files = generate(design, module="design")
        assert "home/completions.py" in files
        assert {"home/agents/chat/agent.py", "home/agents/nurse/exports/checks/export.py"} <= set(files)
