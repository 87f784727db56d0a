"""Names that are idempotency keys: every call is kept, its result can be read, and its run be followed."""

from __future__ import annotations

import asyncio
from typing import Final

import pytest

from tests.runtime.bank import META, Bank
from toolgen.calls.call import CallName, CallNameError
from toolgen.engines import InProcessEngine, RunWait, UnknownRunError
from toolgen.runtime import Runtime
from toolgen.waiting.errors import NoEngineError

NAME: Final = CallName(interface="http", call_id="k1", checkpoint="mira", is_idempotency_key=True)
RUN: Final = NAME.run_id(META)


def served(bank: Bank, engine: InProcessEngine | None) -> Runtime:
    runtime = Runtime(engine=engine)
    runtime.tools.register(bank.toolset())
    return runtime


async def test_a_call_that_may_run_twice_runs_once(engine: InProcessEngine) -> None:
    bank = Bank()
    runtime = served(bank, engine)
    for _ in range(3):
        assert (await runtime.call_once(NAME, "read", {"amount": 5}, META)).json == b'"read 5"'
    refused = await runtime.call_once(NAME, "read", {"amount": 6}, META)
    assert isinstance(refused.error, CallNameError)
    assert bank.paid == [("read", 5)]
    assert (await runtime.runs.call_result(RUN)).json == b'"read 5"'


async def test_other_arguments_are_refused_while_the_first_wait_for_an_approval(
    engine: InProcessEngine,
) -> None:
    bank = Bank()
    runtime = served(bank, engine)
    first = await runtime.call_once(NAME, "pay_approved", {"amount": 5}, META)
    refused = await runtime.call_once(NAME, "pay_approved", {"amount": 50}, META)
    assert isinstance(refused.error, CallNameError)
    assert first.suspension is not None
    assert [one.id for one in await runtime.suspensions.list()] == [first.suspension.id]
    [so_far] = (await runtime.runs.call_result(RUN)).suspensions
    assert so_far == first.suspension

    [wait] = [wait for wait in await engine.open_waits() if wait.run_id == RUN]
    assert await runtime.suspensions.at(wait) == first.suspension
    assert await runtime.suspensions.at(RunWait(run_id=RUN, op="x", about={"kind": "pause"})) is None
    await runtime.suspensions.answer(first.suspension.token, {"approved": True})
    assert (await runtime.runs.call_result(RUN)).status == "ok"


async def test_a_call_that_is_executed_is_pending(engine: InProcessEngine) -> None:
    bank = Bank(hold=asyncio.Event())
    runtime = served(bank, engine)
    call = asyncio.ensure_future(runtime.call_once(NAME, "pay", {"amount": 5}, META))
    await bank.holding.wait()
    assert (await runtime.runs.call_result(RUN)).status == "running"
    followed = runtime.runs.follow(RUN)
    assert (await anext(followed)).type == "tool_start"
    assert bank.hold is not None
    bank.hold.set()
    assert (await call).status == "ok"
    types = [event.type async for event in followed]
    assert "tool_end" in types
    assert types[-1] == "run_stream_end"
    assert [event.seq async for event in runtime.runs.follow(RUN, after=1)] == [*range(2, len(types) + 2)]


async def test_only_runs_of_calls_have_the_result_of_one(engine: InProcessEngine) -> None:
    with pytest.raises(UnknownRunError):
        await served(Bank(), engine).runs.call_result("call_unknown")
    with pytest.raises(NoEngineError):
        await served(Bank(), None).runs.call_result(RUN)
