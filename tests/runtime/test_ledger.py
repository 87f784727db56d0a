"""Calls that a peer makes again by name: once executed, one question, and its result kept."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from tests.many_workers import SECRET, Cluster
from tests.runtime.bank import META, Bank
from tests.runtime.forging import forge
from tests.selection import diagonal
from toolgen.agents import SessionBusyError, agents_of
from toolgen.calls.call import CallName, CallNameError
from toolgen.contract.json_value import Json
from toolgen.engines import InProcessEngine
from toolgen.runtime import CallMeta, Runtime, Suspended, ToolResult
from toolgen.waiting.errors import ConflictingAnswerError

YES: Final[Json] = {"approved": True}


async def question_of(runtime: Runtime, name: CallName, tool: str) -> Suspended | None:
    """Return what a named payment of 5 asks."""
    calls = runtime.suspensions.named_calls(tool)
    assert calls is not None
    return await calls.question(name, {"amount": 5}, META)


def named(call_id: str, checkpoint: str = "") -> CallName:
    return CallName(interface="test", call_id=call_id, checkpoint=checkpoint)


def waits(result: ToolResult) -> Suspended:
    assert result.status == "suspended", result.json
    assert result.suspension is not None
    return result.suspension


def words_it_otherwise(record: dict[str, Any]) -> None:
    record["question"] = "Pay nothing?"


def unseals(record: dict[str, Any]) -> None:
    del record["seal"]


def served(bank: Bank, engine: InProcessEngine) -> Runtime:
    runtime = Runtime(engine=engine)
    runtime.tools.register(bank.toolset())
    return runtime


# What a name does.


async def test_an_ended_call_has_its_kept_result(engine: InProcessEngine) -> None:
    bank = Bank()
    runtime = served(bank, engine)
    results = [await runtime.call_once(named("c1"), "pay", {"amount": 5}, META) for _ in range(3)]
    assert {(one.status, one.json) for one in results} == {("ok", b'"pay 5"')}
    assert bank.paid == [("pay", 5)]


async def test_a_call_without_a_name_is_another_call_each_time(engine: InProcessEngine) -> None:
    bank = Bank()
    runtime = served(bank, engine)
    for _ in range(2):
        assert (await runtime.call("pay", {"amount": 5}, META)).status == "ok"
    assert len(bank.paid) == 2
    assert await engine.list_runs() == ()


async def test_a_call_that_runs_is_joined(engine: InProcessEngine) -> None:
    bank = Bank(hold=asyncio.Event())
    runtime = served(bank, engine)
    calls = [
        asyncio.ensure_future(runtime.call_once(named("c1"), "pay", {"amount": 5}, META)) for _ in range(5)
    ]
    await bank.holding.wait()
    assert bank.hold is not None
    bank.hold.set()
    assert {one.json for one in await asyncio.gather(*calls)} == {b'"pay 5"'}
    assert bank.paid == [("pay", 5)]


@pytest.mark.parametrize("tool", ["pay_approved", "look"])
async def test_a_waiting_call_has_its_open_question(engine: InProcessEngine, tool: str) -> None:
    bank = Bank()
    runtime = served(bank, engine)
    name = named("c1")
    first = waits(await runtime.call_once(name, tool, {"amount": 5}, META))
    together = await asyncio.gather(*(runtime.call_once(name, tool, {"amount": 5}, META) for _ in range(3)))
    assert {waits(one).id for one in together} == {first.id}
    assert [one.id for one in await runtime.suspensions.list()] == [first.id]
    assert await question_of(runtime, name, tool) == first
    assert bank.paid == []

    assert (await runtime.suspensions.answer(first.token, YES)).status == "ok"
    assert (await runtime.call_once(name, tool, {"amount": 5}, META)).json == f'"{tool} 5"'.encode()
    assert await question_of(runtime, name, tool) is None
    assert bank.paid == [(tool, 5)]


async def test_a_denied_call_stays_denied(engine: InProcessEngine) -> None:
    bank = Bank()
    runtime = served(bank, engine)
    asked = waits(await runtime.call_once(named("c1"), "pay_approved", {"amount": 5}, META))
    denied = await runtime.suspensions.answer(asked.token, {"approved": False, "message": "not today"})
    again = await runtime.call_once(named("c1"), "pay_approved", {"amount": 5}, META)
    assert (again.status, again.json) == (denied.status, denied.json) == ("denied", denied.json)
    assert bank.paid == []


@pytest.mark.parametrize("other", [("pay", 6), ("pay_asking", 5)])
async def test_the_same_name_of_another_call_is_an_error(
    engine: InProcessEngine, other: tuple[str, int]
) -> None:
    bank = Bank()
    runtime = served(bank, engine)
    await runtime.call_once(named("c1"), "pay", {"amount": 5}, META)
    refused = await runtime.call_once(named("c1"), other[0], {"amount": other[1]}, META)
    assert (refused.status, type(refused.error)) == ("error", CallNameError)
    assert bank.paid == [("pay", 5)]
    assert (await runtime.call_once(named("c1"), "pay", {"amount": 5}, META)).status == "ok"


async def test_arguments_count_as_they_are_meant(engine: InProcessEngine) -> None:
    bank = Bank()
    runtime = served(bank, engine)
    for text in (b'{"amount":5}', b'{ "amount" : 5 }', '{"amount": 5}'):
        assert (await runtime.call_once(named("c1"), "pay", text, META)).status == "ok"
    assert bank.paid == [("pay", 5)]


async def test_arguments_that_do_not_fit_take_no_name(engine: InProcessEngine) -> None:
    bank = Bank()
    runtime = served(bank, engine)
    assert (await runtime.call_once(named("c1"), "pay", {"amount": "much"}, META)).status == "error"
    assert (await runtime.call_once(named("c1"), "pay", {"amount": 5}, META)).status == "ok"


@pytest.mark.parametrize(
    ("name", "meta"),
    [
        (CallName(interface="other", call_id="c1"), META),
        (named("c2"), META),
        (named("c1", checkpoint="p2"), META),
        (named("c1"), replace(META, session_id="t")),
        (named("c1"), replace(META, requested_by="jonas")),
        (named("c1"), replace(META, turn_id="t2")),
    ],
)
async def test_a_name_counts_for_its_door_person_session_and_place(
    engine: InProcessEngine, name: CallName, meta: CallMeta
) -> None:
    bank = Bank()
    runtime = served(bank, engine)
    await runtime.call_once(named("c1"), "pay", {"amount": 5}, META)
    await runtime.call_once(name, "pay", {"amount": 5}, meta)
    assert len(bank.paid) == 2


async def test_a_checkpoint_counts_and_not_the_turn_beside_it(engine: InProcessEngine) -> None:
    bank = Bank()
    runtime = served(bank, engine)
    for turn in ("t1", "t2"):
        await runtime.call_once(
            named("c1", checkpoint="p"), "pay", {"amount": 5}, replace(META, turn_id=turn)
        )
    assert len(bank.paid) == 1


async def test_what_may_run_twice_and_asks_nobody_is_not_kept(engine: InProcessEngine) -> None:
    bank = Bank()
    runtime = served(bank, engine)
    for amount in (5, 6):
        assert (await runtime.call_once(named("c1"), "read", {"amount": amount}, META)).status == "ok"
    assert await engine.list_runs() == ()


async def test_without_an_engine_there_is_no_ledger() -> None:
    bank = Bank()
    runtime = Runtime()
    runtime.tools.register(bank.toolset())
    for _ in range(2):
        assert (await runtime.call_once(named("c1"), "pay", {"amount": 5}, META)).status == "ok"
    assert len(bank.paid) == 2


# Edited arguments.


async def test_arguments_that_are_edited_before_the_approval_are_asked_about_anew(
    engine: InProcessEngine,
) -> None:
    bank = Bank()
    runtime = served(bank, engine)
    name = named("c1")
    first = waits(await runtime.call_once(name, "pay_approved", {"amount": 5}, META))
    second = waits(await runtime.call_once(name, "pay_approved", {"amount": 50}, META))
    assert [one.id for one in await runtime.suspensions.list()] == [second.id] != [first.id]
    assert waits(await runtime.call_once(name, "pay_approved", {"amount": 50}, META)).id == second.id
    assert (await runtime.suspensions.answer(second.token, YES)).status == "ok"

    assert (await runtime.call_once(name, "pay_approved", {"amount": 5}, META)).status == "denied"
    third = await runtime.call_once(name, "pay_approved", {"amount": 500}, META)
    assert isinstance(third.error, CallNameError)
    assert bank.paid == [("pay_approved", 50)]


async def test_arguments_that_are_edited_back_are_asked_about_anew(engine: InProcessEngine) -> None:
    bank = Bank()
    runtime = served(bank, engine)
    name = named("c1")
    asked = [waits(await runtime.call_once(name, "pay_approved", {"amount": n}, META)) for n in (5, 50, 5)]
    assert len({one.id for one in asked}) == 3
    assert [one.id for one in await runtime.suspensions.list()] == [asked[-1].id]
    assert await question_of(runtime, name, "pay_approved") == asked[-1]
    for taken_back in asked[:2]:
        with pytest.raises(ConflictingAnswerError):
            await runtime.suspensions.answer(taken_back.token, YES)
    assert (await runtime.suspensions.answer(asked[-1].token, YES)).status == "ok"
    assert (await runtime.call_once(name, "pay_approved", {"amount": 5}, META)).status == "ok"
    assert bank.paid == [("pay_approved", 5)]


@pytest.mark.parametrize("answers", [0, 1])
async def test_a_call_that_has_begun_is_not_edited(engine: InProcessEngine, answers: int) -> None:
    bank = Bank()
    runtime = served(bank, engine)
    asked = waits(await runtime.call_once(named("c1"), "pay_asking", {"amount": 5}, META))
    for _ in range(answers):
        asked = waits(await runtime.suspensions.answer(asked.token, "here"))
    edited = await runtime.call_once(named("c1"), "pay_asking", {"amount": 50}, META)
    assert isinstance(edited.error, CallNameError)
    assert [one.id for one in await runtime.suspensions.list()] == [asked.id]


# How it ends, and how long it is kept.


async def test_a_call_that_began_in_a_process_that_is_gone_is_unknown(tmp_path: Path) -> None:
    file = tmp_path / "runs.db"
    before, after = Bank(hold=asyncio.Event()), Bank()
    engine = InProcessEngine(file)
    first = served(before, engine)
    call = asyncio.ensure_future(
        first.call_once(replace(named("c1"), is_detached=True), "pay", {"amount": 5}, META)
    )
    await before.holding.wait()
    await engine.close()
    await asyncio.gather(call, return_exceptions=True)
    async with served(after, InProcessEngine(file)) as second:
        results = [await second.call_once(named("c1"), "pay", {"amount": 5}, META) for _ in range(2)]
        assert {one.status for one in results} == {"unknown"}
    assert (before.paid, after.paid) == ([("pay", 5)], [])


async def test_a_call_whose_caller_is_cancelled_is_unknown_and_not_made_again(
    engine: InProcessEngine,
) -> None:
    bank = Bank(hold=asyncio.Event())
    runtime = served(bank, engine)
    call = asyncio.ensure_future(runtime.call_once(named("c1"), "pay", {"amount": 5}, META))
    await bank.holding.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    bank.hold = None
    again = await runtime.call_once(named("c1"), "pay", {"amount": 5}, META)
    assert (again.status, again.retry_hint, bank.paid) == ("unknown", None, [("pay", 5)])


async def test_a_detached_call_goes_on_without_its_caller(engine: InProcessEngine) -> None:
    bank = Bank(hold=asyncio.Event())
    runtime = served(bank, engine)
    name = replace(named("c1"), is_detached=True)
    call = asyncio.ensure_future(runtime.call_once(name, "pay", {"amount": 5}, META))
    await bank.holding.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert bank.hold is not None
    bank.hold.set()
    assert (await runtime.call_once(name, "pay", {"amount": 5}, META)).json == b'"pay 5"'
    assert bank.paid == [("pay", 5)]


async def test_a_name_is_forgotten_with_its_run(tmp_path: Path) -> None:
    bank = Bank()
    runtime = served(bank, InProcessEngine(keep_runs=1))
    for call_id in ("c1", "c2", "c3", "c1"):
        await runtime.call_once(named(call_id), "pay", {"amount": 5}, META)
    assert len(bank.paid) == 4


@pytest.mark.parametrize("how", ["tampered", "unsealed"])
async def test_a_call_whose_record_is_not_verified_says_that_it_waits(tmp_path: Path, how: str) -> None:
    """It has not failed, and only an operator can go on with it."""
    bank, path = Bank(), tmp_path / "runs.db"
    async with served(bank, InProcessEngine(path)) as runtime:
        asked = waits(await runtime.call_once(named("c1"), "pay_approved", {"amount": 5}, META))
    forge(path, asked.id, words_it_otherwise if how == "tampered" else unseals)
    async with served(bank, InProcessEngine(path)) as runtime:
        for amount in (5, 6):
            again = await runtime.call_once(named("c1"), "pay_approved", {"amount": amount}, META)
            assert again.status == "error"
            assert again.json.startswith(b'{"error":"the call is suspended, but nobody can answer it: ')
            assert again.retry_hint is None
        assert await question_of(runtime, named("c1"), "pay_approved") is None
    assert bank.paid == []


async def test_erasing_a_session_erases_its_named_calls(engine: InProcessEngine) -> None:
    bank = Bank()
    runtime = served(bank, engine)
    agents = agents_of(runtime)
    async with runtime:
        for name, meta in ((named("c1"), META), (named("c1"), replace(META, session_id="t"))):
            await runtime.call_once(name, "pay", {"amount": 5}, meta)
        assert (await agents.erase("s")).runs == 1
        assert [run.session for run in await engine.list_runs()] == ["t"]
        await runtime.call_once(named("c1"), "pay", {"amount": 5}, META)
    assert len(bank.paid) == 3


async def test_a_session_with_a_waiting_call_is_erased_when_the_call_is_canceled(
    engine: InProcessEngine,
) -> None:
    bank = Bank()
    runtime = served(bank, engine)
    agents = agents_of(runtime)
    async with runtime:
        asked = waits(await runtime.call_once(named("c1"), "pay_approved", {"amount": 5}, META))
        with pytest.raises(SessionBusyError):
            await agents.erase("s")
        await runtime.suspensions.cancel(asked.token)
        assert (await agents.erase("s")).runs == 1
        again = waits(await runtime.call_once(named("c1"), "pay_approved", {"amount": 5}, META))
    assert again.id != asked.id


@pytest.mark.parametrize(("seed", "tool"), diagonal(range(5), ["pay", "pay_approved"]))
async def test_many_workers_execute_a_named_call_once(seed: int, tool: str) -> None:
    bank, cluster = Bank(), Cluster(seed, InProcessEngine())
    runtimes = [Runtime(engine=cluster.worker(), secret=SECRET) for _ in range(3)]
    for runtime in runtimes:
        runtime.tools.register(bank.toolset())
    async with runtimes[0], runtimes[1], runtimes[2]:
        calls = [one.call_once(named("c1"), tool, {"amount": 5}, META) for one in runtimes * 2]
        results = await asyncio.gather(*calls)
        if tool == "pay_approved":
            [asked] = {waits(one).id: waits(one) for one in results}.values()
            await runtimes[2].suspensions.answer(asked.token, YES)
            results = [await one.call_once(named("c1"), tool, {"amount": 5}, META) for one in runtimes]
    assert {(one.status, one.json) for one in results} == {("ok", f'"{tool} 5"'.encode())}
    assert bank.paid == [(tool, 5)]
