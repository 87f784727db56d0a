"""The planner `demo`: what it calls, what it asks first, and that it says what it matched."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from pydantic_core import to_json

from examples.home.app import Planners, assistant
from examples.home.database import connect
from gen.assistant import completions
from gen.assistant.agents import chat
from toolgen.agents import AgentRegistration, AgentSpec, AgentTool, RunOutput, agents_of
from toolgen.agents.demo.filling import filled
from toolgen.agents.demo.rendering import result_text, typed_result
from toolgen.agents.planner.messages import ToolAnswer
from toolgen.calls.functions.tools import func_tool
from toolgen.runtime import Runtime
from toolgen.runtime.functions import function_toolset


@pytest.fixture
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Runtime]:
    path = tmp_path_factory.mktemp("home") / "home.db"
    database = connect(path)
    async with assistant(database, path, Planners(chat="demo", diagnostics="demo")) as runtime:
        yield runtime
    database.close()


async def said(home: Runtime, message: str, session: str = "s-mira") -> RunOutput:
    return await chat.client(home).run(message, session_id=session)


async def test_a_tool_that_only_reads_is_called_and_its_result_said(home: Runtime) -> None:
    handle = await chat.client(home).start("Which lights at the harbour are offline?", session_id="s-mira")
    pieces = [event.text async for event in handle.events() if event.type == "assistant_reply"]
    output = await handle.output()
    assert (output.status, output.awaiting) == ("completed", ())
    assert output.text.startswith("list_devices returned")
    assert "name Ceiling lamp" in output.text
    told = "".join(pieces)
    assert "Demo model (it matches words; it is not a language model)" in told
    assert "'lights', 'offline' match list_devices" in told
    assert 'site_id "harbour" (from your message)' in told


async def test_everything_else_is_asked_for_first(home: Runtime) -> None:
    handle = await chat.client(home).start("Set the state of device h09", session_id="s-mira")
    (asked,) = (await handle.settled()).awaiting
    assert (asked.kind, asked.answer_schema) == ("confirmation", {"type": "boolean"})
    assert asked.question.endswith(
        'which may change something. Shall I call it with device_id "h09" (from your message); '
        'command {"kind": "dim", "level": 40} (from the tool\'s example)?'
    )
    assert not [event for event in await home.runs.events(handle.run_id) if event.type == "tool_start"]
    await handle.answer(asked, True)
    assert (await handle.result()).text.startswith("set_state returned")


async def test_a_question_is_for_a_tool_that_only_reads(home: Runtime) -> None:
    output = await said(home, "What was the state of the lights at the harbour?")
    assert output.text.startswith("list_devices returned")


async def test_a_no_calls_nothing(home: Runtime) -> None:
    handle = await chat.client(home).start("Set the state of device h09", session_id="s-mira")
    (asked,) = (await handle.settled()).awaiting
    await handle.answer(asked, False)
    assert (await handle.result()).text == "set_state was not called: you answered 'false'."


async def test_what_is_missing_is_asked_for_by_its_name(home: Runtime) -> None:
    handle = await chat.client(home).start("Draw the readings of a device", session_id="s-mira")
    (asked,) = (await handle.settled()).awaiting
    assert asked.question.endswith(
        "match draw_readings, which needs 'device_id' "
        "(ID of the device; list_devices returns it.). What is it?"
    )
    await handle.answer(asked, "h15")
    output = await handle.result()
    assert output.status == "completed"
    assert "It also returned: image." in output.text


async def test_a_tool_that_asks_by_itself_is_asked_for_once(home: Runtime) -> None:
    handle = await chat.client(home).start("Reset h09 to factory settings", session_id="s-mira")
    (asked,) = (await handle.settled()).awaiting
    assert asked.kind == "confirmation"
    assert asked.arguments
    await home.suspensions.answer(asked.token, {"approved": True})
    assert (await handle.result()).text.startswith("factory_reset returned")


async def test_words_that_match_nothing_get_the_tools(home: Runtime) -> None:
    text = (await said(home, "Hello!")).text
    assert (
        "no word of 'Hello!' matches a tool. These are the tools:\n- list_devices: List the devices" in text
    )


async def test_a_name_with_arguments_is_called_as_it_stands(home: Runtime) -> None:
    assert "Balcony" not in (await said(home, 'list_devices {"site_id": "cabin", "limit": 1}')).text
    failed = await said(home, 'list_devices {"site_id": "cabin", "limit": 1000}', "s-other")
    assert failed.text.startswith("list_devices did not succeed (error): ")


async def test_a_call_without_arguments_is_announced_as_one() -> None:
    def list_rooms() -> dict[str, list[str]]:
        """List the rooms."""
        return {"rooms": ["hall"]}

    tool = func_tool(list_rooms, toolset="desk.rooms", annotations={"read_only": True})
    spec = AgentSpec(
        id="desk.clerk", description="Lists.", tools=(AgentTool(id=tool.spec.id, name="list_rooms"),)
    )
    async with Runtime() as runtime:
        agents = agents_of(runtime)
        toolsets = (function_toolset("desk.rooms", [tool]),)
        agents.register(AgentRegistration(spec=spec, planner="demo", toolsets=toolsets))
        handle = await agents.client(spec).start("List the rooms", session_id="s")
        pieces = [event.text async for event in handle.events() if event.type == "assistant_reply"]
    assert "".join(pieces).startswith(
        "Demo model (it matches words; it is not a language model): 'List', 'rooms' match list_rooms; "
        "I call it without arguments."
    )
    assert "list_rooms returned this:\nrooms, 1:\n- hall" in "".join(pieces)


async def test_equal_messages_get_equal_answers(home: Runtime) -> None:
    answers = [(await said(home, "What prices does the tariff solar have?", f"s-{n}")).text for n in range(2)]
    assert answers[0] == answers[1]


async def test_a_completion_has_the_shape_of_its_design() -> None:
    report = await completions.complete_site_report("demo", "How is the harbour?")
    assert "Demo model" in report.headline


def add_note(title: str, text: str) -> str:
    """Add a note.

    Args:
        title: What it is called.
        text: What it says.
    """
    return f"{title}: {text}"


@pytest.mark.parametrize(
    "message",
    [
        'add a note titled "Shopping" with text Buy two lemons.',
        'add a note with text Buy two lemons and title "Shopping"',
        'add a note: title="Shopping", text="Buy two lemons"',
    ],
)
def test_each_value_is_taken_from_its_own_part_of_a_message(message: str) -> None:
    tool = func_tool(add_note, toolset="desk.notes")
    draft = filled(tool.spec, message, ["note"])
    assert draft.arguments == {"title": "Shopping", "text": "Buy two lemons"}


@pytest.mark.parametrize("name", ["Page%3CItem%3E", "Page~1Item", "Page"])
def test_a_typed_result_has_what_its_references_lead_to(name: str) -> None:
    page = {"type": "object", "properties": {"total": {"type": "integer"}}, "required": ["total"]}
    definitions = {"Page<Item>": page, "Page/Item": page, "Page": page}
    assert typed_result({"$ref": f"#/$defs/{name}", "$defs": definitions}, [], "") == {"total": 0}


def test_a_result_ends_with_one_full_stop() -> None:
    answer = ToolAnswer(id="c1", name="show", status="ok", text='{"text": "Buy two."}')
    assert result_text(answer) == "show returned text Buy two."


@pytest.mark.parametrize(
    "message",
    [
        "add a note " + '{"text": ' * 20_000,
        'add a note {"text": "\\ud800"}',
        f"add a note with pages {'9' * 5_000}",
        f"add a note with pages {'1.' * 50_000}",
        f"add a note {'“' * 50_000}",
    ],
    ids=["deep", "surrogate", "digits", "dots", "quotes"],
)
def test_no_message_is_an_error_of_the_planner(message: str) -> None:
    def add_note(pages: int, text: str = "") -> str:
        """Add a note."""
        return text * pages

    draft = filled(func_tool(add_note, toolset="desk.notes").spec, message, ["note"])
    assert to_json(draft.arguments)
