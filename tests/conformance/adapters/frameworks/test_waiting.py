"""How a framework's approval meets the call that waits: what is asked is what runs, whoever asks again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cases.sensitive.gen.bank.toolsets import payments
from toolgen.adapters.framework_calls import FrameworkCalls
from toolgen.adapters.result_view import result_view
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
    ToolResult,
    Verdict,
)
from toolgen.runtime.toolsets.functions import func_tool, function_toolset
from toolgen.runtime.waiting.options import WaitOptions, requester_may_not_approve

META = CallMeta(session_id="s", tool_call_id="call-1", requested_by="mira")
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
    runtime.register(function_toolset("bank.accounts", [tool]))
    return await runtime.snapshot()


def waits(result: ToolResult) -> Suspended:
    assert result.status == "suspended"
    assert result.suspension is not None
    return result.suspension


async def calls_of(account: Account, **options: Any) -> FrameworkCalls[None]:
    runtime = Runtime(engine=InProcessEngine(), **options)
    return FrameworkCalls(await offered(account, runtime), META)


async def test_arguments_that_somebody_edited_are_asked_about_anew() -> None:
    account = Account()
    calls = await calls_of(account)
    [spec] = calls.snapshot.specs
    waits(await calls.call("pay", {"amount": 5}, META))

    asked = waits(await calls.resume(spec, {"amount": 50}, META, YES))
    assert (asked.question, account.paid) == ("Pay 50?", [])
    assert (await calls.resume(spec, {"amount": 50}, META, YES)).status == "ok"
    assert account.paid == [50]


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
    runtime.register(payments.registration(executor))
    calls: FrameworkCalls[None] = FrameworkCalls(await runtime.snapshot(), META)
    [spec] = [one for one in calls.snapshot.specs if one.name == "pay_much"]
    first: dict[str, Json] = {"amount": 100, "card": {"number": "4111-OTTER", "holder": "Ann"}}
    other: dict[str, Json] = {"amount": 100, "card": {"number": "5222-LEMUR", "holder": "Ann"}}
    asked = waits(await calls.call("pay_much", first, META))
    assert await calls.open_question(spec, first, META) == asked
    assert await calls.open_question(spec, other, META) is None

    again = waits(await calls.resume(spec, other, META, YES))
    assert (again.arguments, again.id != asked.id, executor.cards) == (asked.arguments, True, [])
    assert "OTTER" not in repr(asked)
    assert "LEMUR" not in again.arguments_mac
    assert (await calls.resume(spec, other, META, YES)).status == "ok"
    assert executor.cards == ["5222-LEMUR"]


async def test_an_approval_of_nothing_runs_nothing() -> None:
    account = Account()
    calls = await calls_of(account)
    [spec] = calls.snapshot.specs
    waits(await calls.resume(spec, {"amount": 5}, META, YES))
    assert account.paid == []


async def test_only_the_newest_question_of_a_call_stays_open() -> None:
    account = Account()
    calls = await calls_of(account)
    first = waits(await calls.call("pay", {"amount": 5}, META))
    second = waits(await calls.call("pay", {"amount": 6}, META))
    assert first.id != second.id
    assert [one.id for one in await calls.snapshot.suspended("s")] == [second.id]


async def test_other_sessions_and_other_calls_are_left_alone() -> None:
    account = Account()
    calls = await calls_of(account)
    [spec] = calls.snapshot.specs
    for session_id, id_ in (("t", "call-1"), ("s", "call-2")):
        waits(await calls.call("pay", {"amount": 5}, CallMeta(session_id=session_id, tool_call_id=id_)))
    waits(await calls.call("pay", {"amount": 5}, META))
    assert len(await calls.snapshot.suspended()) == 3
    await calls.resume(spec, {"amount": 5}, META, YES)
    assert len(await calls.snapshot.suspended()) == 2


class Rounding(Hook):
    """Rewrites the arguments before a person is asked."""

    async def before_tool(self, call: ToolCall, payload: Any, ctx: ToolContext) -> Verdict:
        return Continue(payload=type(payload)(amount=payload.amount // 10 * 10))


async def test_arguments_that_a_hook_rewrites_run_as_they_were_asked() -> None:
    account = Account()
    calls = await calls_of(account, hooks=[Rounding()])
    [spec] = calls.snapshot.specs
    assert waits(await calls.call("pay", {"amount": 57}, META)).question == "Pay 50?"
    assert (await calls.resume(spec, {"amount": 57}, META, YES)).status == "ok"
    assert account.paid == [50]


async def test_an_answer_that_does_not_count_leaves_the_call_waiting() -> None:
    account = Account()
    calls = await calls_of(account, waiting=WaitOptions(rule=requester_may_not_approve))
    [spec] = calls.snapshot.specs
    waits(await calls.call("pay", {"amount": 5}, META))
    asked = waits(await calls.resume(spec, {"amount": 5}, META, YES, by="mira"))
    assert "may not approve" in asked.reason
    bad = waits(await calls.resume(spec, {"amount": 5}, META, {"approved": "yes"}, by="jo"))
    assert "true or false" in bad.reason
    assert account.paid == []
    assert (await calls.resume(spec, {"amount": 5}, META, YES, by="jo")).status == "ok"


async def test_another_process_goes_on_with_what_was_approved(tmp_path: Path) -> None:
    file = tmp_path / "runs.db"
    before, after = Account(), Account()
    async with Runtime(engine=InProcessEngine(file)) as first:
        calls: FrameworkCalls[None] = FrameworkCalls(await offered(before, first), META)
        waits(await calls.call("pay", {"amount": 5}, META))
    async with Runtime(engine=InProcessEngine(file)) as second:
        calls = FrameworkCalls(await offered(after, second), META)
        [spec] = calls.snapshot.specs
        assert (await calls.resume(spec, {"amount": 5}, META, YES)).status == "ok"
    assert (before.paid, after.paid) == ([], [5])


@pytest.mark.parametrize("has_id", [True, False])
async def test_without_an_engine_nobody_is_asked(has_id: bool) -> None:
    account = Account()
    calls: FrameworkCalls[None] = FrameworkCalls(await offered(account, Runtime()), META)
    [spec] = calls.snapshot.specs
    meta = META if has_id else CallMeta()
    assert await calls.open_question(spec, {"amount": 5}, meta) is None
    view = result_view(await calls.resume(spec, {"amount": 5}, meta, YES))
    assert (view.status, view.is_error, account.paid) == ("denied", True, [])


async def test_the_facts_of_a_call_come_from_the_host() -> None:
    calls: FrameworkCalls[str] = FrameworkCalls(
        await offered(Account(), Runtime()), lambda session: CallMeta(session_id=session)
    )
    assert calls.meta_of("s-1", "call-7") == CallMeta(session_id="s-1", tool_call_id="call-7")


def test_what_is_no_snapshot_is_told_at_once() -> None:
    hall: Any = Runtime()
    with pytest.raises(ToolgenError, match="'Runtime' is no snapshot"):
        FrameworkCalls(hall, META)


async def test_facts_that_are_neither_a_meta_nor_a_function_are_told_at_once() -> None:
    session: Any = "s-mira"
    with pytest.raises(ToolgenError, match="'str' is no CallMeta"):
        FrameworkCalls(await Runtime().snapshot(), session)
