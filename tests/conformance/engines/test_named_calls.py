"""Calls that are made again by name, on a real Temporal server and by two workers."""

from __future__ import annotations

import asyncio
import itertools

import pytest

from tests.runtime.bank import META, Bank
from tests.runtime.test_ledger import question_of
from tests.temporal_server import TemporalServer
from toolgen.calls.call import CallName, CallNameError
from toolgen.contract.json_value import Json
from toolgen.engines.temporal import TemporalEngine
from toolgen.runtime import Runtime

_SECRET = b"0123456789abcdef"
_NUMBERS = itertools.count(1)


def served(server: TemporalServer, bank: Bank, number: int) -> Runtime:
    engine = TemporalEngine(server.address, queue=f"named {number}", prefix=f"named {number}:")
    runtime = Runtime(engine=engine, secret=_SECRET)
    runtime.tools.register(bank.toolset())
    return runtime


@pytest.mark.parametrize("tool", ["pay", "pay_approved", "pay_asking", "look"])
async def test_a_named_call_is_executed_once(server: TemporalServer, tool: str) -> None:
    bank, number = Bank(), next(_NUMBERS)
    name = CallName(interface="test", call_id="c1")
    async with (
        asyncio.timeout(120),
        served(server, bank, number) as one,
        served(server, bank, number) as other,
    ):
        results = await asyncio.gather(
            *(runtime.call_once(name, tool, {"amount": 5}, META) for runtime in (one, other))
        )
        while (asked := results[0].suspension) is not None:
            assert {result.suspension.id for result in results if result.suspension} == {asked.id}
            assert await question_of(other, name, tool) == asked
            yes: Json = {"approved": True} if asked.kind == "confirmation" else "here"
            await other.suspensions.answer(asked.token, yes)
            results = [await runtime.call_once(name, tool, {"amount": 5}, META) for runtime in (one, other)]
        refused = await one.call_once(name, tool, {"amount": 6}, META)
    assert {(result.status, result.json) for result in results} == {("ok", f'"{tool} 5"'.encode())}
    assert isinstance(refused.error, CallNameError)
    assert bank.paid == [(tool, 5)]


async def test_a_named_call_goes_on_for_who_has_joined_it(server: TemporalServer) -> None:
    """Though the caller is cancelled that began it, on another worker."""
    bank, number = Bank(hold=asyncio.Event()), next(_NUMBERS)
    name = CallName(interface="test", call_id="c1")
    async with (
        asyncio.timeout(120),
        served(server, bank, number) as one,
        served(server, bank, number) as other,
    ):
        first = asyncio.ensure_future(one.call_once(name, "pay", {"amount": 5}, META))
        await bank.holding.wait()
        joined = asyncio.ensure_future(other.call_once(name, "pay", {"amount": 5}, META))
        assert other.engine is not None
        (run,) = await other.engine.list_runs()
        while await other.engine.accepted_answer(run.run_id, "joined") is None:  # noqa: ASYNC110  # of another worker
            await asyncio.sleep(0.05)
        first.cancel()
        await asyncio.wait([first])
        assert bank.hold is not None
        bank.hold.set()
        result = await joined
    assert (first.cancelled(), result.json, bank.paid) == (True, b'"pay 5"', [("pay", 5)])
