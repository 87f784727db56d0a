"""Function tools: parameters, long-running functions and agents as tools return what the document says."""

from __future__ import annotations

import asyncio
from typing import Any, Optional

import pytest

from tests.agents.tools import agent, calling, engine_of, first_answer, running, texts
from tests.runtime.typed_functions import called
from toolgen.agents import ScriptedPlanner, agents_of
from toolgen.calls.toolsets.registration import AgentRoute
from toolgen.capabilities import MemoryStateStore, StateCapability
from toolgen.runtime import (
    CallMeta,
    Pending,
    RegistrationError,
    Runtime,
    ToolCall,
    ToolContext,
    ToolModel,
    ToolOutcome,
    ToolsetRegistration,
)
from toolgen.runtime.functions import LongRunningSpec, TypeCodec, func_tool, function_toolset


def get_weather(location: str, unit: str, days: int = 1) -> dict[str, Any]:
    """Get the weather.

    Args:
        location: The city and state, e.g., San Francisco, CA
        unit: The temperature unit, either 'celsius' or 'fahrenheit'
        days: The number of forecast days to return (defaults to 1)
    """
    return {"location": location, "unit": unit, "days": days}


async def test_parameters_without_a_default_are_required() -> None:
    schema = func_tool(get_weather).spec.payload.schema
    assert schema["required"] == ["location", "unit"]
    assert [part["description"] for part in schema["properties"].values()] == [
        "The city and state, e.g., San Francisco, CA",
        "The temperature unit, either 'celsius' or 'fahrenheit'",
        "The number of forecast days to return (defaults to 1)",
    ]
    result = await called(get_weather, {"location": "San Francisco, CA", "unit": "celsius"})
    assert result.json == b'{"location":"San Francisco, CA","unit":"celsius","days":1}'


def create_user_profile(username: str, bio: Optional[str] = None):  # type: ignore[no-untyped-def]  # noqa: UP045  # as it is printed
    """
    Creates a new user profile.

    Args:
        username (str): The user's unique username.
        bio (str, optional): A short biography for the user. Defaults to None.
    """
    # ... function logic ...
    if bio:
        return {"status": "success", "message": f"Profile for {username} created with a bio."}
    return {"status": "success", "message": f"Profile for {username} created."}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"username": "ann"}, "Profile for ann created."),
        ({"username": "ann", "bio": None}, "Profile for ann created."),
        ({"username": "ann", "bio": "Engineer"}, "Profile for ann created with a bio."),
    ],
    ids=["without", "null", "with"],
)
async def test_create_user_profile_returns_as_printed(arguments: dict[str, object], message: str) -> None:
    assert (await called(create_user_profile, arguments)).result == {"status": "success", "message": message}


def test_variadic_parameters_are_refused_with_the_way_out() -> None:
    """The document ignores them; a call without them would not be what their author meant."""

    def log(message: str, *args: str, **kwargs: str) -> None: ...

    with pytest.raises(RegistrationError, match=r"(?s)write args: list\[str\].*annotate it with Unpack"):
        func_tool(log)


async def test_a_result_that_is_no_dictionary_reaches_the_model_as_it_is() -> None:
    """The document wraps it under `result`."""

    def measure() -> float:
        return 21.5

    assert (await called(measure, {})).json == b"21.5"


def find_user(name: str, tool_context):  # type: ignore[no-untyped-def]
    """Find a user."""
    tool_context.state["temp:user_id"] = f"{name}-1"
    return {"status": "success"}


def greet(tool_context):  # type: ignore[no-untyped-def]
    """Greet the user that was found."""
    return f"Hello, {tool_context.state['temp:user_id']}!"


async def test_temporary_state_passes_data_between_the_tools_of_a_turn() -> None:
    toolset = function_toolset("x.users", [find_user, greet])
    planner = ScriptedPlanner(
        [calling(("find_user", {"name": "ann"})), calling("greet"), first_answer],
        [calling("greet"), lambda given: "gone" if "error" in first_answer(given) else "there"],
    )
    options: dict[str, Any] = {"capabilities": [StateCapability(MemoryStateStore())]}
    async with running(agent("x.agent", planner, toolset), **options) as (runtime, _):
        client = agents_of(runtime).client("x.agent")
        said = [(await client.run("Greet Ann.", session_id="s")).text for _ in range(2)]
    assert said == ['"Hello, ann-1!"', "gone"]


class CreateTicketResults(ToolModel):
    status: str
    ticket_id: str


def create_ticket_long_running(
    urgency: str, tool_context: ToolContext
) -> CreateTicketResults | Pending[CreateTicketResults]:
    """Creates a new support ticket with a specified urgency level."""
    ticket_id = "TICKET-ABC-123"
    tool_context.state[f"ticket-{tool_context.meta.tool_call_id}"] = ticket_id
    return ToolOutcome.pending(ticket_id, CreateTicketResults(status="started", ticket_id=ticket_id))


async def test_a_long_running_ticket_is_acknowledged_and_later_approved() -> None:
    """The first turn has the id of the ticket, and the second one the status that the application sends."""
    late = LongRunningSpec(ack=TypeCodec(CreateTicketResults, "CreateTicketResults"))
    tool = func_tool(create_ticket_long_running, toolset="x.tickets", long_running=late)
    call = calling(("create_ticket_long_running", {"urgency": "high"}))
    planner = ScriptedPlanner([call, first_answer], [texts])
    store = MemoryStateStore()
    options: dict[str, Any] = {"capabilities": [StateCapability(store)]}
    registration = agent("x.ticket_agent", planner, function_toolset("x.tickets", [tool]))
    async with running(registration, **options) as (runtime, _):
        client = agents_of(runtime).client("x.ticket_agent")
        first = await client.run("Create a high urgency ticket for me.", session_id="s")
        assert first.text == '{"status":"started","ticket_id":"TICKET-ABC-123"}'
        (work,) = first.pending
        assert await store.load("session", "s") == {f"ticket-{work.tool_call_id}": "TICKET-ABC-123"}

        await runtime.suspensions.answer(work.token, {"status": "approved", "ticket_id": work.handle})
        await engine_of(runtime).result(work.run_id)
        turns = await agents_of(runtime).sessions.transcript("s")
        second = await client.handle(turns[-1].turn.run_id, session_id="s").result()
    assert '{"status":"approved","ticket_id":"TICKET-ABC-123"}' in second.text


def summarize(text: str) -> str:
    """Summarize a long text."""
    raise AssertionError("an agent answers it")


@pytest.mark.parametrize("skips_summarization", [False, True])
async def test_an_agent_is_a_tool_of_another_one(skips_summarization: bool) -> None:
    """Its answer goes back to the agent that called it, or ends the turn as it is."""
    spec = func_tool(summarize, toolset="x.summaries", is_terminal=skips_summarization).spec
    exported = ToolsetRegistration(
        name="x.summaries", specs=[spec], executor=AgentRoute(agent="x.summary_agent")
    )
    summary = ScriptedPlanner(['"Short."'])
    main = ScriptedPlanner(
        [
            calling(("summarize", {"text": "A long text."})),
            lambda given: f"Here's a summary of the text: {first_answer(given)}",
        ]
    )
    agents = agent("x.summary_agent", summary), agent("x.main_agent", main, exported)
    async with running(*agents) as (runtime, _):
        output = await agents_of(runtime).client("x.main_agent").run("A long text.", session_id="s")
        (turn,) = await agents_of(runtime).sessions.transcript("s")
    assert output.text == ('"Short."' if skips_summarization else 'Here\'s a summary of the text: "Short."')
    assert turn.turn.agent == "x.main_agent"  # which keeps the conversation
    assert texts(summary.inputs[0]) == '[{"text":"A long text."}]'


async def test_functions_that_are_called_at_once_run_at_once() -> None:
    """Each waits for the other."""
    met = asyncio.Barrier(2)

    async def fetch(name: str) -> str:
        """Fetch."""
        await met.wait()
        return name

    runtime = Runtime()
    runtime.tools.register(function_toolset("x.data", [fetch]))
    calls = [
        ToolCall(tool="fetch", payload_json=b'{"name":"%s"}' % name, meta=CallMeta()) for name in (b"a", b"b")
    ]
    assert [result.result for result in await runtime.call_all(calls)] == ["a", "b"]
