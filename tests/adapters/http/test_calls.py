"""Calls over HTTP: what they return, what is refused, and that a key names one call."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from toolgen.adapters.http import SurfaceOptions
from toolgen.engines import InProcessEngine
from toolgen.events.document import as_json

from .shop import SHOP, Shop, problem, served, shop_runtime


async def test_a_call_returns_its_result() -> None:
    async with served() as shop:
        answer = await shop.call("order", {"item": "tea", "amount": 2}, trace=True)
        call = answer.json()
    assert answer.status_code == 200
    assert (call["status"], call["result"], call["tool"]) == ("ok", "2 tea", f"{SHOP}.order")
    assert call["id"] == call["tool_call_id"]
    assert [step["step"] for step in call["trace"]][:2] == ["lookup", "decode"]
    assert shop.shop.log == ["order 2 tea"]


async def test_facts_of_a_call_come_from_the_host() -> None:
    async with served() as shop:
        for caller in ("ann", "bob"):
            assert (await shop.call(f"{SHOP}.count", caller=caller)).json()["result"] == 3
    assert shop.shop.log == ["count for ann t1", "count for bob t1"]


async def test_refused_arguments_are_a_problem_with_their_issues() -> None:
    async with served() as shop:
        answer = await shop.call("order", {"amount": "two"})
    assert problem(answer) == (422, "invalid-arguments")
    issues = {(issue["path"], issue["pointer"], issue["constraint"]) for issue in answer.json()["issues"]}
    assert issues == {("$.item", "/item", "missing_field"), ("$.amount", "/amount", "invalid_type")}
    assert shop.shop.log == []


async def test_arguments_that_are_no_object_are_refused_by_the_tool() -> None:
    async with served() as shop:
        answer = await shop.client.post("/tools/order/calls", json={"arguments": [1]})
    assert problem(answer) == (422, "invalid-arguments")


async def test_an_unknown_tool_is_a_problem_that_names_close_ones() -> None:
    async with served() as shop:
        answer = await shop.call("ordre")
    assert problem(answer) == (404, "unknown-tool")
    assert "order" in answer.json()["detail"]


@pytest.mark.parametrize(("tool", "message"), [("fail", "the shelf is empty"), ("crash", "crash failed")])
async def test_a_call_that_failed_is_an_outcome(tool: str, message: str) -> None:
    async with served() as shop:
        answer = await shop.call(tool)
    call = answer.json()
    assert (answer.status_code, call["status"]) == (200, "error")
    assert call["error"]["message"].startswith(message)
    assert "hunter2" not in answer.text
    assert ("correlation_id" in call["error"]) == (tool == "crash")


async def test_clients_journals_and_logs_have_the_same_document_of_a_call() -> None:
    async with served() as shop:
        call = (await shop.call("order", {"item": "tea"}, key="k1")).json()
        runs = shop.runtime.runs
        stored: Any = (await runs.status(call["id"])).output
        (end,) = [as_json(event) for event in await runs.events(call["id"]) if event.type == "tool_end"]
    document = {name: value for name, value in call.items() if name != "id"}
    assert document.keys() == {"tool", "tool_call_id", "status", "result", "telemetry"}
    assert {name: stored[name] for name in document} == document
    assert {name: end[name] for name in document} == document


async def test_the_same_key_is_the_same_call() -> None:
    async with served() as shop:
        first, *others = [(await shop.call("order", {"item": "tea"}, key="k1")).json() for _ in range(3)]
        assert others == [first, first]
        assert shop.shop.log == ["order 1 tea"]
        assert await shop.get(f"/calls/{first['id']}") == first
        assert (await shop.call("order", {"item": "tea"}, key="k2")).json()["id"] != first["id"]
        assert (await shop.call("order", {"item": "tea"}, key="k1", caller="bob")).json()["id"] != first["id"]
    assert shop.shop.log == ["order 1 tea"] * 3


@pytest.mark.parametrize("tool", ["order", "count"])
async def test_the_same_key_of_another_call_is_refused(tool: str) -> None:
    async with served() as shop:
        made = {"item": "tea"} if tool == "order" else {}
        assert (await shop.call(tool, made, key="k1")).status_code == 200
        assert problem(await shop.call("order", {"item": "milk"}, key="k1")) == (
            422,
            "idempotency-key-reused",
        )
    assert len(shop.shop.log) == 1


async def test_refused_arguments_take_no_key() -> None:
    async with served() as shop:
        assert problem(await shop.call("order", {}, key="k1")) == (422, "invalid-arguments")
        assert (await shop.call("order", {"item": "tea"}, key="k1")).status_code == 200


async def test_calls_of_a_key_at_once_run_once() -> None:
    async with served() as shop:
        calls = [asyncio.ensure_future(shop.call("hold", key="k1")) for _ in range(5)]
        await shop.shop.has_begun.wait()
        shop.shop.goes_on.set()
        answers = await asyncio.gather(*calls)
    assert {answer.text for answer in answers} == {answers[0].text}
    assert shop.shop.log == ["held"]


async def test_a_key_counts_after_a_restart(tmp_path: Path) -> None:
    shops = [Shop(), Shop()]
    texts = []
    for shop in shops:
        runtime = shop_runtime(shop, engine=InProcessEngine(tmp_path / "runs.db"))
        async with served(runtime=runtime, shop=shop) as one:
            texts.append((await one.call("order", {"item": "tea"}, key="k1")).text)
    assert texts[0] == texts[1]
    assert [shop.log for shop in shops] == [["order 1 tea"], []]


async def test_a_runtime_without_an_engine_says_that_it_keeps_nothing() -> None:
    async with served(engine=None) as shop:
        assert (await shop.call("order", {"item": "tea"})).status_code == 200
        assert problem(await shop.call("order", {"item": "tea"}, key="k1")) == (501, "not-implemented")
        assert problem(await shop.client.get("/calls/call_1")) == (404, "not-found")
        assert problem(await shop.client.get("/suspensions")) == (501, "not-implemented")


async def test_what_others_called_is_not_there() -> None:
    async with served() as shop:
        call = (await shop.call("order", {"item": "tea"}, key="k1")).json()
        answer = await shop.client.get(f"/calls/{call['id']}", headers={"x-caller": "bob"})
        assert problem(answer) == (404, "not-found")
        answer = await shop.call("order", {"item": "tea"}, session="bob:default")
        assert problem(answer) == (404, "not-found")
        assert await shop.get(f"/calls/{call['id']}", caller="root") == call


async def test_sensitive_values_are_hidden() -> None:
    async with served() as shop:
        call = (await shop.call("destroy", {"item": "tea", "code": "s3cret-c0de"})).json()
        wait = call["suspensions"][0]["id"]
        assert call["suspensions"][0]["arguments"] == {"item": "tea", "code": {"sensitive": True}}
        answered = await shop.post(f"/suspensions/{wait}/answer", answer={"approved": True})
        assert answered.json()["call"]["status"] == "ok"
        kept = await shop.client.get(f"/calls/{call['id']}")
    assert shop.shop.log == ["destroy tea s3cret-c0de"]
    assert "s3cret" not in answered.text + kept.text


@pytest.mark.parametrize(
    ("content", "headers", "expected"),
    [
        (b"{", {}, (400, "invalid-request")),
        (b"[]", {}, (400, "invalid-request")),
        (b'{"argument":{}}', {}, (400, "invalid-request")),
        (b'{"session":1}', {}, (400, "invalid-request")),
        (b"a=1", {"content-type": "application/x-www-form-urlencoded"}, (415, "unsupported-media-type")),
        (b"[" * 70 + b"]" * 70, {}, (413, "content-too-large")),
        (b'{"arguments":"' + b"x" * 5000 + b'"}', {}, (413, "content-too-large")),
        (b"{}", {"idempotency-key": "k" * 201}, (400, "invalid-request")),
    ],
)
async def test_a_body_that_is_none_is_refused(
    content: bytes, headers: dict[str, str], expected: tuple[int, str]
) -> None:
    async with served(SurfaceOptions(max_body_bytes=4000)) as shop:
        sent = {"content-type": "application/json", **headers}
        answer = await shop.client.post("/tools/order/calls", content=content, headers=sent)
    assert problem(answer) == expected
