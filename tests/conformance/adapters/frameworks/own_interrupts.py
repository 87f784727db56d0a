"""Graphs in which an application asks questions of its own beside those of toolgen's calls.

A script is one letter for each step: `T` pays by toolgen after an approval, `A` pays after an approval and a
question, `N` greets by toolgen and `R` reads by toolgen, which ask nobody, `O` asks by LangGraph's
`interrupt()` whether a disk is wiped.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from langchain_core.messages import AIMessage, HumanMessage, ToolCall
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, Interrupt, RetryPolicy, interrupt

from toolgen.adapters.langchain import langchain_tools
from toolgen.adapters.langgraph import langgraph_ask
from toolgen.contract.json_value import Json
from toolgen.runtime import ConfirmSpec, Runtime, ToolContext, ToolOutcome, Unfinished
from toolgen.runtime.functions import func_tool, function_toolset

from .bank import META, Bank
from .with_langgraph import CONFIG

INPUT: Final[Any] = {"messages": [HumanMessage("go")]}
TURN: Final = replace(META, turn_id="t")  # counts outside of graphs alone
RETRIES: Final = RetryPolicy(initial_interval=0.001, jitter=False, max_attempts=3)
Says = Mapping[str, bool]
"""What a person answers to each question: `Pay 0 to p0?`, `Wipe 1?`."""


class Desk(Bank):
    """A bank and an application that wipes disks; and what was asked, in its order."""

    def __init__(self, fails: int = 0) -> None:
        super().__init__()
        self.wiped: list[int] = []
        self.asked: list[str] = []
        self.fails = fails
        """How often `stumble` fails."""

    def own(self, number: int) -> None:
        """Ask a question of the application's own, as an application does whose node may run again."""
        if interrupt({"question": f"Wipe {number}?"}) and number not in self.wiped:
            self.wiped.append(number)

    def stumble(self) -> None:
        """Fail as often as wanted."""
        if self.fails:
            self.fails -= 1
            raise ConnectionError("the network")

    async def pay_for(self, to: str, amount: int, ctx: ToolContext) -> ToolOutcome[str] | Unfinished:
        """Pay, and ask what for."""
        if ctx.answer is None:
            return ToolOutcome.ask(f"What does {to} get it for?", {"type": "string"})
        return ToolOutcome.of(await self.pay(to, amount))

    async def balance(self, of: str) -> int:
        """Return what an account holds."""
        return len(of)

    async def tools(self, runtime: Runtime) -> dict[str, BaseTool]:
        """Return toolgen's tools by name."""
        asks = ConfirmSpec(hint="Pay {amount} to {to}?")
        more = [
            func_tool(self.pay_for, toolset="bank.more", confirm=asks),
            func_tool(self.balance, toolset="bank.more", annotations={"read_only": True}),
        ]
        runtime.tools.register(function_toolset("bank.more", more))
        tools = langchain_tools(await self.offered(runtime), TURN, ask=langgraph_ask)
        return {one.name: one for one in tools}

    def own_tool(self, pauses: Iterable[Callable[[], Any]] = ()) -> BaseTool:
        """Return the application's tool that asks by itself; it waits for these before, run by run."""
        waiting = iter(pauses)

        @tool
        async def wipe(number: int) -> str:
            """Wipe a disk."""
            if (pause := next(waiting, None)) is not None:
                await pause()
            self.own(number)
            return "ended"

        return wipe

    def check(self, script: str, says: Says, *, once: bool = True) -> None:
        """Check that what was agreed to was done once and nothing else, after one question for each."""
        paid, wiped = Counter(to for to, _ in self.paid), Counter(self.wiped)
        yes = {question for question, answer in says.items() if answer}
        assert paid == Counter(f"p{n}" for n, _ in enumerate(script) if f"Pay {n} to p{n}?" in yes)
        assert wiped == Counter(n for n, _ in enumerate(script) if f"Wipe {n}?" in yes)
        assert Counter(self.greeted) == Counter(f"n{n}" for n, step in enumerate(script) if step == "N")
        if once:
            bare = [question for question in self.asked if not question.startswith("What")]
            assert Counter(bare) == Counter(says.keys())


async def turns() -> None:
    """Let what else runs here go on, longer than a call takes to ask."""
    for _ in range(1000):
        await asyncio.sleep(0)


def call_of(step: str, number: int) -> ToolCall:
    """Return the call of a step of a script."""
    match step:
        case "T":
            name, args = "pay", {"to": f"p{number}", "amount": number}
        case "A":
            name, args = "pay_for", {"to": f"p{number}", "amount": number}
        case "R":
            name, args = "balance", {"of": f"b{number}"}
        case "N":
            name, args = "greet", {"name": f"n{number}"}
        case _:
            name, args = "wipe", {"number": number}
    return ToolCall(name=name, args=args, id=f"c{number}", type="tool_call")


def calls_of(script: str) -> AIMessage:
    """Return the message of a model that makes the calls of a script."""
    return AIMessage("", tool_calls=[call_of(step, n) for n, step in enumerate(script)])


def questions(script: str) -> list[str]:
    """Return the questions of a script."""
    texts = {"T": "Pay {0} to p{0}?", "A": "Pay {0} to p{0}?", "O": "Wipe {0}?"}
    return [texts[step].format(n) for n, step in enumerate(script) if step in texts]


def every_answer(script: str) -> Iterator[dict[str, bool]]:
    """Yield all that a person may say."""
    asked = questions(script)
    for said in itertools.product((True, False), repeat=len(asked)):
        yield dict(zip(asked, said, strict=True))


def node_of(desk: Desk, tools: Mapping[str, BaseTool], script: str, fail_at: int = -1) -> Any:
    """Return a node that runs a script, and fails after a step as often as the desk says."""

    async def node(state: MessagesState, config: RunnableConfig) -> dict[str, Any]:
        for n, step in enumerate(script):
            if step == "O":
                desk.own(n)
            else:
                call = call_of(step, n)
                await tools[call["name"]].ainvoke(call, config)
            if n == fail_at:
                desk.stumble()
        return {"messages": [AIMessage("end")]}

    return node


def plain(
    desk: Desk,
    tools: Mapping[str, BaseTool],
    script: str,
    *,
    saver: BaseCheckpointSaver[Any] | None = None,
    fail_at: int = -1,
    is_sub: bool = False,
) -> Any:
    """Return a graph of one node that runs a script, in a subgraph if wanted; LangGraph retries it."""
    graph = StateGraph(MessagesState)
    graph.add_node("n", node_of(desk, tools, script, fail_at), retry_policy=RETRIES)
    graph.add_edge(START, "n")
    graph.add_edge("n", END)
    if not is_sub:
        return graph.compile(checkpointer=saver or InMemorySaver())
    outer = StateGraph(MessagesState)
    outer.add_node("sub", graph.compile())
    outer.add_edge(START, "sub")
    outer.add_edge("sub", END)
    return outer.compile(checkpointer=saver or InMemorySaver())


def around(node: Any, script: str) -> Any:
    """Return a graph whose model makes the calls of a script, and whose node executes them."""
    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [calls_of(script)]})
    graph.add_node("tools", node)
    graph.add_edge(START, "model")
    graph.add_edge("model", "tools")
    graph.add_edge("tools", END)
    return graph.compile(checkpointer=InMemorySaver())


def answer_to(value: Mapping[str, Any], says: Says) -> Json:
    """Return what a person answers to a question, toolgen's or the application's own."""
    if value["question"].startswith("What"):
        return {"id": value["id"], "answer": "bread"}
    answer = says[value["question"]]
    return {"id": value["id"], "answer": {"approved": answer}} if "id" in value else answer


def resume(shown: Interrupt, value: Json, *, is_plain: bool) -> Command[Any]:
    """Return what resumes a graph, by the id of an interruption or by the value alone."""
    return Command(resume=value if is_plain else {shown.id: value})


async def drive(
    desk: Desk,
    graph: Any,
    says: Says,
    *,
    is_plain: bool = False,
    begin: Any = INPUT,
    between: Callable[[Interrupt], Awaitable[object]] | None = None,
    goes_on: bool = False,
    config: Any = CONFIG,
) -> dict[str, Any]:
    """Return the state of a graph after a person has answered all of its questions, one after the other.

    `between` sees each question before its answer. With `goes_on` the host invokes the graph without any
    value after each answer, as after a restart.
    """
    value = begin
    for _ in range(30):
        state: dict[str, Any] = await graph.ainvoke(value, config)
        if not (pending := _pending(state)):
            return state
        shown = pending[0]
        desk.asked.append(shown.value["question"])
        if between is not None:
            await between(shown)
        value = resume(shown, answer_to(shown.value, says), is_plain=is_plain and len(pending) == 1)
        if goes_on:
            state = await graph.ainvoke(value, config)
            if not _pending(state):
                return state
            value = None
    raise AssertionError(f"the graph asks without end: {desk.asked}")


def _pending(state: Mapping[str, Any]) -> Sequence[Interrupt]:
    return list(state.get("__interrupt__", ()))
