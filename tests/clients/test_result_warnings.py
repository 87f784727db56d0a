"""What interfaces, journals and operators get of a result with warnings, and what nobody gets of it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import jsonschema
import pytest
from mcp import Client
from mcp.client._memory import InMemoryTransport

from tests.cases.lenient.gen.assistant.toolsets import orders
from tests.cases.lenient.gen.shop import ShopClient
from tests.clients.servers import answer, answering, serving
from tests.metered import Collected
from toolgen.adapters.http import Caller, HTTPSurface
from toolgen.adapters.mcp import server as mcp_server
from toolgen.adapters.result_view import result_view
from toolgen.agents import (
    AgentRegistration,
    AgentSpec,
    AgentTool,
    CallTools,
    PlannedCall,
    ScriptedPlanner,
    ToolMessage,
    agents_of,
)
from toolgen.agents.activities.plan_secrets import note_seen
from toolgen.calls.call import CallName
from toolgen.calls.documents.results import result_document
from toolgen.calls.steps.result_encoding import truncation_marker
from toolgen.contract.secrets import HIDDEN, Secrets, hiding, scrubbed
from toolgen.engines import InProcessEngine
from toolgen.events.hub import Events
from toolgen.events.redaction import public_result
from toolgen.runtime import CallMeta, Runtime, ToolResult
from toolgen.runtime.public_views import shown_document, shown_run

ORDER = {"id": 7, "state": "sent"}
PLACE = "$.state must be 'open' or 'paid'"
WARNING = {
    "path": "$.state",
    "pointer": "/state",
    "constraint": "invalid_enum_value",
    "message": "must be 'open' or 'paid'",
}
CUSTOMER = {"email": ["ann@example.org"], "tags": [{"word": "ann-2"}], "cards": {"visa": "4111-1111"}}
SECRETS = ("ann@example.org", "ann-2", "4111-1111")


@asynccontextmanager
async def shop(body: object, **options: Any) -> AsyncIterator[Runtime]:
    async with (
        serving(answering(answer(200, json.dumps(body).encode()))) as server,
        ShopClient(server=server.url) as client,
        Runtime(**options) as runtime,
    ):
        runtime.tools.register(orders.registration(orders.BoundOrdersExecutor(shop=client)))
        yield runtime


def surface(runtime: Runtime) -> HTTPSurface:
    return HTTPSurface(runtime, caller=lambda request: Caller(id="ann"))


async def test_operators_have_an_event_and_a_metric() -> None:
    collected, events = Collected(), Events()
    options = {"metrics": collected.metrics, "events": events}
    async with shop(ORDER, **options) as runtime, events.subscribe() as seen:
        await runtime.call("get_order", {"id": 7})
        ends = [event async for event in _until_end(seen)]
    assert [warning["path"] for warning in ends[-1].warnings] == ["$.state"]
    named = {"gen_ai.tool.name": "get_order", "toolgen.tool": "assistant.orders.get_order"}
    assert collected.points()["toolgen.results.unfit"] == [(named, 1)]


async def _until_end(seen: Any) -> AsyncIterator[Any]:
    async for event in seen:
        yield event
        if event.type == "tool_end":
            return


async def test_a_journal_keeps_what_the_model_got() -> None:
    async with shop(ORDER | {"items": [{"name": "a", "count": 1}]}, engine=InProcessEngine()) as runtime:
        name = CallName(interface="test", call_id="c-1", is_idempotency_key=True)
        first = await runtime.call_once(name, "send_order", {"id": 7}, CallMeta(session_id="s"))
        again = await runtime.call_once(name, "send_order", {"id": 7}, CallMeta(session_id="s"))
    for part in ("status", "json", "warnings", "content", "result", "bounds"):
        assert getattr(again, part) == getattr(first, part)
    assert [str(warning) for warning in again.warnings] == [PLACE]


async def test_http_has_the_warnings_beside_the_result() -> None:
    async with shop(ORDER) as runtime:
        app = surface(runtime)
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            sent = await client.post("/tools/get_order/calls", json={"arguments": {"id": 7}})
    call = sent.json()
    assert (call["status"], call["result"], call["warnings"]) == ("ok", ORDER, [WARNING])


@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
async def test_mcp_has_text_and_no_structured_content(era: str) -> None:
    async with (
        shop(ORDER) as runtime,
        Client(InMemoryTransport(mcp_server(runtime, session_id="s").sdk), mode=era) as client,
    ):
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        result = await client.call_tool("get_order", {"id": 7})
    assert listed["get_order"].output_schema is None
    assert listed["get_state"].output_schema is not None
    assert (result.is_error, result.structured_content) == (False, None)
    texts = [getattr(block, "text", "") for block in result.content]
    assert json.loads(texts[0]) == ORDER
    assert PLACE in texts[1]
    assert result.meta is not None
    assert [each["path"] for each in result.meta["dev.toolgen/warnings"]] == ["$.state"]


async def test_frameworks_see_the_warnings() -> None:
    async with shop(ORDER) as runtime:
        view = result_view(await runtime.call("get_order", {"id": 7}))
    assert (view.is_error, view.document) == (False, ORDER)
    warnings: Any = view.as_json()["warnings"]
    assert warnings[0]["path"] == "$.state"


async def test_the_published_schema_says_that_a_result_is_lenient() -> None:
    async with shop(ORDER) as runtime:
        lenient, strict = runtime.tools.spec("get_order"), runtime.tools.spec("get_state")
        result = await runtime.call("get_order", {"id": 7})
    jsonschema.Draft202012Validator(lenient.output_schema).validate(json.loads(result.json))
    assert "AsReceived" in lenient.output_schema["$defs"]
    assert strict.output_schema == strict.result.schema


async def test_what_is_not_validated_is_sensitive() -> None:
    """Nobody knows where a value stands that has another form: an observer gets none of it."""
    events = Events()
    async with shop(CUSTOMER, events=events) as runtime:
        async with events.subscribe() as seen:
            result = await runtime.call("get_customer", {"id": 7})
            ends = [event async for event in _until_end(seen)]
        spec = runtime.tools.spec("get_customer")
        shown = shown_document(result, spec).decode()
        transport = httpx.ASGITransport(app=surface(runtime))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            sent = await client.post("/tools/get_customer/calls", json={"arguments": {"id": 7}})
    assert json.loads(result.json) == CUSTOMER
    assert len(result.warnings) == 3
    for text in (shown, str(ends), sent.text):
        assert not [secret for secret in SECRETS if secret in text]


async def test_an_object_that_lacks_an_attribute_is_sensitive_as_a_whole() -> None:
    """The value may be there under another name."""
    body = {"e-mail": "ann@example.org", "tags": ["new"]}
    async with shop(body) as runtime:
        result = await runtime.call("get_owner", {"id": 7})
        shown = json.loads(shown_document(result, runtime.tools.spec("get_owner")))
    assert json.loads(result.json) == body
    assert shown == {"sensitive": True}


async def test_a_result_whose_warnings_were_not_kept_is_sensitive_as_a_whole() -> None:
    """As the message of a conversation, which has the text that the model read."""
    async with shop(CUSTOMER) as runtime:
        spec = runtime.tools.spec("get_customer")
        result = await runtime.call("get_customer", {"id": 7})
        kept = ToolResult(tool=spec.id, status="ok", json=result.json)
        assert public_result(kept, spec) == {"sensitive": True}
        fits = ToolResult(tool=spec.id, status="ok", json=b'{"email":"a@b.c","tags":["x"]}')
        assert public_result(fits, spec) == {"email": {"sensitive": True}, "tags": ["x"]}


async def test_a_part_that_fits_is_shown_beside_one_that_is_sensitive() -> None:
    async with shop({"email": "ann@example.org", "tags": ["new"], "cards": 7}) as runtime:
        result = await runtime.call("get_customer", {"id": 7})
        shown = json.loads(shown_document(result, runtime.tools.spec("get_customer")))
    assert shown == {"email": {"sensitive": True}, "tags": ["new"], "cards": {"sensitive": True}}


async def test_a_planner_reads_the_answer_and_the_note() -> None:
    planner = ScriptedPlanner([CallTools(calls=(PlannedCall.of("get_order", {"id": 7}),)), "Done."])
    body = json.dumps(ORDER).encode()
    async with (
        serving(answering(answer(200, body))) as server,
        ShopClient(server=server.url) as client,
        Runtime(engine=InProcessEngine()) as runtime,
    ):
        toolset = orders.registration(orders.BoundOrdersExecutor(shop=client))
        runtime.tools.register(toolset)
        tools = (AgentTool(id="assistant.orders.get_order", name="get_order"),)
        spec = AgentSpec(id="assistant.clerk", description="Serves people.", tools=tools)
        agents_of(runtime).register(AgentRegistration(spec=spec, planner=planner, toolsets=(toolset,)))
        await agents_of(runtime).client("assistant.clerk").one_shot("Go.")
    (read,) = [each for each in planner.inputs[-1].messages if isinstance(each, ToolMessage)]
    (got,) = read.answers
    assert (got.status, json.loads(got.text)) == ("ok", ORDER)
    assert PLACE in got.content[0]["text"]
    assert got.reminder == "Say the state."


@pytest.mark.parametrize("most", [None, 150])
async def test_what_a_planner_read_of_it_is_told_nobody_else(most: int | None) -> None:
    """A conversation has no warnings: where a value stands that has another form, nobody knows."""
    body = CUSTOMER | {"tags": [{"word": "ann-2"}] * 20}
    async with shop(body) as runtime:
        spec = runtime.tools.spec("get_customer")
        document = (await runtime.call("get_customer", {"id": 7})).json
    text = document if most is None else truncation_marker(document, most)
    fits = b'{"email":"ann@example.org","tags":["public"]}'
    secrets = Secrets()
    with hiding(secrets):
        note_seen(spec, "ok", text.decode())
        assert not [secret for secret in SECRETS[:2] if secret in scrubbed(f"I read {text!r}")]
    with hiding(Secrets()):
        note_seen(spec, "ok", fits.decode())
        assert scrubbed("ann@example.org has public") == f"{HIDDEN} has public"


async def test_what_does_not_fit_is_shown_nowhere_in_its_run() -> None:
    async with shop(CUSTOMER) as runtime:
        result = await runtime.call("get_customer", {"id": 7})
        call = {"tool": "assistant.orders.get_customer"}
        output = {**result_document(result), "display": "ann-2 has 4111-1111."}
        shown = str(shown_run(runtime, {"input": {"call": call}, "output": output, "why": "by ann-2"}))
    assert not [secret for secret in SECRETS if secret in shown]
