"""`toolgen_tool_node` stands where a `ToolNode` stands: in any state, with what that injects and returns."""

from __future__ import annotations

import operator
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, InjectedToolCallId, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import InjectedState, ToolNode, ToolRuntime, tools_condition
from langgraph.types import Command, Send, interrupt
from pydantic import BaseModel

from tests.selection import diagonal
from toolgen.adapters.langgraph import toolgen_tool_node
from toolgen.engines import InProcessEngine
from toolgen.runtime import Runtime

from .own_interrupts import INPUT, RETRIES, Desk, around, calls_of, drive, every_answer, turns
from .with_langgraph import CONFIG, interruptions, results

SCRIPTS = ["TOT", "TT", "OTN", "AOT", "ROO"]


@pytest.mark.parametrize(("script", "is_plain"), diagonal(SCRIPTS, [False, True]))
async def test_every_answer_counts_whoever_asks_first(script: str, is_plain: bool) -> None:
    """The application's tool asks later than toolgen's the first time, and sooner then."""
    for says in every_answer(script):
        desk = Desk()
        async with Runtime(engine=InProcessEngine()) as runtime:
            tools = await desk.tools(runtime)
            node = toolgen_tool_node([*tools.values(), desk.own_tool([turns])])
            await drive(desk, around(node, script), says, is_plain=is_plain)
        desk.check(script, says)


async def test_all_that_is_asked_is_shown_at_once() -> None:
    desk = Desk()
    async with Runtime(engine=InProcessEngine()) as runtime:
        tools = await desk.tools(runtime)
        graph = around(toolgen_tool_node([*tools.values(), desk.own_tool()]), "TOTN")
        asked = {one.value["question"]: one for one in interruptions(await graph.ainvoke(INPUT, CONFIG))}
        assert set(asked) == {"Pay 0 to p0?", "Wipe 1?", "Pay 2 to p2?"}  # as each task came to it
        wipe = asked.pop("Wipe 1?")
        values = {one.id: {"id": one.value["id"], "answer": {"approved": True}} for one in asked.values()}
        state = await graph.ainvoke(Command(resume={**values, wipe.id: True}), CONFIG)
    told = results(state["messages"])
    assert list(told) == ["c0", "c1", "c2", "c3"]
    assert list(told.values()) == ['"0 paid to p0"', "ended", '"2 paid to p2"', '"greeted n3"']


class Typed(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]
    log: Annotated[list[str], operator.add]
    last: Annotated[str, lambda old, new: new]
    who: str


class Model(BaseModel):
    messages: Annotated[list[AnyMessage], add_messages]
    log: Annotated[list[str], operator.add] = []
    last: Annotated[str, lambda old, new: new] = ""
    who: str


@dataclass
class Plain:
    messages: Annotated[list[AnyMessage], add_messages]
    who: str
    log: Annotated[list[str], operator.add] = field(default_factory=list)
    last: Annotated[str, lambda old, new: new] = ""


@tool
def note(
    number: int, who: Annotated[str, InjectedState("who")], tool_call_id: Annotated[str, InjectedToolCallId]
) -> Any:
    """Note something in the state of the graph, after a question."""
    said = interrupt({"question": f"Note {number}?"})
    told = ToolMessage(f"{who} {said}", tool_call_id=tool_call_id)
    return Command(update={"log": [f"{who}{number}"], "last": who, "messages": [told]})


@tool
def look(runtime: ToolRuntime) -> str:
    """Look at the state of the graph."""
    state: Any = runtime.state
    return str(state["who"] if isinstance(state, dict) else state.who)


def call(name: str, number: int) -> Any:
    args = {} if name == "look" else {"number": number}
    return {"name": name, "args": args, "id": f"c{number}", "type": "tool_call"}


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")  # of ToolRuntime in LangGraph itself
@pytest.mark.parametrize("schema", [Typed, Model, Plain])
@pytest.mark.parametrize("kind", [toolgen_tool_node, ToolNode])
async def test_it_works_in_the_states_in_which_a_tool_node_works(schema: Any, kind: Any) -> None:
    """What the state had is not added to it again; commands and injected values reach the graph around."""
    graph = StateGraph(schema)
    graph.add_node("tools", kind([note, look]))
    graph.add_edge(START, "tools")
    app = graph.compile(checkpointer=InMemorySaver())
    made = AIMessage("", tool_calls=[call("note", 0), call("look", 1), call("note", 2)])
    state = {"messages": [HumanMessage("go"), made], "log": ["begun"], "last": "old", "who": "ann"}
    ended = await app.ainvoke(state, CONFIG)
    while asked := interruptions(ended):
        ended = await app.ainvoke(Command(resume={one.id: "agreed" for one in asked}), CONFIG)
    assert (ended["log"], ended["last"]) == (["begun", "ann0", "ann2"], "ann")
    assert results(ended["messages"]) == {"c0": "ann agreed", "c1": "ann", "c2": "ann agreed"}
    assert len(ended["messages"]) == 5


@pytest.mark.parametrize("kind", [toolgen_tool_node, ToolNode])
async def test_commands_lead_to_nodes_of_the_graph_and_of_the_one_above(kind: Any) -> None:
    @tool
    def leave(number: int) -> Any:
        """Go to a node of the graph above."""
        return Command(graph=Command.PARENT, goto=[Send("above", {"log": [f"leaves {number}"]})])

    @tool
    def go(number: int, tool_call_id: Annotated[str, InjectedToolCallId]) -> Any:
        """Go to a node of the graph."""
        told = ToolMessage("goes", tool_call_id=tool_call_id)
        return Command(goto="here", update={"messages": [told]})

    for name, wanted in (("go", ["here"]), ("leave", ["leaves 0", "leaves 1"])):
        inner = StateGraph(Typed)
        inner.add_node("tools", kind([leave, go]))
        inner.add_node("here", lambda state: {"log": ["here"]})
        inner.add_edge(START, "tools")
        outer: Any = StateGraph(Typed)
        outer.add_node("sub", inner.compile())
        outer.add_node("above", lambda state: {"log": state["log"]})
        outer.add_edge(START, "sub")
        app: Any = outer.compile(checkpointer=InMemorySaver())
        made = AIMessage("", tool_calls=[call(name, 0), call(name, 1)])
        ended = await app.ainvoke({"messages": [made], "who": "ann", "log": []}, CONFIG)
        assert set(ended["log"]) == set(wanted)


@pytest.mark.parametrize("kind", [toolgen_tool_node, ToolNode])
async def test_its_options_are_those_of_a_tool_node(kind: Any) -> None:
    seen: list[str] = []

    async def around_each(request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        seen.append(request.tool_call["id"])
        return await handler(request)

    @tool
    def fail(number: int) -> str:
        """Fail."""
        raise KeyError(number)

    node = kind([fail], messages_key="said", handle_tool_errors="it failed", awrap_tool_call=around_each)
    made = AIMessage("", tool_calls=[call("fail", 0), call("fail", 1), call("nothing", 2)])

    class Said(TypedDict):
        said: Annotated[list[AnyMessage], add_messages]

    graph = StateGraph(Said)
    graph.add_node("tools", node)
    graph.add_edge(START, "tools")
    ended = await graph.compile().ainvoke({"said": [made]})
    told = results(ended["said"])
    assert (told["c0"], told["c1"], sorted(seen)) == ("it failed", "it failed", ["c0", "c1", "c2"])
    assert "not a valid tool" in told["c2"]


@pytest.mark.parametrize("kind", [toolgen_tool_node, ToolNode])
async def test_it_takes_a_list_of_messages_and_refuses_what_has_none(kind: Any) -> None:
    schema: Any = Annotated[list[AnyMessage], add_messages]
    graph: Any = StateGraph(schema)
    made = AIMessage("", tool_calls=[call("look", 0), call("look", 1)])

    @tool("look")
    def see() -> str:
        """Look."""
        return "seen"

    graph.add_node("tools", kind([see]))
    graph.add_edge(START, "tools")
    app = graph.compile()
    assert results(await app.ainvoke([made])) == {"c0": "seen", "c1": "seen"}
    with pytest.raises(ValueError, match="No AIMessage"):
        await app.ainvoke([HumanMessage("go")])


@pytest.mark.parametrize("with_saver", [True, False])
async def test_a_node_that_is_retried_runs_no_call_twice(with_saver: bool) -> None:
    desk, left = Desk(), [1, 2]

    @tool
    async def wipe(number: int) -> str:
        """Wipe a disk."""
        await turns()
        if left and left.pop():
            raise ConnectionError("the network")
        return "wiped"

    async with Runtime(engine=InProcessEngine()) as runtime:
        tools: list[BaseTool] = [*(await desk.tools(runtime)).values(), wipe]
        graph = StateGraph(MessagesState)
        graph.add_node("tools", toolgen_tool_node(tools), retry_policy=RETRIES)
        graph.add_edge(START, "tools")
        app = graph.compile(checkpointer=InMemorySaver() if with_saver else None)
        state = await app.ainvoke({"messages": [calls_of("NON")]}, CONFIG)
    assert results(state["messages"])["c1"] == "wiped"
    assert sorted(desk.greeted) == ["n0", "n2"]


async def test_it_stands_in_the_loop_of_a_graph_with_a_condition() -> None:
    desk = Desk()
    messages = iter([calls_of("TN"), calls_of("NT"), AIMessage("end")])
    async with Runtime(engine=InProcessEngine()) as runtime:
        tools = await desk.tools(runtime)
        graph = StateGraph(MessagesState)
        graph.add_node("model", lambda state: {"messages": [next(messages)]})
        graph.add_node("tools", toolgen_tool_node(list(tools.values())))
        graph.add_edge(START, "model")
        graph.add_conditional_edges("model", tools_condition, ["tools", END])
        graph.add_edge("tools", "model")
        says = {"Pay 0 to p0?": True, "Pay 1 to p1?": True}
        state = await drive(desk, graph.compile(checkpointer=InMemorySaver()), says)
    assert (desk.paid, sorted(desk.greeted)) == ([("p0", 0), ("p1", 1)], ["n0", "n1"])
    assert state["messages"][-1].content == "end"
