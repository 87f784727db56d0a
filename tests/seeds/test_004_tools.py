"""Tools and their context: state, control of the flow, files and toolsets print what the document says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.agents.tools import agent, calling, first_answer, running
from tests.runtime.typed_functions import called
from toolgen.agents import AgentRegistration, AgentSpec, PlanInput, ScriptedPlanner, agents_of
from toolgen.capabilities import (
    ArtifactsCapability,
    Change,
    MemoryArtifactStore,
    MemoryStateStore,
    SqliteStateStore,
    StateCapability,
    StateStore,
)
from toolgen.runtime import (
    BoundTool,
    CallMeta,
    ReadonlyContext,
    Runtime,
    StaticToolset,
    ToolContext,
    ToolError,
    ToolOutcome,
)
from toolgen.runtime.functions import func_tool, function_toolset
from toolgen.runtime.views import prefixed

ANN = CallMeta(session_id="1234", labels={"user": "user1234"})


def get_weather_report(city: str) -> dict:  # type: ignore[type-arg]  # as it is printed
    """Retrieves the current weather report for a specified city.

    Returns:
        dict: The weather, with a 'status' key ('success' or 'error').
    """
    if city.lower() == "london":
        report = (
            "The current weather in London is cloudy with a temperature of 18 degrees Celsius and a "
            "chance of rain."
        )
        return {"status": "success", "report": report}
    if city.lower() == "paris":
        report = "The weather in Paris is sunny with a temperature of 25 degrees Celsius."
        return {"status": "success", "report": report}
    return {"status": "error", "error_message": f"Weather information for '{city}' is not available."}


def analyze_sentiment(text: str) -> dict:  # type: ignore[type-arg]  # as it is printed
    """Analyzes the sentiment of the given text.

    Returns:
        dict: A sentiment ('positive', 'negative', or 'neutral') and a 'confidence' score.
    """
    if "good" in text.lower() or "sunny" in text.lower():
        return {"sentiment": "positive", "confidence": 0.8}
    if "rain" in text.lower() or "bad" in text.lower():
        return {"sentiment": "negative", "confidence": 0.7}
    return {"sentiment": "neutral", "confidence": 0.6}


@pytest.mark.parametrize(
    ("city", "found"),
    [
        ("Paris", {"report": "The weather in Paris is sunny with a temperature of 25 degrees Celsius."}),
        ("Rome", {"error_message": "Weather information for 'Rome' is not available."}),
    ],
)
async def test_the_weather_report_has_a_status(city: str, found: dict[str, str]) -> None:
    status = "success" if "report" in found else "error"
    assert (await called(get_weather_report, {"city": city})).result == {"status": status, **found}


@pytest.mark.parametrize(
    ("text", "sentiment", "confidence"),
    [
        ("That's good", "positive", 0.8),
        ("I don't like rain", "negative", 0.7),
        ("Hm", "neutral", 0.6),
    ],
)
async def test_the_sentiment_has_a_confidence(text: str, sentiment: str, confidence: float) -> None:
    found = (await called(analyze_sentiment, {"text": text})).result
    assert found == {"sentiment": sentiment, "confidence": confidence}


async def test_an_agent_uses_two_tools_in_sequence(capsys: pytest.CaptureFixture[str]) -> None:
    def report(given: PlanInput) -> str:
        return first_answer(given).partition('"report":"')[2].removesuffix('"}')

    def feedback(given: PlanInput) -> str:
        return "Glad to hear it." if '"positive"' in first_answer(given) else "Sorry to hear it."

    planner = ScriptedPlanner(
        [calling(("get_weather_report", {"city": "london"})), report],
        [calling(("analyze_sentiment", {"text": "I don't like rain"})), feedback],
    )
    toolset = function_toolset("x.weather", [get_weather_report, analyze_sentiment])
    async with running(agent("x.weather_sentiment_agent", planner, toolset)) as (runtime, _):
        client = agents_of(runtime).client("x.weather_sentiment_agent")
        for query in ("weather in london?", "I don't like rain"):
            print("Agent Response: ", (await client.run(query, session_id="1234")).text)
    assert capsys.readouterr().out.splitlines() == [
        "Agent Response:  The current weather in London is cloudy with a temperature of 18 degrees Celsius "
        "and a chance of rain.",
        "Agent Response:  Sorry to hear it.",
    ]


def update_user_preference(preference: str, value: str, tool_context: ToolContext):  # type: ignore[no-untyped-def]
    """Updates a user-specific preference."""
    user_prefs_key = "user:preferences"
    # Get current preferences or initialize if none exist
    preferences: Any = tool_context.state.get(user_prefs_key, {})
    preferences[preference] = value
    # Write the updated dictionary back to the state
    tool_context.state[user_prefs_key] = preferences
    print(f"Tool: Updated user preference '{preference}' to '{value}'")
    return {"status": "success", "updated_preference": preference}


@pytest.fixture(params=["memory", "sqlite"])
def states(request: pytest.FixtureRequest, tmp_path: Any) -> StateStore:
    return MemoryStateStore() if request.param == "memory" else SqliteStateStore(tmp_path / "state.db")


async def test_a_preference_is_kept_for_the_user(
    states: StateStore, capsys: pytest.CaptureFixture[str]
) -> None:
    runtime = Runtime(capabilities=[StateCapability(states)])
    runtime.tools.register(function_toolset("x.tools", [update_user_preference]))
    for preference, value, session in (("theme", "dark", "1"), ("language", "de", "2")):
        meta = CallMeta(session_id=session, labels={"user": "user1234"})
        arguments = {"preference": preference, "value": value}
        result = await runtime.call("update_user_preference", arguments, meta)
        assert result.result == {"status": "success", "updated_preference": preference}
    assert await states.load("user", "user1234") == {"preferences": {"theme": "dark", "language": "de"}}
    assert capsys.readouterr().out.splitlines() == [
        "Tool: Updated user preference 'theme' to 'dark'",
        "Tool: Updated user preference 'language' to 'de'",
    ]


def check_and_transfer(query: str, tool_context: ToolContext) -> str:
    """Checks if the query requires escalation and transfers to another agent if needed."""
    if "urgent" in query.lower():
        print("Tool: Detected urgency, transferring to the support agent.")
        tool_context.actions.transfer("x.support_agent")
        return "Transferring to the support agent..."
    return f"Processed query: '{query}'. No further action needed."


async def test_an_urgent_query_goes_to_the_support_agent(capsys: pytest.CaptureFixture[str]) -> None:
    main = ScriptedPlanner(
        [calling(("check_and_transfer", {"query": "how are you"})), first_answer],
        [calling(("check_and_transfer", {"query": "this is urgent, i cant login"}))],
    )
    support = ScriptedPlanner(["I am the support handler. Let us get you in."])
    toolset = function_toolset("x.support", [check_and_transfer])
    agents = (
        agent("x.main_agent", main, toolset, transfers=("x.support_agent",)),
        agent("x.support_agent", support),
    )
    async with running(*agents) as (runtime, _):
        client = agents_of(runtime).client("x.main_agent")
        for query in ("how are you", "this is urgent, i cant login"):
            output = await client.run(query, session_id="1234")
            print("Agent Response: ", output.text)
        assert (output.agent, output.stop) == ("x.support_agent", "transferred")
    assert capsys.readouterr().out.splitlines() == [
        "Agent Response:  \"Processed query: 'how are you'. No further action needed.\"",
        "Tool: Detected urgency, transferring to the support agent.",
        "Agent Response:  I am the support handler. Let us get you in.",
    ]


async def test_a_result_can_be_the_answer_without_a_summary() -> None:
    """`skip_summarization`."""

    def order() -> ToolOutcome[str]:
        """Order."""
        return ToolOutcome.final("42", display="Your order is number 42.")

    planner = ScriptedPlanner([calling("order"), "never said"])
    async with running(agent("x.agent", planner, function_toolset("x.shop", [order]))) as (runtime, _):
        output = await agents_of(runtime).client("x.agent").run("Order.", session_id="s")
    assert (output.text, output.stop) == ("Your order is number 42.", "terminal_tool")


async def process_document(
    document_name: str, analysis_query: str, tool_context: ToolContext
) -> dict[str, Any]:
    """Analyzes a document."""
    print(f"Tool: Attempting to load artifact: {document_name}")
    try:
        document = await tool_context.artifacts.load(document_name)
    except ToolError:
        return {"status": "error", "message": f"Document '{document_name}' not found."}
    document_text = document.data.decode()
    print(f"Tool: Loaded document '{document_name}' ({len(document_text)} chars).")
    analysis_result = f"Analysis of '{document_name}' regarding '{analysis_query}'"
    print("Tool: Performed analysis.")
    name = f"analysis_{document_name}"
    saved = await tool_context.artifacts.save(name, analysis_result.encode(), "text/plain")
    print(f"Tool: Saved analysis result as '{name}' version {saved.version}.")
    return {"status": "success", "analysis_artifact": name, "version": saved.version}


async def upload(tool_context: ToolContext) -> None:
    """Upload the report."""
    await tool_context.artifacts.save("report.txt", b"All is well.", "text/plain")


async def test_a_document_is_loaded_and_its_analysis_saved(capsys: pytest.CaptureFixture[str]) -> None:
    runtime = Runtime(capabilities=[ArtifactsCapability(MemoryArtifactStore())])
    runtime.tools.register(function_toolset("x.documents", [process_document, upload]))
    arguments = {"document_name": "report.txt", "analysis_query": "mood"}
    missing = await runtime.call("process_document", arguments, ANN)
    assert missing.result == {"status": "error", "message": "Document 'report.txt' not found."}
    await runtime.call("upload", {}, ANN)
    done = await runtime.call("process_document", arguments, ANN)
    assert done.result == {
        "status": "success",
        "analysis_artifact": "analysis_report.txt",
        "version": 1,  # the first one, which the document calls 0
    }
    assert capsys.readouterr().out.splitlines() == [
        "Tool: Attempting to load artifact: report.txt",
        "Tool: Attempting to load artifact: report.txt",
        "Tool: Loaded document 'report.txt' (12 chars).",
        "Tool: Performed analysis.",
        "Tool: Saved analysis result as 'analysis_report.txt' version 1.",
    ]


def lookup_order_status(order_id: str) -> dict:  # type: ignore[type-arg]  # as it is printed
    """Fetches the current status of a customer's order using its ID.

    Use this tool ONLY when a user explicitly asks for the status of
    a specific order and provides the order ID. Do not use it for
    general inquiries.

    Args:
        order_id: The unique identifier of the order to look up.

    Returns:
        A dictionary containing the order status.
    """
    orders = {"A1": {"status": "shipped", "tracking_number": "1Z9..."}}
    return orders.get(order_id) or {"status": "error", "error_message": f"Order ID {order_id} not found."}


async def test_the_docstring_describes_the_tool() -> None:
    spec = func_tool(lookup_order_status).spec
    assert spec.description.startswith(
        "Fetches the current status of a customer's order using its ID.\n\nUse this"
    )
    properties = spec.payload.schema["properties"]
    assert properties["order_id"]["description"] == "The unique identifier of the order to look up."
    assert (await called(lookup_order_status, {"order_id": "A1"})).result == {
        "status": "shipped",
        "tracking_number": "1Z9...",
    }
    assert (await called(lookup_order_status, {"order_id": "B2"})).result == {
        "status": "error",
        "error_message": "Order ID B2 not found.",
    }


def add_numbers(a: int, b: int, tool_context: ToolContext) -> dict[str, Any]:
    """Adds two integer numbers."""
    print(f"Tool: add_numbers called with a={a}, b={b}")
    result = a + b
    tool_context.state["last_math_operation"] = "addition"
    return {"status": "success", "result": result}


def subtract_numbers(a: int, b: int) -> dict[str, Any]:
    """Subtracts the second number from the first."""
    print(f"Tool: subtract_numbers called with a={a}, b={b}")
    return {"status": "success", "result": a - b}


def greet_user(name: str = "User") -> dict[str, str]:
    """Greets the user."""
    print(f"Tool: greet_user called with name={name}")
    return {"greeting": f"Hello, {name}!"}


class SimpleMathToolset:
    """Provides the tools of its time; one more where the state says so."""

    name = "x.maths"

    def __init__(self) -> None:
        self.basic = function_toolset(self.name, [add_numbers, subtract_numbers]).bound

    async def tools(self, context: ReadonlyContext) -> Sequence[BoundTool]:
        if context.state.get("user:enable_advanced_math"):
            return [*self.basic, func_tool(greet_user, toolset=self.name, name="multiply_numbers")]
        return self.basic


async def test_a_toolset_has_a_prefix_and_tools_that_come_and_go(capsys: pytest.CaptureFixture[str]) -> None:
    store = MemoryStateStore()
    greet: StaticToolset = function_toolset("x.greetings", [greet_user])
    planner = ScriptedPlanner(
        [
            calling(
                ("greet_user", {}),
                ("calculator_add_numbers", {"a": 2, "b": 3}),
                ("calculator_subtract_numbers", {"a": 5, "b": 1}),
            ),
            lambda given: ", ".join(spec.name for spec in given.tools),
        ],
        [lambda given: ", ".join(spec.name for spec in given.tools)],
    )
    spec = agent("x.calculator_agent", planner, greet).spec
    registration = AgentRegistration(
        spec=AgentSpec(id=spec.id, description=spec.description, tools=spec.tools),
        planner=planner,
        toolsets=(greet,),
        dynamic=(prefixed(SimpleMathToolset(), "calculator_"),),
    )
    options: dict[str, Any] = {"capabilities": [StateCapability(store)]}
    async with running(registration, **options) as (runtime, _):
        client = agents_of(runtime).client("x.calculator_agent")
        output = await client.run("2 and 3?", session_id="s")
        await store.apply("user", "ann", [Change(key="enable_advanced_math", operation="set", value=True)])
        advanced = await client.run("And now?", session_id="s", labels={"user": "ann"})
    assert sorted(capsys.readouterr().out.splitlines()) == [
        "Tool: add_numbers called with a=2, b=3",
        "Tool: greet_user called with name=User",
        "Tool: subtract_numbers called with a=5, b=1",
    ]
    answers = [answer.text for answer in planner.inputs[1].messages[-1].answers]  # type: ignore[union-attr]
    assert answers == [
        '{"greeting":"Hello, User!"}',
        '{"status":"success","result":5}',
        '{"status":"success","result":4}',
    ]
    assert await store.load("session", "s") == {"last_math_operation": "addition"}
    assert output.text == "greet_user, calculator_add_numbers, calculator_subtract_numbers"
    assert {*advanced.text.split(", ")} - {*output.text.split(", ")} == {"calculator_multiply_numbers"}
