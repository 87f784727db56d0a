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

from toolgen.adapters.langgraph import ResumeError
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
    by_tool_node,
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
        assert await runtime.suspensions.list() == ()
    assert sorted(bank.paid) == sorted((to, amount) for to, amount in WANTED if to in agreed)
    assert sorted(asked) == sorted(f"Pay {amount} to {to}?" for to, amount in WANTED)
    told = results(state["messages"])
    for n, (to, amount) in enumerate(WANTED):
        assert (told[f"c{n}"] == f'"{amount} paid to {to}"') == (to in agreed)
        assert ("did not approve" in told[f"c{n}"]) == (to not in agreed)


@in_each_graph
@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
async def test_a_person_answers_in_every_order(kind: str, order: tuple[int, ...]) -> None:
    """All open questions are shown, and each resume answers one of them."""
    bank = Bank()
    async with Runtime(engine=InProcessEngine()) as runtime:
        graph = GRAPHS[kind](await bank.offered(runtime), InMemorySaver(), payments(*WANTED))
        state = await begin(graph)
        for left, n in zip((3, 2, 1), order, strict=True):
            shown = interruptions(state)
            assert len(shown) == left
            [one] = [each for each in shown if WANTED[n][0] in each.value["question"]]
            state = await resumed(graph, {one.id: answered(one.value, {"approved": n > 0})})
    assert sorted(bank.paid) == [("baker", 3), ("smith", 7)]
    told = results(state["messages"])
    assert [told[f"c{n}"] for n in (1, 2)] == ['"3 paid to baker"', '"7 paid to smith"']
    assert "did not approve" in told["c0"]


@in_each_graph
async def test_an_answer_that_names_another_question_is_refused(kind: str) -> None:
    bank = Bank()
    async with Runtime(engine=InProcessEngine()) as runtime:
        graph = GRAPHS[kind](await bank.offered(runtime), InMemorySaver(), payments(*WANTED[1:]))
        one, other = interruptions(await begin(graph))
        with pytest.raises(ResumeError, match=one.value["id"]):
            await resumed(graph, {one.id: answered(other.value, YES)})
        assert (bank.paid, len(await runtime.suspensions.list())) == ([], 2)
        state = await resumed(graph, {each.id: answered(each.value, YES) for each in (one, other)})
    assert sorted(bank.paid) == sorted(WANTED[1:])
    assert not interruptions(state)


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
        graph = by_tool_node(await bank.offered(runtime), InMemorySaver(), message)
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


async def test_three_answers_that_do_not_fit_leave_the_call_waiting() -> None:
    bank = Bank()
    async with Runtime(engine=InProcessEngine()) as runtime:
        graph = one_task(await bank.offered(runtime), InMemorySaver(), payments(WANTED[0]))
        state, times = await begin(graph), 0
        while open_now := interruptions(state):
            assert times == 0 or "true or false" in open_now[0].value["reason"]
            wrong = {one.id: answered(one.value, {"approved": "yes"}) for one in open_now}
            state = await resumed(graph, wrong)
            times += 1
        [waiting] = await runtime.suspensions.list()
        told = results(state["messages"])["c0"]
        assert waiting.id in told
        assert (times, bank.paid) == (3, [])
        assert (await runtime.suspensions.answer(waiting.token, YES)).status == "ok"


async def test_a_value_that_names_no_question_is_refused_and_the_right_one_goes_on() -> None:
    bank = Bank()
    async with Runtime(engine=InProcessEngine()) as runtime:
        graph = one_task(await bank.offered(runtime), InMemorySaver(), payments(WANTED[1]))
        [one] = interruptions(await begin(graph))
        for _ in range(5):
            with pytest.raises(ResumeError, match="was not used"):
                await resumed(graph, {one.id: YES})
        assert bank.paid == []
        await resumed(graph, {one.id: answered(one.value, YES)})
    assert bank.paid == [WANTED[1]]


async def test_after_a_wrong_value_alone_the_right_one_is_a_value_too() -> None:
    bank = Bank()
    async with Runtime(engine=InProcessEngine()) as runtime:
        graph = one_task(await bank.offered(runtime), InMemorySaver(), payments(WANTED[1]))
        [one] = interruptions(await begin(graph))
        right = answered(one.value, YES)
        for wrong in (YES, {one.id: right}):
            with pytest.raises(ResumeError) as raised:
                await resumed(graph, wrong)
            assert raised.value.hint.startswith("resume this step with a plain value again: Command(resume=")
        assert bank.paid == []
        await resumed(graph, right)
    assert bank.paid == [WANTED[1]]


async def test_an_answer_to_a_question_of_another_session_changes_nothing() -> None:
    bank = Bank()
    async with Runtime(engine=InProcessEngine()) as runtime:
        snapshot = await bank.offered(runtime)
        other = (await snapshot.call("pay", {"to": "eve", "amount": 1})).suspension
        assert other is not None
        graph = one_task(snapshot, InMemorySaver(), payments(WANTED[0]))
        [one] = interruptions(await begin(graph))
        with pytest.raises(ResumeError):
            await resumed(graph, {one.id: {"id": other.id, "answer": YES}})
        assert len(await runtime.suspensions.list()) == 2
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
        self.gate, self.began = asyncio.Event(), asyncio.Event()

    async def pay(self, to: str, amount: int, ctx: ToolContext) -> str:  # type: ignore[override]  # it looks at its call
        """Pay."""
        self.keys.append(ctx.idempotency_key)
        self.began.set()
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
        yield engine, runtime, by_tool_node(await bank.offered(runtime), saver, payments(*WANTED[1:]))


async def both_asked(bank: Bank, path: Path) -> dict[str, Any]:
    """Return the state after a process in which the graph asked about the first payment."""
    async with process(bank, path) as (_, _, graph):
        return await begin(graph)


async def approved(graph: Any, state: dict[str, Any], to: str) -> dict[str, Any]:
    """Return the state after the approval of one payment."""
    [asked] = [one for one in interruptions(state) if to in one.value["question"]]
    return await resumed(graph, {asked.id: answered(asked.value, YES)})


async def test_a_graph_asks_again_when_what_was_approved_has_ended(tmp_path: Path) -> None:
    bank = Slow()
    state = await both_asked(bank, tmp_path)
    async with process(bank, tmp_path) as (_, _, graph):
        ends = asyncio.create_task(bank.let_go())
        state = await approved(graph, state, "baker")
        assert (len(interruptions(state)), bank.paid) == (1, [("baker", 3)])
    await ends
    async with process(bank, tmp_path) as (_, _, graph):
        state = await approved(graph, state, "smith")
    told = results(state["messages"])
    assert [told["c0"], told["c1"]] == ['"3 paid to baker"', '"7 paid to smith"']
    assert bank.paid == list(WANTED[1:])


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
    async with process(bank, tmp_path) as (engine, runtime, _):
        [baker] = [one for one in await runtime.suspensions.list() if "baker" in one.question]
        await runtime.suspensions.answer(baker.token, YES, wait_s=0)  # such as by `toolgen approve`
        await bank.began.wait()
        await engine.close()  # while the payment goes on
    async with process(bank, tmp_path) as (engine, runtime, graph):
        known = [await engine.settled(one.run_id) for one in await engine.list_runs()]
        [lost] = [one for one in known if one.is_over]
        await runtime.runs.resolve(
            lost.run_id, "", Resolution(outcome="result", result="paid, says jo"), by="jo"
        )
        state = await approved(graph, state, "smith")
    assert results(state["messages"])["c0"] == '"paid, says jo"'
    assert bank.paid == [("smith", 7)]
