"""Calls that are made again by name, on a real Temporal server and by two workers."""

from __future__ import annotations

import asyncio
import itertools

import pytest

from tests.runtime.bank import META, Bank
from tests.temporal_server import TemporalServer
from toolgen.contract.json_value import Json
from toolgen.engines.temporal import TemporalEngine
from toolgen.runtime import Runtime
from toolgen.runtime.waiting.call_names import CallName, CallNameError

_SECRET = b"0123456789abcdef"
_NUMBERS = itertools.count(1)


def served(server: TemporalServer, bank: Bank, number: int) -> Runtime:
    engine = TemporalEngine(server.address, queue=f"named {number}", prefix=f"named {number}:")
    runtime = Runtime(engine=engine, secret=_SECRET)
    runtime.register(bank.toolset())
    return runtime


@pytest.mark.parametrize("tool", ["pay", "pay_approved", "pay_asking", "look"])
async def test_a_named_call_is_executed_once(server: TemporalServer, tool: str) -> None:
    bank, number = Bank(), next(_NUMBERS)
    name = CallName(door="test", call_id="c1")
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
            assert await other.question(name, tool, {"amount": 5}, META) == asked
            yes: Json = {"approved": True} if asked.kind == "confirmation" else "here"
            await other.deliver(asked.token, yes)
            results = [await runtime.call_once(name, tool, {"amount": 5}, META) for runtime in (one, other)]
        refused = await one.call_once(name, tool, {"amount": 6}, META)
    assert {(result.status, result.json) for result in results} == {("ok", f'"{tool} 5"'.encode())}
    assert isinstance(refused.error, CallNameError)
    assert bank.paid == [(tool, 5)]
