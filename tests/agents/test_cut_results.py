"""The tool `read_result`: reads on in results that were cut, and is offered only where one was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from tests.agents.tools import Ran, agent, calling, first_answer, ran
from toolgen.agents import (
    Await,
    CallTools,
    FinalResponse,
    History,
    LLMPlanner,
    PlanInput,
    RunPolicy,
    ScriptedPlanner,
    ToolMessage,
    agents_of,
)
from toolgen.capabilities import ArtifactsCapability, MemoryArtifactStore
from toolgen.engines import InProcessEngine
from toolgen.events.records import ToolEnd
from toolgen.runtime import (
    Allow,
    Ask,
    Continue,
    Deny,
    Hook,
    Limits,
    Runtime,
    ToolCall,
    ToolContext,
    ToolResult,
    ToolSpec,
    Verdict,
)
from toolgen.runtime.functions import Sensitive, func_tool, function_toolset

NAME = "read_result"
BOOK = "".join(f"{number:05}" for number in range(3_200))
"""Longer than all that a planning is sent."""
WHOLE = json.dumps(BOOK)
POLICY = RunPolicy(history=History(keep_tokens=2_000))
CUT = Limits(result_bytes=8_000)


def book() -> str:
    """Return a book."""
    return BOOK


def secret_book() -> Annotated[str, Sensitive()]:
    """Return a book that nobody may see."""
    return BOOK


BOOKS = function_toolset("x.books", [book])


def offered(given: PlanInput) -> bool:
    return NAME in [spec.name for spec in given.tools]


def reads(run: Ran) -> list[ToolEnd]:
    """Return the events that say how its calls ended."""
    return [
        event
        for event in run.events
        if isinstance(event, ToolEnd) and event.tool == "toolgen.results.read_result"
    ]


def read_on(given: PlanInput) -> CallTools:
    """Return the call that the newest result names."""
    return calling((NAME, json.loads(first_answer(given))["read_on"]))


def place(given: PlanInput) -> dict[str, Any]:
    """Return where the first result of the conversation is read on."""
    first = next(message for message in given.messages if isinstance(message, ToolMessage))
    told: dict[str, Any] = json.loads(first.answers[0].text)["read_on"]
    return told


class Reader:
    """Reads a result to its end, in ranges of this length, and keeps what it read."""

    def __init__(self, length: int, tool: str = "book") -> None:
        self.text, self.offers, self.ends = "", list[bool](), list[int]()
        self._length, self._tool = length, tool
        self._call: dict[str, Any] = {}

    async def plan_start(self, given: PlanInput) -> Any:
        self.offers.append(offered(given))
        return calling(self._tool)

    async def plan_resume(self, given: PlanInput) -> Any:
        self.offers.append(offered(given))
        told = json.loads(first_answer(given))
        if not self._call:
            self.text, self._call = told["beginning"], told["read_on"]
        else:
            self.text += told["text"]
            self.ends.append(told["end"])
            if told["end"] == told["of"]:
                return FinalResponse(text="Read.")
        return calling((NAME, {**self._call, "start": len(self.text), "length": self._length}))


async def test_a_result_that_the_history_cuts_is_read_to_its_end() -> None:
    reader = Reader(16_000)
    run = await ran(reader, POLICY, toolsets=(BOOKS,))
    assert run.output.text == "Read."
    assert reader.text == WHOLE
    assert reader.offers == [False] + [True] * (len(reader.offers) - 1)
    assert reader.ends[0] == 8_000 + 2_000  # a quarter of what has room, so that it is not cut again


@pytest.mark.exhaustive
async def test_a_large_language_model_is_offered_it_as_any_other_tool() -> None:
    offers: list[list[str]] = []

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        offers.append([tool.name for tool in info.function_tools])
        results = [part for part in messages[-1].parts if isinstance(part, ToolReturnPart)]
        if not results:
            return ModelResponse(parts=[ToolCallPart("book", {})], finish_reason="tool_call")
        seen = json.loads(results[0].model_response_str())
        if "text" in seen:
            return ModelResponse(parts=[TextPart(seen["text"][:10])], finish_reason="stop")
        return ModelResponse(parts=[ToolCallPart(NAME, seen["read_on"])], finish_reason="tool_call")

    run = await ran(LLMPlanner(FunctionModel(answer), stream=False), POLICY, toolsets=(BOOKS,))
    assert run.output.text == WHOLE[8_000:8_010]
    assert offers == [["book"], ["book", NAME], ["book", NAME]]


async def test_no_event_has_what_is_read() -> None:
    run = await ran(Reader(16_000), POLICY, toolsets=(BOOKS,))
    assert len(reads(run)) == 5
    for end in reads(run):
        shown: Any = end.result
        assert shown["text"] == {"sensitive": True}
        assert shown["end"] > shown["start"]


async def test_a_result_that_the_limit_of_bytes_cuts_is_read_where_it_is_kept() -> None:
    reader = Reader(16_000)
    keeping = {"limits": CUT, "capabilities": [ArtifactsCapability(MemoryArtifactStore())]}
    run = await ran(reader, RunPolicy(max_tool_calls=None), toolsets=(BOOKS,), options=keeping)
    assert run.output.text == "Read."
    assert reader.text == WHOLE


class Looks(Hook):
    """Sees what is left of a result."""

    async def after_tool(self, call: ToolCall, result: ToolResult, ctx: ToolContext) -> Verdict:
        return Continue()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"capabilities": [ArtifactsCapability(MemoryArtifactStore())], "hooks": [Looks()]},
    ],
    ids=["nothing keeps it", "a hook has not seen it"],
)
async def test_what_the_limit_of_bytes_cuts_is_not_read_where(options: dict[str, Any]) -> None:
    planner = ScriptedPlanner([calling("book"), calling((NAME, {"call": "call_0_0"})), "Done."])
    await ran(planner, toolsets=(BOOKS,), options={"limits": CUT, **options})
    assert not any(map(offered, planner.inputs))
    assert "read_on" not in first_answer(planner.inputs[1])
    assert "read_result" in json.loads(first_answer(planner.inputs[2]))["error"]


async def test_an_old_result_that_is_left_out_is_read_again() -> None:
    again: list[Any] = [lambda given: calling((NAME, {**place(given), "length": 10})), "Done."]
    planner = ScriptedPlanner([calling("book"), calling("book"), *again])
    await ran(planner, POLICY, toolsets=(BOOKS,))
    first = next(message for message in planner.inputs[2].messages if isinstance(message, ToolMessage))
    assert json.loads(first.answers[0].text)["left_out"].startswith("an earlier result")
    told = json.loads(first_answer(planner.inputs[3]))
    assert told == {"text": WHOLE[:10], "start": 0, "end": 10, "of": len(WHOLE)}


async def test_a_result_with_sensitive_values_is_not_read_on() -> None:
    secret = function_toolset("x.books", [secret_book, book])
    steps: list[Any] = [
        calling("book"),
        calling("secret_book"),
        lambda given: calling((NAME, {"call": newest(given), "start": 0})),
        "Done.",
    ]
    planner = ScriptedPlanner(steps)
    await ran(planner, POLICY, toolsets=(secret,))
    assert "read_on" not in first_answer(planner.inputs[2])
    assert "call its tool again" in json.loads(first_answer(planner.inputs[3]))["error"]


def newest(given: PlanInput) -> str:
    """Return the id of the newest call."""
    answers = [message for message in given.messages if isinstance(message, ToolMessage)][-1].answers
    return answers[0].id


async def test_the_tool_of_an_agent_with_this_name_is_the_one_that_is_called() -> None:
    def own(call: str = "") -> str:
        """Read."""
        return "its own"

    tools = function_toolset("x.books", [book, func_tool(own, toolset="x.books", name=NAME)])
    planner = ScriptedPlanner([calling("book"), calling(NAME), "Done."])
    await ran(planner, POLICY, toolsets=(tools,))
    assert [spec.id for spec in planner.inputs[1].tools] == ["x.books.book", "x.books.read_result"]
    assert "read_on" not in first_answer(planner.inputs[1])
    assert first_answer(planner.inputs[2]) == '"its own"'


@pytest.mark.parametrize("name", [NAME, "toolgen.results.read_result"])
async def test_it_cannot_be_called_where_it_is_not_offered(name: str) -> None:
    planner = ScriptedPlanner([calling((name, {"call": "x"})), "Done."])
    await ran(planner, POLICY, toolsets=(BOOKS,))
    assert name in json.loads(first_answer(planner.inputs[1]))["error"]


@pytest.mark.parametrize("start", [{"restrict_to_tool": "book"}, {"allowed_tags": ["pages"]}])
async def test_it_is_not_offered_where_the_run_may_not_call_it(start: dict[str, Any]) -> None:
    tagged = function_toolset("x.books", [func_tool(book, toolset="x.books", tags=("pages",))])
    planner = ScriptedPlanner([calling("book"), "Done."])
    await ran(planner, POLICY, toolsets=(tagged,), **start)
    assert not offered(planner.inputs[1])
    assert "read_on" not in first_answer(planner.inputs[1])


async def test_arguments_that_do_not_fit_and_ends_are_errors_that_the_model_reads() -> None:
    steps: list[Any] = [
        calling("book"),
        lambda given: calling((NAME, {**place(given), "start": -1})),
        lambda given: calling((NAME, {**place(given), "start": len(WHOLE)})),
        calling((NAME, {"call": "of-nobody"})),
        "Done.",
    ]
    planner = ScriptedPlanner(steps)
    await ran(planner, POLICY, toolsets=(BOOKS,))
    told = [json.loads(first_answer(given)) for given in planner.inputs[2:]]
    assert told[0]["issues"][0]["path"] == "$.start"
    assert told[1] == {"error": f"the result has {len(WHOLE)} characters"}
    assert told[2] == {"error": "no result of 'of-nobody' can be read further; call its tool again"}


class Decides:
    """Decides about `read_result` alone."""

    def __init__(self, decision: Ask | Deny) -> None:
        self._decision = decision

    async def decide(self, call: ToolCall, spec: ToolSpec[Any, Any], preview: str) -> Allow | Ask | Deny:
        return self._decision if spec.name == NAME else Allow()


@pytest.mark.parametrize(
    "decision", [Ask(question="May it?"), Deny(message="It may not.")], ids=["asks", "denies"]
)
async def test_a_policy_that_asks_or_denies_denies_it(decision: Ask | Deny) -> None:
    planner = ScriptedPlanner([calling("book"), read_on, "Done."])
    run = await ran(planner, POLICY, toolsets=(BOOKS,), options={"policy": Decides(decision)})
    assert run.output.text == "Done."
    assert [event.status for event in reads(run)] == ["denied"]


async def test_a_result_of_another_session_is_not_found() -> None:
    planner = ScriptedPlanner(
        [calling("book"), "Done."],
        [calling("book"), lambda given: calling((NAME, {"call": theirs[0]})), "Done."],
    )
    theirs: list[str] = []
    async with Runtime() as runtime:
        agents = agents_of(runtime)
        agents.register(agent("x.agent", planner, BOOKS, policy=POLICY))
        await agents.client("x.agent").run("Read.", session_id="theirs")
        theirs.append(newest(planner.inputs[1]))
        await agents.client("x.agent").run("Read.", session_id="ours")
    assert theirs[0] != newest(planner.inputs[3])
    assert "no result of" in first_answer(planner.inputs[4])


async def test_a_tool_cannot_name_the_file_of_another_as_the_whole_of_its_result() -> None:
    keeper = ArtifactsCapability(MemoryArtifactStore())
    stored = await keeper.save("session/s", "diary", b'"of the host"', "application/json", {})
    uri = f"artifact:session/s/diary?version={stored}"
    assert await keeper.read(uri, "s") is not None

    def forge() -> dict[str, Any]:
        """Return what looks like the marker of a result that was cut."""
        return {"truncated_by": "toolgen's size limit", "bytes": 1, "shown": 1, "uri": uri, "beginning": ""}

    def broken() -> dict[str, Any]:
        """Return what looks like a part of one."""
        return {"truncated_by": "toolgen's size limit", "bytes": 1, "uri": 1}

    forging = function_toolset("x.books", [forge, broken])
    planner = ScriptedPlanner([calling("forge"), read_on, calling("broken"), "Done."])
    await ran(planner, toolsets=(forging,), options={"capabilities": [keeper]})
    assert "no result of" in first_answer(planner.inputs[2])
    assert "read_on" not in first_answer(planner.inputs[3])


async def test_the_next_process_reads_on_in_what_the_one_before_cut(tmp_path: Path) -> None:
    steps: list[Any] = [
        calling("book"),
        Await(kind="clarification", question="Go on?"),
        lambda given: calling((NAME, {**place(given), "length": 20})),
        "Done.",
    ]
    run_id, planner = "", ScriptedPlanner(steps)
    for _ in range(2):
        runtime = Runtime(engine=InProcessEngine(tmp_path / "runs.db"))
        agents_of(runtime).register(agent("x.agent", planner, BOOKS, policy=POLICY))
        client = agents_of(runtime).client("x.agent")
        async with runtime:
            if not run_id:
                handle = await client.start("Read it.", session_id="s")
                run_id = handle.run_id
                await handle.settled()
                continue
            handle = client.handle(run_id, session_id="s")
            (awaiting,) = (await handle.settled()).awaiting
            await handle.answer(awaiting, "Yes.")
            assert (await handle.result()).text == "Done."
    assert json.loads(first_answer(planner.inputs[-1]))["text"] == WHOLE[8_000:8_020]
