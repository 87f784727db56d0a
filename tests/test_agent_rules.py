"""Agents and completions at the edges of their rules; what each clause says: `test_agent_clauses`."""

from __future__ import annotations

import pytest

from tests.agent_designs import NATIVE, REASON, TEXT, agent, checked, places, serving, tool, toolset, wrong
from tests.checked import built, codes, only
from toolgen.codegen import generate
from toolgen.contract import policy, tool_facts
from toolgen.dsl import (
    Agent,
    Attribute,
    Completion,
    Confirm,
    Export,
    History,
    Object,
    Return,
    RunPolicy,
    Service,
    String,
    Toolset,
    Transfer,
    Use,
)
from toolgen.dsl.agents import AgentChild


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
        assert places(found) == ["first defined here"]

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
        assert (found.code, places(found)) == ("wire-name-clash", ["first used here"])
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
