"""What a tool asks of those who run it: the checked tree, and what is wrong with its words."""

from __future__ import annotations

import importlib
from typing import Any as Anything

import pytest

from tests import golden
from tests.behaviour_tools import ARGS, RETURN, serving, tool, wrong
from tests.checked import DEVICE, built, codes, only
from toolgen.cli.stubs import toolsets
from toolgen.codegen import generate
from toolgen.contract import tool_facts
from toolgen.contract.findings import Finding
from toolgen.contract.tool_facts import ToolFacts
from toolgen.dsl import (
    Artifact,
    Attribute,
    Bookkeeping,
    BoundedResult,
    CallHint,
    Confirm,
    Instructions,
    Int,
    LongRunning,
    NativeTool,
    Needs,
    Object,
    ResultHint,
    ResultReminder,
    Sequential,
    Service,
    String,
    Tags,
    Terminal,
    Timeout,
    Tool,
    Toolset,
)
from toolgen.dsl.expr import tree
from toolgen.dsl.structure import ToolClause
from toolgen.runtime import ConfirmSpec, ToolCall, ToolContext, ToolResult
from toolgen.runtime.functions import LongRunningSpec


class TestFacts:
    def test_a_tool_that_says_nothing_asks_for_nothing(self) -> None:
        found = tool()
        assert found.facts == ToolFacts(title="Find", description="Find.")
        assert (found.confirmation, found.long_running) == (None, None)

    def test_every_word_has_its_place_in_the_tree(self) -> None:
        found = tool(
            ARGS,
            RETURN,
            BoundedResult(),
            Confirm("Find {query}?", when={"hard": True, "mode": ("soft", "firm")}),
            LongRunning(),
            Timeout("90s"),
            Sequential(),
            Bookkeeping(),
            Needs("state", "artifacts", "state"),
            Instructions("  Ask first.\n  Then find."),
            ResultReminder("Names are not unique."),
            CallHint("Looking for {query} in {site-id}"),
            ResultHint("{returned} of {total}"),
        )
        assert found.confirmation == tool_facts.Confirmation(
            hint="Find {query}?", when={"hard": (True,), "mode": ("soft", "firm")}
        )
        assert found.long_running == tool_facts.LongRunning()
        assert found.facts == ToolFacts(
            title="Find",
            description="Find.",
            timeout=90.0,
            is_sequential=True,
            is_bookkeeping=True,
            needs=("state", "artifacts"),
            instructions="Ask first.\nThen find.",
            reminder="Names are not unique.",
            call_hint="Looking for {query} in {site-id}",
            result_hint="{returned} of {total}",
        )

    def test_classes_are_named_types_or_made_after_the_tool(self) -> None:
        inline = Object(Attribute("minutes", Int, "How long."))
        design = built(
            serving(Confirm(payload="Device"), LongRunning(ack=inline, progress=DEVICE)),
            DEVICE,
        )
        toolset = design.services[0].toolsets[0]
        assert toolset.tools[0].classes == ("Device", "FindAck")
        assert [object_.name for object_ in toolset.objects] == ["FindPayload", "FindResult", "FindAck"]
        assert [object_.name for object_ in design.types] == ["Device"]

    def test_a_type_is_found_without_being_listed(self) -> None:
        design = built(serving(Confirm(payload=DEVICE)))
        assert [object_.name for object_ in design.types] == ["Device"]

    def test_every_word_but_those_that_repeat_stands_once(self) -> None:
        once: list[ToolClause] = [
            Confirm(), LongRunning(), Timeout("1s"), Sequential(), Terminal(), Bookkeeping(), Needs("state"),
            Instructions("Ask."), ResultReminder("Say."), CallHint("Finding"), ResultHint("Found"),
        ]  # fmt: skip
        for word in once:
            assert codes(serving(word, word)) == ["duplicate-clause"]

    def test_what_ends_the_turn_does_not_answer_later(self) -> None:
        assert wrong(LongRunning(), Terminal())[:2] == (
            "terminal-long-running",
            "tool 'find' is both Terminal and LongRunning",
        )

    def test_a_capability_is_written_like_this(self) -> None:
        code, message, hint = wrong(Needs("state", "File System"))
        assert code == "bad-name"
        assert message == "name 'File System' of a capability contains a space"
        assert "'file_system'" in hint

    def test_an_approval_is_an_object(self) -> None:
        value: Anything = String
        assert wrong(Confirm(payload=value))[:2] == (
            "not-an-object",
            "the approval of tool 'find' must be an object, not String",
        )

    def test_a_class_of_a_tool_clashes_with_one_of_another(self) -> None:
        inline = Object(Attribute("minutes", Int, "How long."))
        two = Toolset(
            "t",
            "Tools.",
            Tool("find", "Find.", LongRunning(ack=inline)),
            Tool("find_ack", "Find.", Artifact("x", inline, "X.")),
            Tool("seek", "Seek.", Artifact("ack", inline, "X."), LongRunning(ack=inline)),
        )
        found = codes(Service("s", "Serves.", two))
        assert set(found) == {"identifier-clash"}

    @pytest.mark.parametrize("text", ["", " ", "\n"])
    def test_a_text_says_something(self, text: str) -> None:
        for word in (Instructions(text), ResultReminder(text), CallHint(text), ResultHint(text)):
            assert wrong(word)[0] == "wrong-argument"

    def test_words_have_their_place(self) -> None:
        misplaced: Anything = Timeout("1s")
        found = only(Service("s", "Serves.", Toolset("t", "T.", Tool("a", "A."), misplaced)))
        assert (found.code, found.hint) == ("misplaced-clause", "put it into Tool")


class TestDurations:
    @pytest.mark.parametrize(
        ("text", "seconds"),
        [("500ms", 0.5), ("7ms", 0.007), ("30s", 30.0), ("1.5s", 1.5), ("2m", 120.0), ("24h", 86400.0)],
    )
    def test_a_span_is_a_number_with_its_unit(self, text: str, seconds: float) -> None:
        assert tool(Timeout(text)).facts.timeout == seconds

    @pytest.mark.parametrize(
        ("text", "fault", "hint"),
        [
            ("30", "is not a number with a unit", 'write "30s"'),
            ("30 s", "is not a number with a unit", 'write "30s"'),
            ("2min", "is not a number with a unit", 'write "2m"'),
            ("1h30m", "is not a number with a unit", 'write a duration such as "500ms", "30s", "2m" or "1h"'),
            ("soon", "is not a number with a unit", 'write a duration such as "500ms", "30s", "2m" or "1h"'),
            ("-1s", "is not a number with a unit", 'write a duration such as "500ms", "30s", "2m" or "1h"'),
            ("٣s", "is not a number with a unit", 'write a duration such as "500ms", "30s", "2m" or "1h"'),
            *(
                (
                    text,
                    f"is in {unit}, but the units are ms, s, m and h",
                    'write hours, at most "24h"; for longer work, use LongRunning',
                )
                for text, unit in [("3d", "days"), ("1 day", "days"), ("2W", "weeks")]
            ),
            ("0s", "is not above 0", 'write a duration above 0, such as "30s"'),
            ("24.1h", "is longer than 24 hours", 'write at most "24h"; for longer work, use LongRunning'),
        ],
    )
    def test_another_span_is_reported(self, text: str, fault: str, hint: str) -> None:
        message = f"Timeout of tool 'find' is {text!r}, which {fault}"
        assert wrong(Timeout(text)) == ("bad-duration", message, hint)


class TestToolsets:
    def test_native_tools_and_instructions_stand_in_the_tree(self) -> None:
        toolset = Toolset(
            "search",
            "Search.",
            NativeTool("openai", "web_search", {"size": ["low"]}),
            Instructions("Search before you guess."),
            prefix="my_",
        )
        (found,) = built(Service("s", "S.", toolset)).services[0].toolsets
        assert found.tools == ()
        assert found.instructions == "Search before you guess."
        assert found.native == (
            tree.NativeTool(
                id="s.search.web_search", provider="openai", kind="web_search", config={"size": ["low"]}
            ),
        )

    def native(self, *tools: Tool | NativeTool) -> Finding:
        return only(Service("s", "S.", Toolset("t", "T.", *tools)))

    def test_a_kind_is_a_name_beside_the_other_tools(self) -> None:
        first, second = NativeTool("openai", "web_search"), NativeTool("google", "web_search")
        for tools in ((first, second), (Tool("web_search", "Search."), second)):
            found = self.native(*tools)
            assert (found.code, found.place.line) == ("duplicate-name", second.source.line)
            assert found.hint == "move one of them into another toolset: ids are service.toolset.kind"

    def test_the_names_of_provider_and_kind_are_checked(self) -> None:
        assert self.native(NativeTool("openai", "webSearch")).hint == "write 'web_search'"
        assert self.native(NativeTool("Open AI", "web_search")).code == "bad-name"

    def test_the_configuration_is_json(self) -> None:
        config: Anything = {"a": object()}
        assert self.native(NativeTool("openai", "web_search", config)).code == "wrong-argument"

    def test_a_toolset_without_any_tool_is_empty(self) -> None:
        empty = Toolset("t", "T.", Instructions("Ask."), Tags("a"))
        assert codes(Service("s", "S.", empty)) == ["empty-toolset"]

    def test_the_list_of_native_tools_is_no_tool(self) -> None:
        tools = Tool("native_tools", "List."), NativeTool("openai", "web_search")
        assert codes(Service("s", "S.", Toolset("t", "T.", *tools))) == ["identifier-clash"]
        assert codes(Service("s", "S.", Toolset("t", "T.", tools[0]))) == []


class TestGenerated:
    devices: Anything = importlib.import_module("tests.cases.behaviour.gen.home.toolsets.devices")
    gemini: Anything = importlib.import_module("tests.cases.behaviour.gen.home.toolsets.gemini")

    def test_specs_say_what_the_design_says(self) -> None:
        reset, update = self.devices.RESET_DEVICE, self.devices.UPDATE_FIRMWARE
        assert isinstance(reset.confirm, ConfirmSpec)
        assert isinstance(update.long_running, LongRunningSpec)
        approval, ack, progress = reset.confirm.payload, update.long_running.ack, update.long_running.progress
        assert approval is not None
        assert ack is not None
        assert progress is not None
        assert reset.confirm.when == {"mode": ("hard", "factory"), "force": (True,)}
        assert approval.decode(b"{}") == self.devices.ResetDeviceApproval()
        assert (reset.timeout, reset.is_sequential, reset.needs) == (90.0, True, ("state", "artifacts"))
        assert ack.type is self.devices.UpdateFirmwareAck
        assert progress.decode(b'{"percent": 5}').percent == 5
        assert self.devices.ANSWER.is_terminal
        assert self.devices.NOTE.is_bookkeeping

    def test_native_tools_are_data(self) -> None:
        (tool,) = self.gemini.NATIVE_TOOLS
        assert (tool.id, tool.provider, tool.config) == ("home.gemini.google_search", "google", {})
        assert [tool.kind for tool in self.devices.NATIVE_TOOLS] == ["web_search", "code_execution"]
        assert not hasattr(self.gemini, "registration")

    def test_nobody_writes_a_stub_for_native_tools(self) -> None:
        assert [toolset.name for toolset in toolsets(golden.design("behaviour"))] == ["devices"]

    def test_a_large_toolset_keeps_the_classes_of_a_tool_together(self) -> None:
        ack = Object(Attribute("left", Object(Attribute("minutes", Int, "How long.")), "What is left."))
        tools = [Tool(f"find_{number}", "Find.", LongRunning(ack=ack)) for number in range(21)]
        files = generate(built(Service("s", "S.", Toolset("t", "T.", *tools))), module="d")
        text = files["s/toolsets/t/types/find_7.py"]
        assert "class Find7Ack(" in text
        assert "class Find7AckLeft(" in text
        assert "class Find8Ack" not in text

    def test_a_registration_carries_the_instructions(self) -> None:
        async def execute(call: ToolCall, ctx: ToolContext) -> ToolResult:
            raise NotImplementedError

        registration = self.devices.registration(execute)
        assert registration.instructions.startswith("Look for a device before")

    def test_a_design_without_these_words_is_generated_as_before(self) -> None:
        files = generate(golden.design("bounded"), module="d")
        specs = next(text for path, text in files.items() if path.endswith("rows/specs.py"))
        assert not any(word in specs for word in ("confirm", "timeout", "NATIVE_TOOLS", "needs"))
