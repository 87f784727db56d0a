"""How a framework's approval meets the call that waits: what is asked is what runs, whoever asks again."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.cases.sensitive.gen.bank.toolsets import payments
from tests.runtime.forging import forge
from toolgen.adapters.framework_calls import FrameworkCall, FrameworkCalls, MetaOf
from toolgen.adapters.result_view import result_view
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.contract.errors import ToolgenError
from toolgen.contract.json_value import Json
from toolgen.engines import InProcessEngine
from toolgen.runtime import (
    CallMeta,
    ConfirmSpec,
    Continue,
    Hook,
    Runtime,
    Snapshot,
    Suspended,
    ToolCall,
    ToolContext,
    ToolOutcome,
    ToolResult,
    Unfinished,
    Verdict,
)
from toolgen.waiting.options import WaitOptions, requester_may_not_approve

META = CallMeta(session_id="s", turn_id="t", requested_by="mira")
YES: Json = {"approved": True}


class Account:
    """Pays, and remembers what it has paid."""

    def __init__(self) -> None:
        self.paid: list[int] = []

    async def pay(self, amount: int) -> str:
        """Pay."""
        self.paid.append(amount)
        return "paid"


async def offered(account: Account, runtime: Runtime) -> Snapshot:
    tool = func_tool(account.pay, toolset="bank.accounts", confirm=ConfirmSpec(hint="Pay {amount}?"))
    runtime.tools.register(function_toolset("bank.accounts", [tool]))
    return await runtime.tools.snapshot()


def waits(result: ToolResult) -> Suspended:
    assert result.status == "suspended"
    assert result.suspension is not None
    return result.suspension


def calls_for(snapshot: Snapshot, meta: MetaOf[None] = META) -> FrameworkCalls[None]:
    return FrameworkCalls(interface="test", snapshot=snapshot, meta=meta)


def pay(calls: FrameworkCalls[None], amount: int, call_id: str = "call-1") -> FrameworkCall:
    return calls.named(None, "pay", {"amount": amount}, call_id)


async def resumed(call: FrameworkCall, answer: Json = YES, by: str = "") -> ToolResult:
    """Answer what a call asked, as a framework does that keeps an approval by the id of the call."""
    asked = await call.question()
    return await (call.result() if asked is None else call.answer_by_call(asked, answer, by))


async def calls_of(account: Account, **options: Any) -> FrameworkCalls[None]:
    runtime = Runtime(engine=InProcessEngine(), **options)
    return calls_for(await offered(account, runtime))


async def test_arguments_that_somebody_edited_are_asked_about_anew() -> None:
    account = Account()
    calls = await calls_of(account)
    waits(await pay(calls, 5).result())

    asked = waits(await resumed(pay(calls, 50)))
    assert (asked.question, account.paid) == ("Pay 50?", [])
    assert (await resumed(pay(calls, 50))).status == "ok"
    assert account.paid == [50]
    assert (await pay(calls, 5).result()).status == "denied"


@pytest.mark.parametrize("when", ["before it is asked", "before it is answered"])
async def test_a_call_whose_record_was_changed_has_a_result_that_says_so(tmp_path: Path, when: str) -> None:
    account, path = Account(), tmp_path / "runs.db"
    async with Runtime(engine=InProcessEngine(path)) as runtime:
        call = pay(calls_for(await offered(account, runtime)), 5)
        asked = waits(await call.result())
        if when == "before it is asked":
            forge(path, asked.id, lambda record: record.update(question="Pay 1?"))
            assert await call.question() is None
            result = await resumed(call)
        else:
            assert await call.question() == asked
            forge(path, asked.id, lambda record: record.update(question="Pay 1?"))
            result = await call.answer_by_call(asked, YES)
        assert result.status == "error"
        assert b"nobody can answer it: the journal of run " in result.json
    assert account.paid == []


async def test_a_call_that_somebody_else_has_answered_has_its_result() -> None:
    account = Account()
    calls = await calls_of(account)
    asked = waits(await pay(calls, 5).result())
    denied = await calls.snapshot.suspensions.answer(asked.token, {"approved": False})
    late = await pay(calls, 5).answer_by_call(asked, YES)
    assert (denied.status, late.status, late.json) == ("denied", "denied", denied.json)
    assert account.paid == []


class Cards:
    """Pays by card, and remembers the numbers."""

    def __init__(self) -> None:
        self.cards: list[str] = []

    async def __call__(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
        self.cards.append(json.loads(call.payload_json)["card"]["number"])
        return ToolResult(tool=call.tool, status="ok", result=payments.PayMuchResult(receipt="r1"))


async def test_sensitive_arguments_that_somebody_edited_are_asked_about_anew() -> None:
    executor = Cards()
    runtime = Runtime(engine=InProcessEngine())
    runtime.tools.register(payments.registration(executor))
    calls = calls_for(await runtime.tools.snapshot())
    first: dict[str, Json] = {"amount": 100, "card": {"number": "4111-OTTER", "holder": "Ann"}}
    other: dict[str, Json] = {"amount": 100, "card": {"number": "5222-LEMUR", "holder": "Ann"}}
    made, edited = [calls.named(None, "pay_much", one, "call-1") for one in (first, other)]
    asked = waits(await made.result())
    assert await made.question() == asked
    assert await edited.question() is None

    again = waits(await resumed(edited))
    assert (again.arguments, again.id != asked.id, executor.cards) == (asked.arguments, True, [])
    assert "OTTER" not in repr(asked)
    assert (await resumed(edited)).status == "ok"
    assert executor.cards == ["5222-LEMUR"]


async def test_an_approval_of_nothing_runs_nothing() -> None:
    account = Account()
    calls = await calls_of(account)
    waits(await resumed(pay(calls, 5)))
    assert account.paid == []


async def test_only_the_newest_question_of_a_call_stays_open() -> None:
    account = Account()
    calls = await calls_of(account)
    first = waits(await pay(calls, 5).result())
    second = waits(await pay(calls, 6).result())
    assert first.id != second.id
    assert [one.id for one in await calls.snapshot.suspensions.list("s")] == [second.id]


async def test_a_call_that_is_made_again_asks_the_same() -> None:
    calls = await calls_of(Account())
    assert waits(await pay(calls, 5).result()) == waits(await pay(calls, 5).result())


async def test_other_sessions_and_other_calls_are_left_alone() -> None:
    account = Account()
    calls = await calls_of(account)
    for session_id, id_ in (("t", "call-1"), ("s", "call-2")):
        other = calls_for(calls.snapshot, replace(META, session_id=session_id))
        waits(await pay(other, 5, id_).result())
    waits(await pay(calls, 5).result())
    assert len(await calls.snapshot.suspensions.list()) == 3
    await resumed(pay(calls, 5))
    assert len(await calls.snapshot.suspensions.list()) == 2


async def test_an_answer_to_another_question_is_refused_and_changes_nothing() -> None:
    account = Account()
    calls = await calls_of(account)
    mallory, baker = [pay(calls, amount, f"call-{amount}") for amount in (9999, 3)]
    asked, other = waits(await mallory.result()), waits(await baker.result())
    refused = waits(await mallory.answer(asked, {"id": other.id, "answer": YES}))
    assert (refused.id, account.paid) == (asked.id, [])
    assert other.id in refused.reason
    assert {one.id for one in await calls.snapshot.suspensions.list("s")} == {asked.id, other.id}


class Twice:
    """Asks for two approvals of its own."""

    async def move(self, ctx: ToolContext) -> str | Unfinished:
        """Move the money."""
        for question in ("Move it?", "All of it?"):
            if not ctx.approved(question):
                return ToolOutcome.approval(question)
        return "moved"


async def test_an_approval_by_the_id_of_a_call_is_none_of_its_next_question() -> None:
    """Somebody else has answered the first question meanwhile, and the person has not seen the second one."""
    runtime = Runtime(engine=InProcessEngine())
    runtime.tools.register(function_toolset("bank.accounts", [Twice().move]))
    call = calls_for(await runtime.tools.snapshot()).named(None, "move", {}, "call-1")
    first = waits(await call.result())
    second = waits(await runtime.suspensions.answer(first.token, YES))
    assert (first.number, second.number) == (1, 2)
    refused = waits(await resumed(call))
    assert (refused.id, "has no question id" in refused.reason) == (second.id, True)
    assert (await call.answer(second, {"id": second.id, "answer": YES})).status == "ok"


class Rounding(Hook):
    """Rewrites the arguments before a person is asked."""

    async def before_tool(self, call: ToolCall, payload: Any, ctx: ToolContext) -> Verdict:
        return Continue(payload=type(payload)(amount=payload.amount // 10 * 10))


async def test_arguments_that_a_hook_rewrites_run_as_they_were_asked() -> None:
    account = Account()
    calls = await calls_of(account, hooks=[Rounding()])
    assert waits(await pay(calls, 57).result()).question == "Pay 50?"
    assert (await resumed(pay(calls, 57))).status == "ok"
    assert account.paid == [50]


async def test_an_answer_that_does_not_count_leaves_the_call_waiting() -> None:
    account = Account()
    calls = await calls_of(account, waiting=WaitOptions(rule=requester_may_not_approve))
    waits(await pay(calls, 5).result())
    asked = waits(await resumed(pay(calls, 5), by="mira"))
    assert "must not approve" in asked.reason
    bad = waits(await resumed(pay(calls, 5), {"approved": "yes"}, by="jo"))
    assert "true or false" in bad.reason
    assert account.paid == []
    assert (await resumed(pay(calls, 5), by="jo")).status == "ok"


async def test_another_process_goes_on_with_what_was_approved(tmp_path: Path) -> None:
    file = tmp_path / "runs.db"
    before, after = Account(), Account()
    async with Runtime(engine=InProcessEngine(file)) as first:
        waits(await pay(calls_for(await offered(before, first)), 5).result())
    async with Runtime(engine=InProcessEngine(file)) as second:
        call = pay(calls_for(await offered(after, second)), 5)
        assert (await resumed(call)).status == "ok"
        assert json.loads((await call.result()).json) == "paid"
    assert (before.paid, after.paid) == ([], [5])


@pytest.mark.parametrize("has_id", [True, False])
async def test_without_an_engine_nobody_is_asked(has_id: bool) -> None:
    account = Account()
    call = pay(
        calls_for(await offered(account, Runtime()), CallMeta(turn_id="t")), 5, "call-1" if has_id else ""
    )
    assert await call.question() is None
    view = result_view(await resumed(call))
    assert (view.status, view.is_error, account.paid) == ("denied", True, [])


async def test_the_facts_of_a_call_come_from_the_host() -> None:
    calls: FrameworkCalls[str] = FrameworkCalls(
        interface="test",
        snapshot=await offered(Account(), Runtime()),
        meta=lambda session: CallMeta(session_id=session),
    )
    assert calls.meta_of("s-1", "call-7") == CallMeta(session_id="s-1", tool_call_id="call-7")


def test_what_is_no_snapshot_is_told_at_once() -> None:
    hall: Any = Runtime()
    with pytest.raises(ToolgenError, match="'Runtime' is not a tool snapshot"):
        calls_for(hall)


async def test_facts_that_are_neither_a_meta_nor_a_function_are_told_at_once() -> None:
    session: Any = "s-mira"
    with pytest.raises(ToolgenError, match="'str' is not a CallMeta"):
        calls_for(await Runtime().tools.snapshot(), session)


class Slow(Account):
    """Pays when the test lets it."""

    def __init__(self) -> None:
        super().__init__()
        self.began, self.hold = asyncio.Event(), asyncio.Event()

    async def pay(self, amount: int) -> str:
        """Pay."""
        self.began.set()
        await self.hold.wait()
        return await super().pay(amount)


async def failed(call: FrameworkCall) -> None:
    with call.among_siblings():
        raise LookupError("such as an interruption, or a store that cannot be read")


@pytest.mark.parametrize(
    ("place", "meta", "is_cancelled"),
    [
        ("answer-1", META, False),
        ("answer-2", META, True),
        ("", META, False),
        ("", replace(META, session_id="other"), True),
        ("", replace(META, requested_by="eve"), True),
    ],
)
async def test_an_approved_call_goes_on_if_another_one_of_its_place_has_failed(
    place: str, meta: CallMeta, is_cancelled: bool
) -> None:
    """A framework cancels the calls beside one that fails; turns of other people and sessions are others."""
    account, first = Slow(), "answer-1" if place else ""
    async with Runtime(engine=InProcessEngine()) as runtime:
        calls: FrameworkCalls[CallMeta] = FrameworkCalls(
            interface="test", snapshot=await offered(account, runtime), meta=lambda meta: meta
        )
        call = calls.named(META, "pay", {"amount": 5}, "call-1", first)
        asked = waits(await call.result())

        async def approved() -> ToolResult:
            with call.among_siblings():
                return await call.answer_by_call(asked, YES)

        run = asyncio.ensure_future(approved())
        await account.began.wait()
        with pytest.raises(LookupError):
            await failed(calls.named(meta, "pay", {"amount": 6}, "call-2", place))
        run.cancel()
        await asyncio.wait([run])
        account.hold.set()
        result = await calls.named(META, "pay", {"amount": 5}, "call-1", first).result()
    assert (result.status, account.paid) == (("unknown", []) if is_cancelled else ("ok", [5]))


async def test_a_call_without_place_and_turn_is_refused_where_it_would_be_taken_for_another_one() -> None:
    account = Account()
    snapshot = await offered(account, Runtime(engine=InProcessEngine()))
    calls = calls_for(snapshot, CallMeta(session_id="s"))
    with pytest.raises(ToolgenError, match="has no turn_id"):
        pay(calls, 5)
    with pytest.raises(ToolgenError, match="has no turn_id"):
        calls.require_turn()
    calls_for(snapshot).require_turn()
    assert calls.named(None, "pay", {"amount": 5}, "call-1", "answer-1").name is not None
    assert calls.named(None, "pay", {"amount": 5}, "").name is None
