"""Approvals by LangGraph's interruptions: an answer finds its question, and no call runs twice."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import ToolCall
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command

from toolgen.contract.json_value import Json
from toolgen.engines import InProcessEngine
from toolgen.runtime import Runtime, ToolContext
from toolgen.waiting.once_call import Resolution

from .bank import WANTED, Bank
from .with_langgraph import (
    CONFIG,
    GRAPHS,
    answered,
    begin,
    interruptions,
    one_task,
    payments,
    results,
    resumed,
)

YES: Json = {"approved": True}
Decide = Callable[[Mapping[str, Any]], bool]
in_each_graph = pytest.mark.parametrize("kind", GRAPHS)


def agreeing_to(agreed: Collection[str]) -> Decide:
    """Return what agrees to the payments to some."""
    return lambda question: any(name in question["question"] for name in agreed)


async def decided(graph: Any, state: dict[str, Any], agrees: Decide) -> tuple[dict[str, Any], list[str]]:
    """Answer until the graph asks no more; return its state, and the questions in their order."""
    asked: list[str] = []
    while open_now := interruptions(state):
        asked += [one.value["question"] for one in open_now]
        assert len(asked) < 50
        state = await resumed(
            graph, {one.id: answered(one.value, {"approved": agrees(one.value)}) for one in open_now}
        )
    return state, asked


@in_each_graph
@pytest.mark.parametrize(
    "agreed", [some for n in range(4) for some in itertools.combinations(("mallory", "baker", "smith"), n)]
)
async def test_what_a_person_agrees_to_is_what_is_paid_once(kind: str, agreed: tuple[str, ...]) -> None:
    bank = Bank()
    async with Runtime(engine=InProcessEngine()) as runtime:
        graph = GRAPHS[kind](await bank.offered(runtime), InMemorySaver(), payments(*WANTED))
        state, asked = await decided(graph, await begin(graph), agreeing_to(agreed))
        assert await runtime.waits.list() == ()
    assert sorted(bank.paid) == sorted((to, amount) for to, amount in WANTED if to in agreed)
    assert sorted(asked) == sorted(f"Pay {amount} to {to}?" for to, amount in WANTED)
    told = results(state["messages"])
    for n, (to, amount) in enumerate(WANTED):
        assert (told[f"c{n}"] == f'"{amount} paid to {to}"') == (to in agreed)
        assert ("did not approve" in told[f"c{n}"]) == (to not in agreed)


@in_each_graph
@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
async def test_answers_find_their_questions_in_every_order(kind: str, order: tuple[int, ...]) -> None:
    """The person sees all open questions, and answers them in an order that is not that of the graph.

    A task of its own that has its result does not read the answer to another question that it was given:
    that one is asked again.
    """
    bank, rounds = Bank(), 0
    async with Runtime(engine=InProcessEngine()) as runtime:
        graph = GRAPHS[kind](await bank.offered(runtime), InMemorySaver(), payments(*WANTED))
        state = await begin(graph)
        while open_now := interruptions(state):
            rounds += 1
            assert rounds <= 6
            waiting = {one.question: one.id for one in await runtime.waits.list("s")}
            wanted = [f"Pay {WANTED[n][1]} to {WANTED[n][0]}?" for n in order]
            asked = [question for question in wanted if question in waiting]
            values: dict[str, Json] = {
                one.id: {"id": waiting[question], "answer": {"approved": "mallory" not in question}}
                for one, question in zip(open_now, asked, strict=False)
            }
            state = await resumed(graph, values)
    assert sorted(bank.paid) == [("baker", 3), ("smith", 7)]
    told = results(state["messages"])
    assert [told[f"c{n}"] for n in (1, 2)] == ['"3 paid to baker"', '"7 paid to smith"']
    assert "did not approve" in told["c0"]


@in_each_graph
async def test_another_process_goes_on_with_each_answer(kind: str, tmp_path: Path) -> None:
    bank = Bank()
    asked: list[str] = []
    state: dict[str, Any] = {}
    for round_ in range(10):
        async with (
            Runtime(engine=InProcessEngine(tmp_path / "runs.db")) as runtime,
            AsyncSqliteSaver.from_conn_string(str(tmp_path / "graph.db")) as saver,
        ):
            graph = GRAPHS[kind](await bank.offered(runtime), saver, payments(*WANTED))
            if round_ == 0:
                state = await begin(graph)
                continue
            open_now = interruptions(state)
            asked += [one.value["question"] for one in open_now]
            state = await resumed(graph, {one.id: answered(one.value, YES) for one in open_now})
        if not interruptions(state):
            break
    assert sorted(bank.paid) == sorted(WANTED)
    assert sorted(asked) == sorted(f"Pay {amount} to {to}?" for to, amount in WANTED)


async def test_a_call_beside_a_question_runs_once_though_its_node_runs_again() -> None:
    bank = Bank()
    message = payments(*WANTED)
    message.tool_calls.insert(0, ToolCall(name="greet", args={"name": "ann"}, id="g", type="tool_call"))
    async with Runtime(engine=InProcessEngine()) as runtime:
        graph = one_task(await bank.offered(runtime), InMemorySaver(), message)
        state, _ = await decided(graph, await begin(graph), agreeing_to(["smith"]))
    assert (bank.greeted, bank.paid) == (["ann"], [("smith", 7)])
    assert results(state["messages"])["g"] == '"greeted ann"'


async def test_an_id_that_a_model_gives_again_is_another_call_in_another_step() -> None:
    bank = Bank()
    async with Runtime(engine=InProcessEngine()) as runtime:
        graph = one_task(await bank.offered(runtime), InMemorySaver(), payments(WANTED[1]))
        for _ in range(2):
            await decided(graph, await begin(graph), agreeing_to(["baker"]))
    assert bank.paid == [("baker", 3), ("baker", 3)]


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (lambda question: {"approved": True}, "names no question"),
        (lambda question: answered(question, {"approved": "yes"}), "true or false"),
    ],
)
async def test_three_answers_that_do_not_fit_leave_the_call_waiting(wrong: Any, reason: str) -> None:
    bank = Bank()
    async with Runtime(engine=InProcessEngine()) as runtime:
        graph = one_task(await bank.offered(runtime), InMemorySaver(), payments(WANTED[0]))
        state, times = await begin(graph), 0
        while open_now := interruptions(state):
            assert times == 0 or reason in open_now[0].value["reason"]
            state = await resumed(graph, {one.id: wrong(one.value) for one in open_now})
            times += 1
        [waiting] = await runtime.waits.list()
        told = results(state["messages"])["c0"]
        assert waiting.id in told
        assert (times, bank.paid) == (3, [])
        assert (await runtime.waits.answer(waiting.token, YES)).status == "ok"


async def test_an_answer_to_a_question_of_another_session_changes_nothing() -> None:
    bank = Bank()
    async with Runtime(engine=InProcessEngine()) as runtime:
        snapshot = await bank.offered(runtime)
        other = (await snapshot.call("pay", {"to": "eve", "amount": 1})).suspension
        assert other is not None
        graph = one_task(snapshot, InMemorySaver(), payments(WANTED[0]))
        state = await begin(graph)
        [one] = interruptions(state)
        state = await resumed(graph, {one.id: {"id": other.id, "answer": YES}})
        assert [again.value["id"] for again in interruptions(state)] == [one.value["id"]]
        assert len(await runtime.waits.list()) == 2
    assert bank.paid == []


async def test_a_value_without_the_id_of_its_interruption_is_taken_too() -> None:
    bank = Bank()
    async with Runtime(engine=InProcessEngine()) as runtime:
        graph = one_task(await bank.offered(runtime), InMemorySaver(), payments(WANTED[1]))
        [one] = interruptions(await begin(graph))
        await graph.ainvoke(Command(resume=answered(one.value, YES)), CONFIG)
    assert bank.paid == [("baker", 3)]


class Slow(Bank):
    """Pays the baker when the test says so, and keeps the idempotency key of each payment."""

    def __init__(self) -> None:
        super().__init__()
        self.keys: list[str] = []
        self.gate = asyncio.Event()

    async def pay(self, to: str, amount: int, ctx: ToolContext) -> str:  # type: ignore[override]  # it looks at its call
        """Pay."""
        self.keys.append(ctx.idempotency_key)
        if to == "baker":
            await self.gate.wait()
        return await super().pay(to, amount)

    async def let_go(self) -> None:
        """Pay the baker some turns of the event loop later."""
        for _ in range(100):
            await asyncio.sleep(0)
        self.gate.set()


@asynccontextmanager
async def process(bank: Bank, path: Path) -> AsyncIterator[tuple[InProcessEngine, Runtime, Any]]:
    """Yield the graph of two payments, on an engine and a runtime of its own and the files of others."""
    engine = InProcessEngine(path / "runs.db")
    async with (
        Runtime(engine=engine) as runtime,
        AsyncSqliteSaver.from_conn_string(str(path / "graph.db")) as saver,
    ):
        yield engine, runtime, one_task(await bank.offered(runtime), saver, payments(*WANTED[1:]))


async def both_asked(bank: Bank, path: Path) -> dict[str, Any]:
    """Return the state after a process in which the graph asked about the first payment."""
    async with process(bank, path) as (_, _, graph):
        return await begin(graph)


async def approved(runtime: Runtime, graph: Any, state: dict[str, Any], to: str) -> dict[str, Any]:
    """Return the state after the approval of one payment, whichever the graph has asked about."""
    [id_] = [one.id for one in await runtime.waits.list() if to in one.question]
    [asked] = interruptions(state)
    return await resumed(graph, {asked.id: {"id": id_, "answer": YES}})


async def test_what_is_executed_when_the_graph_asks_again_ends_before_its_process(tmp_path: Path) -> None:
    """LangGraph returns with the question about the second payment, while the first one goes on."""
    bank = Slow()
    state = await both_asked(bank, tmp_path)
    async with process(bank, tmp_path) as (_, runtime, graph):
        state = await approved(runtime, graph, state, "baker")
        assert (len(interruptions(state)), bank.paid) == (1, [])
        ends = asyncio.create_task(bank.let_go())
    await ends
    async with process(bank, tmp_path) as (_, runtime, graph):
        state = await approved(runtime, graph, state, "smith")
    told = results(state["messages"])
    assert [told["c0"], told["c1"]] == ['"3 paid to baker"', '"7 paid to smith"']
    assert sorted(bank.paid) == sorted(WANTED[1:])


async def test_payments_of_several_conversations_have_a_key_each() -> None:
    """A model gives the same ids in each of them."""
    bank = Slow()
    bank.gate.set()
    async with Runtime(engine=InProcessEngine()) as runtime:
        snapshot = await bank.offered(runtime)
        for _ in range(3):
            graph = one_task(snapshot, InMemorySaver(), payments(WANTED[1]))
            for _ in range(2):  # in the second one the message is another step of the thread
                await decided(graph, await begin(graph), agreeing_to(["baker"]))
    assert len(bank.paid) == len(set(bank.keys)) == len(bank.keys) > 1


async def test_what_became_of_an_unknown_payment_reaches_the_graph(tmp_path: Path) -> None:
    bank = Slow()
    state = await both_asked(bank, tmp_path)
    async with process(bank, tmp_path) as (engine, runtime, graph):
        state = await approved(runtime, graph, state, "baker")
        await engine.close()  # while the payment goes on
    async with process(bank, tmp_path) as (engine, runtime, graph):
        known = [await engine.settled(one.run_id) for one in await engine.list_runs()]
        [lost] = [one for one in known if one.is_over]
        await runtime.runs.resolve(
            lost.run_id, "", Resolution(outcome="result", result="paid, says jo"), by="jo"
        )
        state = await approved(runtime, graph, state, "smith")
    assert results(state["messages"])["c0"] == '"paid, says jo"'
    assert bank.paid == [("smith", 7)]
