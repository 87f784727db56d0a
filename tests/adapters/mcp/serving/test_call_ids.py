"""Calls that a client makes again under an id of its own: `dev.toolgen/call-id` in `_meta`."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from mcp import MCPError, types

from tests.selection import first
from toolgen.engines import InProcessEngine
from toolgen.runtime import CallMeta

from .desk import ERAS, Served, served
from .people import Person, accept

YES = accept(approved=True)
in_each_era = pytest.mark.parametrize("era", first(ERAS))


def text_of(result: types.CallToolResult) -> str:
    [block] = result.content
    assert isinstance(block, types.TextContent)
    return block.text


async def call(one: Served, tool: str, call_id: object, **arguments: Any) -> types.CallToolResult:
    meta: Any = {"dev.toolgen/call-id": call_id}
    return await one.client.call_tool(tool, arguments, meta=meta)


@in_each_era
async def test_a_call_of_one_id_is_executed_once(era: str) -> None:
    async with served(era, elicitation=Person(*[YES] * 3), approvals="elicitation") as one:
        results = [await call(one, "burn", "c1", id="p1") for _ in range(3)]
    assert {text_of(result) for result in results} == {'"p1 is ash"'}
    assert one.desk.log == ["burn p1"]


@in_each_era
async def test_another_call_of_the_id_is_an_error(era: str) -> None:
    async with served(era, elicitation=Person(*[YES] * 3), approvals="elicitation") as one:
        await call(one, "burn", "c1", id="p1")
        other = await call(one, "burn", "c1", id="p2")
    assert (other.is_error, "made before" in text_of(other)) == (True, True)
    assert one.desk.log == ["burn p1"]


async def test_without_an_id_a_call_is_another_one_each_time() -> None:
    async with served("auto", elicitation=Person(*[YES] * 3), approvals="elicitation") as one:
        for _ in range(2):
            await one.client.call_tool("burn", {"id": "p1"})
    assert one.desk.log == ["burn p1", "burn p1"]


async def test_an_id_counts_for_one_person() -> None:
    person = ["ann"]
    options: dict[str, Any] = {"meta": lambda ctx: CallMeta(session_id="s", requested_by=person[0])}
    async with served("auto", elicitation=Person(*[YES] * 3), approvals="elicitation", **options) as one:
        await call(one, "burn", "c1", id="p1")
        person[0] = "bob"
        await call(one, "burn", "c1", id="p1")
    assert one.desk.log == ["burn p1", "burn p1"]


@in_each_era
async def test_a_call_that_waits_out_of_band_waits_once(era: str, tmp_path: Any) -> None:
    options = {"engine": InProcessEngine(tmp_path / "runs.db")}
    async with served(era, elicitation=Person(), runtime_options=options) as one:
        texts = [text_of(await call(one, "burn", "c1", id="p1")) for _ in range(2)]
        [waiting] = await one.runtime.suspensions.list()
        assert {json.loads(text)["id"] for text in texts} == {waiting.id}
        await one.runtime.suspensions.answer(waiting.token, {"approved": True})
        done = await call(one, "burn", "c1", id="p1")
    assert (text_of(done), one.desk.log) == ('"p1 is ash"', ["burn p1"])


async def test_a_call_goes_on_whose_request_is_cancelled_and_is_found_again() -> None:
    async with served("legacy") as one:
        first = asyncio.ensure_future(call(one, "hang", "c1"))
        await one.desk.has_begun.wait()
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        second = asyncio.ensure_future(call(one, "hang", "c1"))
        for _ in range(50):
            await asyncio.sleep(0)
        assert not second.done()
        assert not one.desk.was_cancelled.is_set()
        engine = one.runtime.engine
        assert engine is not None
        [run] = await engine.list_runs()
        assert run.state == "running"
        second.cancel()
        await asyncio.gather(second, return_exceptions=True)
        await engine.cancel(run.run_id)


@pytest.mark.parametrize("given", [7, "", "x" * 201])
async def test_an_id_that_is_none_is_refused(given: object) -> None:
    async with served("auto") as one:
        with pytest.raises(MCPError, match="string of at most 200 characters"):
            await call(one, "count", given)
