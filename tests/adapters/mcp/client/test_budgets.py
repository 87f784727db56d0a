"""What a server may cost its client: messages, requests, keys and depth of one call, counted."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from typing import Any

import httpx2
import pytest
from mcp.shared.exceptions import MCPError

from tests.adapters.mcp.client.bad_web import bad_web
from tests.adapters.mcp.client.conftest import heard, hostile, served
from tests.selection import diagonal, first
from toolgen.adapters.mcp import HttpServer, MCPToolset
from toolgen.adapters.mcp.client import measured_http, stdio
from toolgen.adapters.mcp.client.errors import MCPServerError
from toolgen.adapters.mcp.client.intake import Intake
from toolgen.adapters.mcp.client.measured_http import measured_by
from toolgen.events.hub import Events


class Decoded:
    """What of a server was decoded."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.number = 0
        decode = stdio._message

        def counted(line: bytes) -> Any:
            self.number += 1
            return decode(line)

        monkeypatch.setattr(stdio, "_message", counted)


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> Decoded:
    return Decoded(monkeypatch)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("attack", "most", "why"),
    first(
        [
            ("notifications", 1_000, "it sent more than 11000 messages for one request"),
            ("progress", 1_000, "it sent more than 11000 messages for one request"),
            ("garbage", 1_000, "it sent more than 11000 messages for one request"),
            ("blanks", 0, "it sent more than 11000 messages for one request"),
            ("answers", 100, "it answered more than 100 times for one request"),
            ("elicitations", 100, "it asked more than 100 times for one request"),
            ("nameless", 0, "it sent a message with more than 20000 keys and items in all"),
        ],
        2,
    ),
)
async def test_a_server_that_sends_too_much_is_ended(
    attack: str, most: int, why: str, decoded: Decoded, caplog: pytest.LogCaptureFixture
) -> None:
    async with served(hostile(clock=lambda: 0.0), events=Events()) as (_, snapshot):
        decoded.number = 0
        result = await snapshot.call(attack, {})
        assert decoded.number <= most
        assert (result.status, str(result.error)) == (
            "unknown",
            f"the connection to the MCP server 'hostile' ended before the answer; {attack} may have run",
        )
        assert f"the connection to the MCP server 'hostile' ended: {why}" in caplog.text
        assert (await snapshot.call("echo", {})).status == "ok"  # by a new process


@pytest.mark.parametrize(
    ("attack", "why"),
    first(
        [
            ("blocks", "more than 20000 keys and items in all"),
            ("members", "more than 20000 keys and items in all"),
            ("depth", "more than 72 arrays and objects inside one another"),
        ]
    ),
)
async def test_an_answer_that_holds_too_much_fails_its_call_alone(attack: str, why: str) -> None:
    async with served(hostile()) as (_, snapshot):
        process = (await snapshot.call("echo", {})).result
        result = await snapshot.call(attack, {})
        assert result.status == "unknown"
        assert f"returned an answer that does not fit: it has {why}" in str(result.error)
        assert (await snapshot.call("echo", {})).result == process


async def test_a_text_that_was_cut_within_an_emoji_is_told_with_a_replacement() -> None:
    async with served(hostile("halves", call_s=None)) as (_, snapshot):
        (cut,) = (spec for spec in snapshot.specs if spec.name == "cut")
        assert cut.description == "Cut \ufffd"
        result = await asyncio.wait_for(snapshot.call("halved", {}), 60)
        assert (result.status, result.result) == ("ok", "cut \ufffd")


async def test_an_answer_that_is_no_message_fails_its_call_at_once() -> None:
    async with served(hostile(call_s=None)) as (_, snapshot):
        process = (await snapshot.call("echo", {})).result
        result = await asyncio.wait_for(snapshot.call("broken", {}), 60)
        assert result.status == "unknown"
        assert "it is not a JSON-RPC message" in str(result.error)
        assert (await snapshot.call("echo", {})).result == process


@pytest.mark.exhaustive
async def test_notifications_beyond_the_budget_are_dropped_and_the_answer_is_not(
    decoded: Decoded, caplog: pytest.LogCaptureFixture
) -> None:
    async with served(hostile(clock=lambda: 0.0)) as (_, snapshot):
        decoded.number = 0
        for _ in range(2):
            assert (await snapshot.call("chatter", {})).status == "ok"
        assert decoded.number <= 2_000
        assert "it sent more than 1000 messages for one request" in caplog.text


async def test_a_notification_that_holds_too_much_is_dropped(caplog: pytest.LogCaptureFixture) -> None:
    async with served(hostile()) as (_, snapshot):
        assert (await snapshot.call("loud", {})).status == "ok"
    assert "was not read: it has more than 20000 keys" in caplog.text


NOTE = b'{"jsonrpc": "2.0", "method": "notifications/message", "params": {}}'
ANSWER = b'{"jsonrpc": "2.0", "id": 1, "result": {}}'
ASKED = b'{"jsonrpc": "2.0", "id": "q", "method": "ping"}'


class Taking:
    """An intake with a clock that a test sets."""

    def __init__(self) -> None:
        self.now = 0.0
        self.dropped = 0
        self.ended: list[str] = []
        self.intake = Intake(
            "hostile", lambda: self.now, self._drop, lambda error: self.ended.append(error.message)
        )

    def _drop(self) -> None:
        self.dropped += 1

    def admitted(self, message: bytes, number: int) -> int:
        return sum(self.intake.admitted(message) is not None for _ in range(number))


def test_each_request_and_each_second_give_credit() -> None:
    taking = Taking()
    assert taking.admitted(NOTE, 1_500) == 1_000
    taking.now = 5.0
    assert taking.admitted(NOTE, 100) == 0  # what was beyond is paid first
    taking.now = 60.0
    assert taking.admitted(NOTE, 1_500) == 1_000  # no more is saved
    with taking.intake.request(), taking.intake.request():
        assert taking.admitted(NOTE, 2_500) == 1_500
        assert taking.admitted(ANSWER, 10) == 10
    assert taking.dropped == 3  # the list may have changed


def test_a_server_may_ask_as_often_as_its_credit_says() -> None:
    taking = Taking()
    assert taking.admitted(ASKED, 100) == 100
    with taking.intake.request():
        assert taking.admitted(ASKED, 100) == 100
    with pytest.raises(MCPServerError, match="it asked more than 100 times"):
        taking.admitted(ASKED, 1)


def asking(method: str, form: object) -> bytes:
    document = {"id": "q", "method": method, "params": {"message": "?", "requestedSchema": form}}
    return json.dumps({"jsonrpc": "2.0", **document}).encode()


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        ("a" * 2**18, "has more than 262144 bytes of JSON"),
        ([0] * 10_001, "has more than 10000 keys and items in all"),
    ],
)
def test_of_a_request_that_holds_too_much_nothing_is_decoded(form: object, reason: str) -> None:
    intake = Taking().intake
    for id_last in (False, True):
        message = asking("elicitation/create", form)
        if id_last:
            message = message.replace(b'"id": "q", ', b"")[:-1] + b', "id": "q"}'
        read = json.loads(intake.admitted(message) or b"")
        assert (read["id"], read["method"]) == ("q", "elicitation/create")
        assert intake.refusal_of(read["params"].pop("_meta")) == reason
        assert read["params"] == {"message": "", "requestedSchema": {"type": "object", "properties": {}}}
    read = json.loads(intake.admitted(asking("sampling/createMessage", form)) or b"")
    assert read == {"jsonrpc": "2.0", "id": "q", "method": "sampling/createMessage"}
    assert intake.admitted(asking("elicitation/create", "a" * 2**17)) == asking(
        "elicitation/create", "a" * 2**17
    )


def test_no_server_says_that_its_own_question_is_declined() -> None:
    intake = Taking().intake
    for facts in (None, {}, {"toolgen.exceeded": "0 has more"}, {"toolgen.exceeded": ["x"]}):
        assert intake.refusal_of(facts) == ""


@pytest.mark.exhaustive
async def test_the_log_of_a_connection_has_few_lines_of_one_kind(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    intake = Taking().intake
    for _ in range(100):
        intake.admitted(b'{"jsonrpc": "2.0", "method": "a", "params": [' + b"1," * 30_000 + b"1]}")
    async with served(hostile(clock=lambda: 0.0)) as (_, snapshot):
        assert (await snapshot.call("changes", {})).status == "ok"
    lines = [record.getMessage() for record in caplog.records]
    for kind in ("changed its list of tools", "was not read: it has"):
        alike = [line for line in lines if kind in line]
        assert len(alike) == 10
        assert alike[-1].endswith("(more of this connection is not logged)")


def test_no_server_makes_the_error_that_stands_for_its_answer() -> None:
    error = json.loads(Taking().intake.measured(b"[" + b"1," * 30_000 + b"1]", 7))["error"]
    assert error["message"] == "it has more than 20000 keys and items in all"
    assert Taking().intake.fault_of(MCPError(error["code"], error["message"], error["data"])) is None


class Body(httpx2.AsyncByteStream):
    """A body in chunks."""

    def __init__(self, chunks: list[bytes]) -> None:
        self.chunks = chunks
        self.read = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self.chunks:
            self.read += 1
            yield chunk


async def read(sent: list[bytes] | Body, kind: str) -> list[str]:
    """Return the data of the events, or the body, that is read of a response to the request 7."""
    request = httpx2.Request("POST", "http://a.example", json={"jsonrpc": "2.0", "id": 7, "method": "m"})
    body = sent if isinstance(sent, Body) else Body(sent)
    response = httpx2.Response(200, headers={"content-type": kind}, stream=body, request=request)
    await measured_by(Taking().intake)(response)
    if not kind.startswith("text/event-stream"):
        return [(await response.aread()).decode()]
    return [event.data async for event in httpx2.EventSource(response)]


MANY = b"[" + b"1," * 30_000 + b"1]"


@pytest.mark.parametrize(("size", "end"), diagonal([1, 2, 7, 1_000_000], [b"\n", b"\r\n", b"\r"]))
async def test_events_are_measured_wherever_their_chunks_end(size: int, end: bytes) -> None:
    events = [
        b"id: \"", b"retry: 10", b"data: " + NOTE, b"",
        b": a comment \"", b"", b"",
        b"event: message", b'data: {"jsonrpc": "2.0",', b'data:"id": 1, "result": {}}', b"",
    ]  # fmt: skip
    text = end.join(events) + end
    found = await read([text[at : at + size] for at in range(0, len(text), size)], "text/event-stream")
    assert found == [NOTE.decode(), '{"jsonrpc": "2.0",\n"id": 1, "result": {}}']


@pytest.mark.parametrize(
    "kind", ["text/event-stream", "text/event-stream; charset=utf-16", "application/json"]
)
async def test_an_answer_over_http_that_holds_too_much_becomes_an_error(kind: str) -> None:
    body = b'{"jsonrpc": "2.0", "id": 7, "result": {"a": ' + MANY + b"}}"
    if kind.startswith("text"):
        body = b'id: "\ndata: ' + body + b"\n\n"
    (found,) = await read([body], kind)
    assert (json.loads(found)["id"], json.loads(found)["error"]["message"]) == (
        7,
        "it has more than 20000 keys and items in all",
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize("is_asked", [False, True])
async def test_a_stream_of_too_many_events_ends_the_connection(is_asked: bool) -> None:
    """By GET it was opened anew, for as many again."""
    flood = (b"data: " + NOTE + b"\n\n") * 14_000
    ended = "the connection to the MCP server 'web' ended"
    async with bad_web() as web, asyncio.timeout(60):
        web.listened = b"" if is_asked else flood
        web.bodies["page"] = (200, "text/event-stream", flood)
        made = MCPToolset("web", HttpServer(web.url), prefix="", clock=lambda: 0.0)
        async with AsyncExitStack() as stack:
            async with heard(f"{ended}: it sent more than 11000 messages"):
                _, snapshot = await stack.enter_async_context(served(made))
                if is_asked:
                    assert f"{ended} before the answer" in str((await snapshot.call("page", {})).error)
            web.listened = b""
            assert (await snapshot.call("forgets", {})).result == "session-2"


async def test_a_stream_of_too_many_events_is_not_read_on() -> None:
    with pytest.raises(httpx2.SSEError, match="it sent more than 11000 messages"):
        await read([(b"data: " + NOTE + b"\n\n") * 1_000] * 12, "text/event-stream")


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
async def test_empty_lines_between_events_are_not_looked_at(
    end: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks, look = [], measured_http._Events._event

    def counted(events: measured_http._Events) -> Iterator[bytes]:
        looks.append(events)
        return look(events)

    monkeypatch.setattr(measured_http._Events, "_event", counted)
    event = b"data: " + NOTE + end
    assert await read([event, *[end * 50_000] * 4, event + end], "text/event-stream") == [NOTE.decode()] * 2
    assert len(looks) <= 2 * 4 + 1


async def test_of_a_body_of_too_many_small_chunks_no_more_is_read() -> None:
    body = b'{"jsonrpc": "2.0", "id": 7, "result": {"a": "%s"}}' % (b"x" * 20_000)
    chunks = [body[at : at + 1] for at in range(len(body))]
    sent = Body(chunks)
    (found,) = await read(sent, "application/json")
    assert json.loads(found)["error"]["message"] == (
        "it sent more than 10000 chunks of fewer than 1024 bytes for one request"
    )
    assert sent.read == 10_001
    assert await read([body[at : at + 5] for at in range(0, len(body), 5)], "application/json") == [
        body.decode()
    ]


@pytest.mark.parametrize(
    ("chunk", "most"),
    first([(b":", 10_000), (b"\n", 10_000), (b"\r\n" * 1_000, 10_000), (b"\n" * 2**16, 156)], 2),
)
async def test_a_stream_of_too_many_chunks_without_an_event_ends(chunk: bytes, most: int) -> None:
    sent = Body([chunk] * 20_000)
    with pytest.raises(httpx2.SSEError, match="it sent more than 10000 chunks"):
        await read(sent, "text/event-stream")
    assert sent.read == most + 1


@pytest.mark.parametrize("line", [b"data\n", b": ping\n"])
async def test_an_event_of_too_many_lines_ends(line: bytes) -> None:
    with pytest.raises(httpx2.SSEError, match="10000 lines"):
        await read([line * 1_000] * 11, "text/event-stream")
