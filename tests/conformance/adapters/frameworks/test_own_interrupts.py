"""An application's own `interrupt()` beside toolgen's calls: each answer counts for its own question."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, Interrupt

from tests.selection import diagonal
from toolgen.adapters.langgraph import ResumeError
from toolgen.engines import InProcessEngine
from toolgen.runtime import Runtime

from .own_interrupts import (
    INPUT,
    Desk,
    Says,
    answer_to,
    around,
    calls_of,
    drive,
    every_answer,
    node_of,
    plain,
    questions,
    turns,
)
from .with_langgraph import CONFIG, ScriptedModel, interruptions

in_both_modes = pytest.mark.parametrize("is_plain", [False, True], ids=["by id", "by value"])
NO_TO_THE_DISK = {"Pay 0 to p0?": True, "Wipe 1?": False}
SCRIPTS = ["TO", "OT", "TOT", "OTO", "NTO", "TNO", "RORT", "AO", "OAO", "OTOTO"]


@in_both_modes
async def test_a_no_to_a_question_after_an_approved_call_counts(is_plain: bool) -> None:
    desk = Desk()
    async with Runtime(engine=InProcessEngine()) as runtime:
        graph = plain(desk, await desk.tools(runtime), "TO")
        await drive(desk, graph, NO_TO_THE_DISK, is_plain=is_plain)
    desk.check("TO", NO_TO_THE_DISK)


@in_both_modes
async def test_a_no_to_a_tool_that_asks_by_itself_beside_an_approved_call_counts(is_plain: bool) -> None:
    """In one task; the application's tool asks later than toolgen's, in each run of the node."""
    desk = Desk()
    async with Runtime(engine=InProcessEngine()) as runtime:
        tools = await desk.tools(runtime)
        graph = around(ToolNode([tools["pay"], desk.own_tool([turns, turns, turns])]), "TO")
        await drive(desk, graph, NO_TO_THE_DISK, is_plain=is_plain)
    desk.check("TO", NO_TO_THE_DISK)


@pytest.mark.parametrize(("script", "is_plain", "is_sub"), diagonal(SCRIPTS, [False, True], [False, True]))
async def test_every_answer_counts_in_a_node(script: str, is_plain: bool, is_sub: bool) -> None:
    for n, says in enumerate(every_answer(script)):
        desk = Desk()
        async with Runtime(engine=InProcessEngine()) as runtime:
            graph = plain(desk, await desk.tools(runtime), script, is_sub=is_sub)
            await drive(desk, graph, says, is_plain=is_plain)
        desk.check(script, says)
        if n == 15:
            break


@pytest.mark.parametrize(
    ("script", "fail_at", "is_plain", "is_sub"),
    diagonal(["TOTO", "OTTO", "ANOT"], [0, 1, 2], [False, True], [False, True]),
)
async def test_a_node_that_is_retried_hands_out_each_answer_again(
    script: str, fail_at: int, is_plain: bool, is_sub: bool
) -> None:
    for says in list(every_answer(script))[::3]:
        desk = Desk(fails=2)
        async with Runtime(engine=InProcessEngine()) as runtime:
            graph = plain(desk, await desk.tools(runtime), script, fail_at=fail_at, is_sub=is_sub)
            await drive(desk, graph, says, is_plain=is_plain)
        assert desk.fails == 0
        desk.check(script, says)


@pytest.mark.parametrize(
    ("script", "is_plain"), [("TO", False), ("OT", False), ("TOTO", False), ("TO", True)]
)
async def test_a_host_that_goes_on_without_a_value_changes_no_answer(script: str, is_plain: bool) -> None:
    for says in every_answer(script):
        desk = Desk()
        async with Runtime(engine=InProcessEngine()) as runtime:
            graph = plain(desk, await desk.tools(runtime), script)
            await drive(desk, graph, says, is_plain=is_plain, goes_on=True)
        desk.check(script, says, once=False)


async def test_an_answer_of_the_application_that_langgraph_repeats_is_refused() -> None:
    """Answered by a value, it stays in the checkpoint and goes to whoever asks next after a restart."""
    desk = Desk()
    async with Runtime(engine=InProcessEngine()) as runtime:
        graph = plain(desk, await desk.tools(runtime), "OT")
        await graph.ainvoke(INPUT, CONFIG)
        [asked] = interruptions(await graph.ainvoke(Command(resume=True), CONFIG))
        with pytest.raises(ResumeError, match="was not used"):
            await graph.ainvoke(None, CONFIG)
        assert desk.paid == []
        await graph.ainvoke(Command(resume=answer_to(asked.value, {"Pay 1 to p1?": True})), CONFIG)
    assert (desk.paid, desk.wiped) == ([("p1", 1)], [0])


@pytest.mark.parametrize("is_sub", [False, True])
@pytest.mark.parametrize("says", list(every_answer("OTO")))
async def test_an_answer_by_value_before_one_by_id_is_refused(says: Says, is_sub: bool) -> None:
    """LangGraph would hand the first one to the third question too; by values alone each counts."""
    desk = Desk()
    async with Runtime(engine=InProcessEngine()) as runtime:
        graph = plain(desk, await desk.tools(runtime), "OTO", is_sub=is_sub)
        [first] = interruptions(await graph.ainvoke(INPUT, CONFIG))
        state = await graph.ainvoke(Command(resume=answer_to(first.value, says)), CONFIG)
        [second] = interruptions(state)
        with pytest.raises(ResumeError, match="by its id"):
            await graph.ainvoke(Command(resume={second.id: answer_to(second.value, says)}), CONFIG)
        assert desk.paid == []
        again: Command[Any] = Command(resume=answer_to(second.value, says))
        await drive(desk, graph, says, is_plain=True, begin=again)
    desk.check("OTO", says, once=False)


@in_both_modes
@pytest.mark.parametrize("kind", ["travel", "fork", "fork that is addressed"])
@pytest.mark.parametrize("says", list(every_answer("TO")))
async def test_a_step_that_is_done_again_asks_again(says: Says, kind: str, is_plain: bool) -> None:
    """The second time the person says the opposite, which counts then."""
    desk, other = Desk(), {question: not answer for question, answer in says.items()}
    async with Runtime(engine=InProcessEngine()) as runtime:
        graph = plain(desk, await desk.tools(runtime), "TO")
        await drive(desk, graph, says, is_plain=is_plain)
        desk.check("TO", says)
        desk.paid, desk.wiped, desk.asked = [], [], []
        past = [one async for one in graph.aget_state_history(CONFIG) if one.next == ("n",)]
        at = past[0].config
        if kind != "travel":
            at = await graph.aupdate_state(at, {"messages": [HumanMessage("fork")]}, as_node="__start__")
        if kind == "fork that is addressed":
            [asked] = interruptions(await graph.ainvoke(None, at))
            value = answer_to(asked.value, other)
            await graph.ainvoke(Command(resume=value if is_plain else {asked.id: value}), CONFIG)
        state = await graph.ainvoke(None, at)
        for shown in interruptions(state):
            desk.asked.append(shown.value["question"])
            value = answer_to(shown.value, other)
            again: Command[Any] = Command(resume=value if is_plain else {shown.id: value})
            await drive(desk, graph, other, is_plain=is_plain, begin=again)
    desk.check("TO", other, once=kind != "fork that is addressed")


@in_both_modes
@pytest.mark.parametrize("script", ["TO", "NO", "AO"])
async def test_a_call_whose_record_is_gone_is_refused(script: str, is_plain: bool) -> None:
    """Its answer is still there, and so the question after it would get that."""
    says = dict.fromkeys(questions(script), True)
    desk, engine = Desk(), InProcessEngine()

    async def prune(shown: Interrupt) -> None:
        if shown.value["question"].startswith("Wipe"):
            await engine.forget_session("s")

    async with Runtime(engine=engine) as runtime:
        graph = plain(desk, await desk.tools(runtime), script)
        with pytest.raises(ResumeError, match="has no stored record"):
            await drive(desk, graph, says, is_plain=is_plain, between=prune)
        if script != "NO" or is_plain:  # else LangGraph has no value yet that it keeps
            with pytest.raises(ResumeError, match="has no stored record"):  # a restart changes nothing
                await graph.ainvoke(None, CONFIG)
    assert len(desk.paid) + len(desk.greeted) == 1
    assert desk.wiped == []


@in_both_modes
async def test_a_call_that_reads_is_made_again_and_needs_no_record(is_plain: bool) -> None:
    desk, engine = Desk(), InProcessEngine()

    async def prune(shown: Interrupt) -> None:
        await engine.forget_session("s")

    async with Runtime(engine=engine) as runtime:
        graph = plain(desk, await desk.tools(runtime), "ROR")
        await drive(desk, graph, {"Wipe 1?": True}, is_plain=is_plain, between=prune)
    assert desk.wiped == [1]


async def test_calls_are_refused_by_no_record_where_nothing_is_kept() -> None:
    desk = Desk()
    async with Runtime() as runtime:
        graph = plain(desk, await desk.tools(runtime), "NO")
        await drive(desk, graph, {"Wipe 1?": True})
    assert (desk.greeted, desk.wiped) == (["n0", "n0"], [1])


@in_both_modes
@pytest.mark.parametrize("says", list(every_answer("TO")))
async def test_an_own_tool_in_the_same_task_that_asks_first_gets_no_other_answer(
    says: Says, is_plain: bool
) -> None:
    """Which of both comes first when the node runs again is chance: then nothing is taken."""
    desk = Desk()
    async with Runtime(engine=InProcessEngine()) as runtime:
        tools = await desk.tools(runtime)
        graph = around(ToolNode([tools["pay"], desk.own_tool()]), "TO")
        try:
            await drive(desk, graph, says, is_plain=is_plain)
        except ResumeError:
            assert {to for to, _ in desk.paid} <= {"p0"}
            assert not desk.paid or says["Pay 0 to p0?"]
            assert not desk.wiped or says["Wipe 1?"]
        else:
            desk.check("TO", says)


@pytest.mark.parametrize("script", ["TT", "TN", "NT", "TA"])
@pytest.mark.parametrize("options", [{}, {"handle_tool_errors": True}], ids=["raised", "handled"])
async def test_a_question_beside_another_call_of_the_task_names_the_node(script: str, options: Any) -> None:
    desk = Desk()
    async with Runtime(engine=InProcessEngine()) as runtime:
        tools = await desk.tools(runtime)
        graph = around(ToolNode(list(tools.values()), **options), script)
        with pytest.raises(ResumeError, match="of the node 'tools'") as error:
            await graph.ainvoke(INPUT, CONFIG)
        assert "toolgen_tool_node" in error.value.hint
    assert desk.paid == []


class Around(AgentMiddleware[Any, Any]):
    """Asks a question of its own before toolgen's call and after it."""

    def __init__(self, desk: Desk, is_before: bool) -> None:
        super().__init__()
        self.desk, self.is_before = desk, is_before

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        number = 10 + int(request.tool_call["id"][1:])
        if self.is_before:
            self.desk.own(number)
        message = await handler(request)
        if not self.is_before:
            self.desk.own(number)
        return message


@pytest.mark.parametrize(
    ("script", "asks_before", "is_plain"),
    diagonal(["TT", "TA", "AN"], [False, True], [False, True]),
)
async def test_middleware_that_asks_around_each_call_of_an_agent(
    script: str, asks_before: bool, is_plain: bool
) -> None:
    own = [f"Wipe {10 + n}?" for n, _ in enumerate(script)]
    for n, says in enumerate(every_answer(script)):
        desk = Desk()
        all_says = says | {question: bool((n + at) % 2) for at, question in enumerate(own)}
        async with Runtime(engine=InProcessEngine()) as runtime:
            agent = create_agent(
                ScriptedModel(said=calls_of(script)),
                list((await desk.tools(runtime)).values()),
                middleware=[Around(desk, asks_before)],
                checkpointer=InMemorySaver(),
            )
            await drive(desk, agent, all_says, is_plain=is_plain)
        assert sorted(desk.wiped) == [10 + at for at, question in enumerate(own) if all_says[question]]
        desk.wiped = []
        desk.asked = [question for question in desk.asked if question not in own]
        desk.check(script, says)


@in_both_modes
async def test_an_agent_with_a_tool_that_asks_by_itself(is_plain: bool) -> None:
    for says in every_answer("TOT"):
        desk = Desk()
        async with Runtime(engine=InProcessEngine()) as runtime:
            tools = [*(await desk.tools(runtime)).values(), desk.own_tool([turns])]
            model = ScriptedModel(said=calls_of("TOT"))
            await drive(
                desk, create_agent(model, tools, checkpointer=InMemorySaver()), says, is_plain=is_plain
            )
        desk.check("TOT", says)


async def test_two_branches_ask_at_once() -> None:
    for says in every_answer("TO"):
        desk, other = Desk(), Desk()
        async with Runtime(engine=InProcessEngine()) as runtime:
            tools = await desk.tools(runtime)
            graph = StateGraph(MessagesState)
            for name, script, one in (("a", "TO", desk), ("b", "OTO", other)):
                graph.add_node(name, node_of(one, tools, script))
                graph.add_edge(START, name)
                graph.add_edge(name, END)
            both = graph.compile(checkpointer=InMemorySaver())
            all_says = says | {"Wipe 0?": False, "Pay 1 to p1?": True, "Wipe 2?": True}
            await drive(desk, both, all_says)
        wanted = [(f"p{n}", n) for n in (0, 1) if all_says[f"Pay {n} to p{n}?"]]
        assert sorted(desk.paid) == wanted
        assert (desk.wiped, other.wiped) == ([1] if says["Wipe 1?"] else [], [2])


async def test_a_call_in_a_later_step_of_a_subgraph_that_was_answered_by_value_runs() -> None:
    """The value of the first step is still in the checkpoint of the graph around; somebody has taken it."""
    desk = Desk()
    async with Runtime(engine=InProcessEngine()) as runtime:
        tools = await desk.tools(runtime)
        inner = StateGraph(MessagesState)
        inner.add_node("own", node_of(desk, tools, "O"))
        inner.add_node("call", node_of(desk, tools, "NN"))
        inner.add_edge(START, "own")
        inner.add_edge("own", "call")
        outer = StateGraph(MessagesState)
        outer.add_node("sub", inner.compile())
        outer.add_edge(START, "sub")
        graph = outer.compile(checkpointer=InMemorySaver())
        await drive(desk, graph, {"Wipe 0?": True}, is_plain=True)
    assert (desk.wiped, desk.greeted) == ([0], ["n0", "n1"])


async def test_an_approval_elsewhere_takes_no_number() -> None:
    """Such as by `toolgen approve`; the graph has no answer to it, and the next question is the first one."""
    desk = Desk()
    async with Runtime(engine=InProcessEngine()) as runtime:
        graph = plain(desk, await desk.tools(runtime), "TO")
        await graph.ainvoke(INPUT, CONFIG)
        [waiting] = await runtime.suspensions.list()
        await runtime.suspensions.answer(waiting.token, {"approved": True})
        await drive(desk, graph, {"Wipe 1?": False}, begin=None)
    desk.check("T", {"Pay 0 to p0?": True}, once=False)
    assert desk.asked == ["Wipe 1?"]


async def test_a_call_outside_of_a_graph_asks_nobody() -> None:
    desk = Desk()
    async with Runtime(engine=InProcessEngine()) as runtime:
        tools = await desk.tools(runtime)
        [greet, pay] = calls_of("NT").tool_calls
        assert (await tools["greet"].ainvoke(greet)).content == '"greeted n0"'
        with pytest.raises(Exception, match="only in a node of a graph"):
            await tools["pay"].ainvoke(pay)
    assert desk.paid == []


@pytest.mark.parametrize(
    "without",
    [
        "import langgraph.types as m; del m._interrupt_id",
        "import langgraph._internal._constants as m; m.CONFIG_KEY_SCRATCHPAD = 'other'",
        "import langgraph._internal._constants as m; del m.CONFIG_KEY_RESUME_MAP",
        "import langgraph.pregel._algo as m; m.LazyAtomicCounter = lambda: (lambda: 0)",
    ],
)
def test_another_langgraph_is_an_error_of_the_import(without: str) -> None:
    script = (
        f"import langgraph.graph; {without}\n"
        "from toolgen.contract.errors import ToolgenError\n"
        "try: import toolgen.adapters.langgraph\n"
        "except ToolgenError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "does not support how this version of LangGraph assigns answers" in done.stdout
