"""A tool that an agent answers, in every framework: what the run of the agent asks is asked there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from langchain_core.messages import ToolCall
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from tests.agents.tools import agent, answers, calling, exported
from toolgen.adapters.framework_calls import FrameworkCalls
from toolgen.adapters.langchain import langchain_tools
from toolgen.adapters.langgraph import langgraph_ask
from toolgen.agents import Await, FinalResult, PlanInput, PlanResult, agents_of
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.contract.json_value import Json
from toolgen.engines import InProcessEngine
from toolgen.runtime import ConfirmSpec, ReadonlyContext, Runtime

from .home import MIRA, Call, Driver, Home, Workshop
from .test_contract import DRIVERS

YES: Json = {"approved": True}
ASKED_ONCE = ("OpenAIAgents", "ADK")
"""Frameworks that ask once for a call; the next question of it is taken back, as for a plain tool."""


async def burn(id: str) -> str:
    """Burn a parcel."""
    return f"{id} is ash"


class Clerk:
    """Plans one batch, and says what it gave."""

    def __init__(self, first: PlanResult) -> None:
        self.first = first

    async def plan_start(self, given: PlanInput) -> PlanResult:
        return self.first

    async def plan_resume(self, given: PlanInput) -> PlanResult:
        if isinstance(self.first, Await):
            return FinalResult(result=getattr(given.messages[-1], "text", ""))
        return FinalResult(result=" | ".join(answers(given)))


CASES: dict[str, tuple[PlanResult, Json, str, str]] = {
    "a confirmation": (calling(("burn", {"id": "a"})), YES, "Burn a?", "a is ash"),
    "a question": (calling("post"), "Kiel", "Where does it go?", "sent to Kiel"),
    "a question of the planner": (Await(kind="clarification", question="Which?"), "that", "Which?", "that"),
}


async def desk(runtime: Runtime, first: PlanResult) -> Home:
    """Return what is offered: `look`, which an agent answers with this plan, and one below another."""
    workshop = Workshop()
    fires = function_toolset(
        "x.fires", [func_tool(burn, toolset="x.fires", confirm=ConfirmSpec(hint="Burn {id}?"))]
    )
    agents = agents_of(runtime)
    agents.register(agent("x.low", Clerk(first), workshop.toolset(), fires))
    agents.register(agent("x.top", Clerk(calling("look")), exported("x.lows", "x.low")))
    runtime.tools.register(exported("x.tops", "x.top"))
    await runtime.runs.start()
    snapshot = await runtime.tools.snapshot(ReadonlyContext(meta=MIRA))
    return Home(runtime=runtime, snapshot=snapshot, workshop=workshop)


@pytest.fixture(params=DRIVERS, ids=str)
def driver(request: pytest.FixtureRequest) -> Driver:
    found: Driver = request.param
    return found


@pytest.fixture
async def runtime() -> AsyncIterator[Runtime]:
    async with Runtime(engine=InProcessEngine()) as runtime, asyncio.timeout(30):
        yield runtime


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("tool", ["lows_look", "tops_look"])
async def test_what_an_agent_asks_is_asked(driver: Driver, runtime: Runtime, case: str, tool: str) -> None:
    first, answer, question, told = CASES[case]
    home = await desk(runtime, first)
    [seen] = await driver.run(home, Call(tool=tool, answer=answer))
    assert seen.asked["question"] == question
    assert not seen.is_error, seen
    assert told in seen.text
    assert await runtime.suspensions.list() == ()


async def test_two_questions_at_once_are_asked_one_after_the_other(driver: Driver, runtime: Runtime) -> None:
    both = calling(("burn", {"id": "a"}), ("burn", {"id": "b"}))
    home = await desk(runtime, both)
    [seen] = await driver.run(home, Call(tool="lows_look", answer=YES))
    assert "a is ash" in seen.text
    assert ("b is ash" in seen.text) == (str(driver) not in ASKED_ONCE)
    assert await runtime.suspensions.list() == ()


async def test_a_call_that_is_cancelled_cancels_what_was_approved_below(runtime: Runtime) -> None:
    began, cancelled = asyncio.Event(), asyncio.Event()

    async def smoulder(id: str) -> str:
        """Burn a parcel slowly."""
        began.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return "never"

    fires = function_toolset("x.fires", [func_tool(smoulder, toolset="x.fires", confirm=ConfirmSpec())])
    agents_of(runtime).register(agent("x.low", Clerk(calling(("smoulder", {"id": "a"}))), fires))
    runtime.tools.register(exported("x.lows", "x.low"))
    await runtime.runs.start()
    calls: FrameworkCalls[None] = FrameworkCalls(
        interface="test", snapshot=await runtime.tools.snapshot(), meta=MIRA
    )
    call = calls.named(None, "look", {}, "call-1", "answer-1")
    result = await call.result()
    asked = result.suspension
    assert asked is not None, result
    run = asyncio.ensure_future(call.answer(asked, {"id": asked.id, "answer": YES}))
    await began.wait()
    run.cancel()
    await asyncio.wait([run])
    await cancelled.wait()
    assert run.cancelled()


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("tool", ["lows_look", "tops_look"])
async def test_what_an_agent_was_answered_in_a_graph_reaches_no_question_after_it(
    runtime: Runtime, case: str, tool: str
) -> None:
    """Also in a node that runs again, when the run of the agent has ended."""
    first, answer, question, told = CASES[case]
    home = await desk(runtime, first)
    wiped: list[str] = []
    asked: list[str] = []
    messages: list[str] = []
    [look] = [one for one in langchain_tools(home.snapshot, MIRA, ask=langgraph_ask) if one.name == tool]

    async def node(state: MessagesState, config: RunnableConfig) -> None:
        call = ToolCall(name=tool, args={}, id="c0", type="tool_call")
        messages.append((await look.ainvoke(call, config)).content)
        if interrupt({"question": "Wipe?"}):
            wiped.append("sda")
        interrupt({"question": "Sure?"})

    graph = StateGraph(MessagesState)
    graph.add_node("n", node)
    graph.add_edge(START, "n")
    app: Any = graph.compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "t"}}
    state = await app.ainvoke({"messages": []}, config)
    while shown := state.get("__interrupt__"):
        asked.append(shown[0].value["question"])
        value = {"id": shown[0].value["id"], "answer": answer} if asked[-1] == question else False
        state = await app.ainvoke(Command(resume={shown[0].id: value}), config)
    assert (asked, wiped) == ([question, "Wipe?", "Sure?"], [])
    assert len(set(messages)) == 1
    assert told in messages[0]
