"""Answers of lenient services that do not fit: typed where they fit, as received where they do not."""

from __future__ import annotations

import codecs
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.cases.lenient.gen.assistant.toolsets import orders
from tests.cases.lenient.gen.assistant.toolsets.orders.types import GetOrderPayload, GetStateResult
from tests.cases.lenient.gen.shop import GetOrderPayload as Asked
from tests.cases.lenient.gen.shop import ShopClient
from tests.cases.lenient.gen.types import BuyerPerson, Item
from tests.clients.servers import RawServer, answer, answering, serving
from toolgen.clients import Received, UnfitAnswerError
from toolgen.contract.limits import DEFAULT_LIMITS
from toolgen.runtime import Limits, Runtime, TextContent, ToolContext, ToolResult

ORDER = {"id": 7, "state": "open", "items": [{"name": "lamp", "count": 2}]}


@asynccontextmanager
async def shop(*answers: bytes, **options: Any) -> AsyncIterator[Runtime]:
    """Yield a runtime whose shop answers with these bytes."""
    async with shop_and_server(*answers, **options) as (runtime, _):
        yield runtime


@asynccontextmanager
async def shop_and_server(
    *answers: bytes, executor: Any = orders.BoundOrdersExecutor, **options: Any
) -> AsyncIterator[tuple[Runtime, RawServer]]:
    async with serving(answering(*answers)) as server, ShopClient(server=server.url) as client:
        runtime = Runtime(**options)
        runtime.tools.register(orders.registration(executor(shop=client)))
        yield runtime, server


async def call(
    body: object,
    tool: str = "get_order",
    status: int = 200,
    limits: Limits = DEFAULT_LIMITS,
    **headers: str,
) -> ToolResult:
    """Return the result of a tool whose shop answers so."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    async with shop(answer(status, data, **headers), limits=limits) as runtime:
        arguments = {} if tool.startswith("list") else {"id": 7}
        return await runtime.call(tool, arguments)


def places(result: ToolResult) -> list[str]:
    return [str(warning) for warning in result.warnings]


DRIFT = {
    "a new value of an enumeration": (
        ORDER | {"state": "sent"},
        ["$.state must be 'open' or 'paid'"],
    ),
    "null of a required attribute": (
        ORDER | {"state": None, "note": None},
        ["$.state must be 'open' or 'paid'"],
    ),
    "a text for a number": (
        ORDER | {"items": [{"name": "lamp", "count": "5"}, {"name": "pen", "count": 1}]},
        ["$.items[0].count must be an integer, not a string"],
    ),
    "a missing attribute": ({"id": 7}, ["$.state is required and was left out"]),
    "another name of an attribute": (
        {"id": 7, "status": "open"},
        ["$.state is required and was left out"],
    ),
    "a list for a map": (ORDER | {"counts": []}, ["$.counts must be an object, not an array"]),
    "a map for a list": (ORDER | {"items": {}}, ["$.items must be an array, not an object"]),
    "a new branch of a union": (
        ORDER | {"buyer": {"kind": "club", "seats": 3}},
        ["$.buyer matches none of the documented alternatives"],
    ),
    "a branch that does not fit": (
        ORDER | {"buyer": {"kind": "company", "number": "x"}},
        ["$.buyer.number must be an integer, not a string"],
    ),
    "another form of a time": (
        ORDER | {"at": "yesterday"},
        ["$.at must be written as date-time, such as 2026-01-31T10:00:00Z"],
    ),
    "a number out of its range": (
        ORDER | {"items": [{"name": "lamp", "count": 0}]},
        ["$.items[0].count must be at least 1"],
    ),
    "null in a map": (
        ORDER | {"counts": {"a": 1, "b": None}},
        ["$.counts.b must be an integer, not null"],
    ),
    "no object": ([1], ["$ must be an object, not an array"]),
    "null": (None, ["$ must be an object, not null"]),
}


@pytest.mark.parametrize("kind", DRIFT)
async def test_what_does_not_fit_is_passed_on_with_its_place_and_reason(kind: str) -> None:
    body: Any
    body, warnings = DRIFT[kind]
    result = await call(body)
    assert (result.status, places(result)) == ("ok", warnings)
    if isinstance(body, dict):
        body.pop("note", None)
    assert json.loads(result.json) == body
    note, reminder = result.content
    assert isinstance(note, TextContent)
    assert note.text == (
        f"The call ran. These values do not fit their documented type and are returned as received: "
        f"{warnings[0]}."
    )
    assert reminder == TextContent(text="Say the state.")
    assert result.display == ("Order 7" if isinstance(body, dict) else "")


async def test_what_fits_is_typed() -> None:
    buyer = {"kind": "person", "name": "Ann", "age": 7}
    sent = ORDER | {"state": "sent", "buyer": buyer, "vendor": "x"}
    result = await call(sent)
    assert result.result.items == [Item(name="lamp", count=2)]
    assert result.result.buyer == BuyerPerson(name="Ann")
    assert result.result.state == "sent"
    assert json.loads(result.json) == ORDER | {"state": "sent", "buyer": {"kind": "person", "name": "Ann"}}


async def test_what_fits_has_no_warning_and_no_note() -> None:
    result = await call(ORDER | {"note": None, "vendor": "x"})
    assert (result.warnings, json.loads(result.json)) == ((), ORDER)
    assert result.content == (TextContent(text="Say the state."),)


@pytest.mark.parametrize(
    "data",
    [
        codecs.BOM_UTF8 + json.dumps(ORDER).encode(),
        json.dumps(ORDER).encode("utf-16"),
        json.dumps(ORDER).encode("utf-16-le"),
        json.dumps(ORDER).encode("utf-16-be"),
    ],
)
async def test_marks_of_the_encoding_are_no_part_of_the_answer(data: bytes) -> None:
    result = await call(data)
    assert (json.loads(result.json), result.warnings) == (ORDER, ())


async def test_text_in_the_place_of_json_is_passed_on_as_text() -> None:
    result = await call(b"<html>In a moment</html>", Content_Type="text/html")
    assert (result.json, places(result)) == (
        b'"<html>In a moment</html>"',
        ["$ must be an object, not a string"],
    )
    assert result.result == "<html>In a moment</html>"
    binary = await call(b"\xff\xd8\xff\xe0")
    assert binary.status == "error"
    assert b"get_order ran; its result could not be read" in binary.json


@pytest.mark.parametrize("charset", ["utf-16", "iso-8859-1"])
async def test_text_in_a_declared_charset_is_passed_on_as_text(charset: str) -> None:
    body = '{"id": "größer", '
    result = await call(body.encode(charset), Content_Type=f"application/json; charset={charset}")
    assert json.loads(result.json) == body


async def test_a_number_that_is_no_json_is_passed_on_in_the_text() -> None:
    for number in ("1e400", "-1e999", "NaN"):
        body = f'{{"id": 7, "state": "sent", "counts": {{"a": {number}}}}}'
        result = await call(body.encode())
        assert json.loads(result.json) == body


async def test_a_good_status_that_is_not_documented_is_told() -> None:
    for body in (["a"], [7]):
        result = await call(body, "list_links", status=202)
        assert places(result)[0] == "$ has the status 202, which is not documented"
        assert json.loads(result.json) == {"links": body}


async def test_errors_stay_errors() -> None:
    result = await call(b'{"detail": "no such order"}', status=404)
    assert (result.status, result.warnings) == ("error", ())


async def test_a_tool_with_a_result_of_its_own_gets_what_it_needs_or_nothing() -> None:
    """What it declares is wider than the enumeration of the method, and it needs no items."""
    result = await call(ORDER | {"state": "sent", "items": "none"}, "get_state")
    assert (result.status, result.warnings) == ("ok", ())
    assert result.result == GetStateResult(state="sent")
    for broken in ({"at": 5}, {"state": None}, {"state": 7}):
        failed = await call(ORDER | broken, "get_state")
        assert (failed.status, failed.result, failed.warnings) == ("error", None, ())
        document = json.loads(failed.json)
        assert document["error"].startswith("get_state ran; its result could not be read: ")
        assert document["answer"] == ORDER | broken


async def test_an_artifact_that_does_not_fit_is_no_part_of_a_result() -> None:
    whole = {"id": 7, "order": ORDER | {"state": "sent"}}
    failed = await call(whole, "get_buyer")
    assert json.loads(failed.json)["answer"] == whole
    fits = await call({"id": 7, "order": ORDER}, "get_buyer")
    assert (fits.json, len(fits.artifacts)) == (b'{"id":7}', 1)


async def test_an_answer_with_sensitive_attributes_is_in_no_error() -> None:
    failed = await call({"email": "ann@example.org", "tags": None}, "get_tags")
    assert set(json.loads(failed.json)) == {"error"}


async def test_code_by_hand_is_told_and_the_model_gets_no_answer() -> None:
    caught: list[UnfitAnswerError] = []

    class Own(orders.BoundOrdersExecutor):
        async def get_order(self, payload: Any, ctx: ToolContext) -> Any:
            try:
                return await self._shop.get_order(Asked(id=payload.id))
            except UnfitAnswerError as error:
                caught.append(error)
                raise

        async def get_state(self, payload: Any, ctx: ToolContext) -> Any:
            received = await super().get_order(GetOrderPayload(id=payload.id), ctx)
            assert isinstance(received, Received)
            return GetStateResult(state=json.loads(received.error.document)["state"])

    body = ORDER | {"state": "sent", "internal": 5}
    async with shop(answer(200, json.dumps(body).encode()), executor=Own) as runtime:
        failed = await runtime.call("get_order", {"id": 7})
        assert set(json.loads(failed.json)) == {"error"}
        assert b"sent" not in failed.json
        assert json.loads(caught[0].document) == body
        assert [str(warning) for warning in caught[0].warnings] == ["$.state must be 'open' or 'paid'"]
        assert isinstance(caught[0].value, object)
        taken = await runtime.call("get_state", {"id": 7})
        assert taken.json == b'{"state":"sent"}'


async def test_bounds_and_pages_that_cannot_be_read_are_absent() -> None:
    page = {"orders": [ORDER], "next": "b"}
    good = await call(page, "list_orders")
    assert good.bounds is not None
    assert (good.bounds.returned, good.bounds.next_cursor) == (1, "b")
    broken = await call(page | {"orders": [ORDER | {"state": "sent"}]}, "list_orders")
    assert (broken.bounds, places(broken)) == (None, ["$.orders[0].state must be 'open' or 'paid'"])
    assert json.loads(broken.json) == {"orders": [ORDER | {"state": "sent"}], "next": "b"}
    elsewhere = await call(["a"], "list_links", Link='<https://evil.example/?page=2>; rel="next"')
    assert json.loads(elsewhere.json) == {"links": ["a"]}
    assert places(elsewhere) == [
        "$.next came with a link to the next page that is at another origin or malformed"
    ]


async def test_budgets_hold() -> None:
    many = ORDER | {"counts": {str(number): "x" for number in range(20_000)}}
    refused = await call(many)
    assert (refused.status, refused.json[:10]) == ("error", b'{"error":"')
    some = ORDER | {"items": [{"name": "a" * 100, "count": "1"}] * 6_000}
    result = await call(some, limits=Limits(result_bytes=10_000))
    assert (result.status, len(result.warnings)) == ("ok", 20)
    assert json.loads(result.json)["truncated_by"] == "toolgen's size limit"


async def test_a_call_that_ran_once_is_not_made_again() -> None:
    sent = answer(200, json.dumps(ORDER | {"state": "sent"}).encode())
    async with shop_and_server(sent) as (runtime, server):
        result = await runtime.call("send_order", {"id": 7})
        assert (result.status, len(server.received)) == ("ok", 1)
