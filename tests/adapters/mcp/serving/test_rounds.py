"""What differs by era in a question: the state that a client returns with, and how often one is asked."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from mcp import Client, MCPError, types
from mcp.client._memory import InMemoryTransport

from toolgen.adapters.mcp import server
from toolgen.calls.functions.tools import function_toolset
from toolgen.engines import InProcessEngine
from toolgen.runtime import CallMeta, Runtime, ToolContext, ToolOutcome, Unfinished

from .desk import MIRA, Desk, desk_runtime, served
from .people import Person, accept
from .web import URL, hello, modern_call, web


async def asked(one: Any, tool: str = "burn", id: str = "p1") -> types.InputRequiredResult:
    result = await one.client.session.call_tool(tool, {"id": id}, allow_input_required=True)
    assert isinstance(result, types.InputRequiredResult)
    assert result.request_state is not None
    return result


async def answered(one: Any, state: str, tool: str = "burn", id: str = "p1") -> Any:
    return await one.client.session.call_tool(
        tool,
        {"id": id},
        input_responses={"answer": accept(approved=True)},
        request_state=state,
        allow_input_required=True,
    )


async def test_a_state_counts_for_its_call_alone() -> None:
    async with served("auto", elicitation=Person(), approvals="elicitation") as one:
        state = (await asked(one)).request_state or ""
        for forged in ({"id": "p2"}, {"tool": "send"}):
            with pytest.raises(MCPError, match="Invalid or expired requestState"):
                await answered(one, state, **forged)
        with pytest.raises(MCPError, match="Invalid or expired requestState"):
            await answered(one, state[:-4] + "AAAA")
        assert one.desk.log == []
        done = await answered(one, state)
        assert done.structured_content == "p1 is ash"
        again = await answered(one, state)
        assert again.structured_content == "p1 is ash"
    assert one.desk.log == ["burn p1"]


async def test_a_state_of_another_session_is_refused() -> None:
    session = ["s-mira"]
    options: dict[str, Any] = {"meta": lambda ctx: CallMeta(session_id=session[0])}
    async with served("auto", elicitation=Person(), approvals="elicitation", **options) as one:
        state = (await asked(one)).request_state or ""
        session[0] = "s-jonas"
        with pytest.raises(MCPError, match="belongs to another session"):
            await answered(one, state)
    assert one.desk.log == []


async def test_a_state_of_another_person_of_the_session_is_refused() -> None:
    person = ["ann"]
    options: dict[str, Any] = {"meta": lambda ctx: CallMeta(session_id=MIRA, requested_by=person[0])}
    async with served("auto", elicitation=Person(), approvals="elicitation", **options) as one:
        state = (await asked(one)).request_state or ""
        person[0] = "bob"
        with pytest.raises(MCPError, match="belongs to another caller"):
            await answered(one, state)
        assert one.desk.log == []
        person[0] = "ann"
        assert (await answered(one, state)).structured_content == "p1 is ash"


async def test_a_state_belongs_to_whose_token_it_was_and_to_its_era() -> None:
    facts = {one: CallMeta(session_id=MIRA, labels={"user": one}) for one in ("mira", "jonas")}
    desk = Desk()
    async with desk_runtime(desk) as runtime:
        made = server(runtime, approvals="elicitation")
        async with web(runtime, served=made, verify=facts.get) as client:
            state = (await client.post(URL, **_burn("mira"))).json()["result"]["requestState"]
            foreign = await client.post(URL, **_burn("jonas", state))
            opened = await client.post(URL, json=hello(), headers={"authorization": "Bearer mira"})
            older = _burn("mira", state)
            older["headers"] = {
                "authorization": "Bearer mira",
                "mcp-session-id": opened.headers["mcp-session-id"],
                "mcp-protocol-version": "2025-11-25",
            }
            of_older = await client.post(URL, **older)
            assert desk.log == []
            own = await client.post(URL, **_burn("mira", state))
    assert foreign.json()["error"]["message"] == "Invalid or expired requestState"
    assert "a requestState needs protocol version 2026-07-28" in of_older.text
    assert own.json()["result"]["structuredContent"] == "p1 is ash"
    assert desk.log == ["burn p1"]


def _burn(token: str, state: str = "") -> dict[str, Any]:
    """Return the request of a call that needs an approval, with one where there is a state."""
    call = modern_call("burn", id="p1")
    params = call["json"]["params"]
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = {"elicitation": {}}
    if state:
        yes = {"action": "accept", "content": {"approved": True}}
        params.update(requestState=state, inputResponses={"answer": yes})
    call["headers"]["authorization"] = f"Bearer {token}"
    return call


@pytest.mark.exhaustive
async def test_a_state_that_is_used_often_at_once_runs_its_call_once() -> None:
    async with served("auto", elicitation=Person(), approvals="elicitation") as one:
        state = (await asked(one)).request_state or ""
        results = await asyncio.gather(*(answered(one, state) for _ in range(20)))
    assert {result.structured_content for result in results} == {"p1 is ash"}
    assert one.desk.log == ["burn p1"]


async def test_a_state_without_an_answer_is_asked_again() -> None:
    async with served("auto", elicitation=Person(), approvals="elicitation") as one:
        state = (await asked(one)).request_state
        again = await one.client.session.call_tool(
            "burn", {"id": "p1"}, request_state=state, allow_input_required=True
        )
    assert isinstance(again, types.InputRequiredResult)


async def test_a_connection_is_asked_three_times_at_most() -> None:
    async with served("legacy", elicitation=Person(*[accept(floor=1)] * 3)) as one:
        document = json.loads(await one.text("send", id="p1"))
        [waiting] = await one.runtime.suspensions.list()
    assert (document["code"], document["id"]) == ("approval_unavailable", waiting.id)
    assert "$.city is required" in document["error"]


async def test_the_answers_of_a_state_are_counted_over_its_rounds() -> None:
    async with served("auto", elicitation=Person()) as one:
        result: Any = await asked(one, "send")
        for _ in range(3):
            assert isinstance(result, types.InputRequiredResult)
            result = await one.client.session.call_tool(
                "send",
                {"id": "p1"},
                input_responses={"answer": accept(floor=1)},
                request_state=result.request_state,
                allow_input_required=True,
            )
        [waiting] = await one.runtime.suspensions.list()
    assert json.loads(result.content[0].text)["id"] == waiting.id


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_tool_that_always_asks_ends(mode: str) -> None:
    times = 0

    async def again() -> str | Unfinished:
        """Ask again."""
        return ToolOutcome.ask("Again?")

    async def say(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        nonlocal times
        times += 1
        return accept(answer="yes")

    async with Runtime(engine=InProcessEngine()) as runtime:
        runtime.tools.register(function_toolset("desk.parcels", [again]))
        made = server(runtime, session_id=MIRA)
        async with Client(made.sdk, elicitation_callback=say, mode=mode) as client:
            ended = await client.call_tool("again", {})
    assert (ended.is_error, times) == (True, 10)


async def test_a_state_gives_no_server_the_approvals_of_another_one() -> None:
    """Two servers of one host share a secret; only one of them takes approvals from its clients."""
    secret = bytes(range(32))
    async with served("auto", elicitation=Person(), approvals="elicitation", secret=secret) as one:
        state = (await asked(one)).request_state or ""
        strict = server(one.runtime, session_id=MIRA, secret=secret)
        async with Client(InMemoryTransport(strict.sdk), elicitation_callback=Person()) as client:
            result = await client.session.call_tool(
                "burn",
                {"id": "p1"},
                input_responses={"answer": accept(approved=True)},
                request_state=state,
                allow_input_required=True,
            )
        assert isinstance(result, types.CallToolResult)
        assert result.is_error
    assert one.desk.log == []


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_choices_are_shown_with_their_titles(mode: str) -> None:
    one = {"type": "string", "oneOf": [{"const": "a", "title": "Air"}, {"const": "s", "title": "Sea"}]}
    several = {"type": "array", "items": {"type": "string", "enum": ["red", "blue"]}, "minItems": 1}
    old = {"type": "string", "enum": ["a", "s"], "enumNames": ["Air", "Sea"]}
    person = Person(accept(way="s", stamps=["red"]))

    async def send(ctx: ToolContext) -> str | Unfinished:
        """Send a parcel."""
        if ctx.answer is None:
            schema = {"type": "object", "properties": {"way": one, "stamps": several, "old": old}}
            return ToolOutcome.ask("How?", schema)
        return json.dumps(ctx.answer)

    async with Runtime(engine=InProcessEngine()) as runtime:
        runtime.tools.register(function_toolset("desk.parcels", [send]))
        made = server(runtime, session_id=MIRA)
        async with Client(made.sdk, elicitation_callback=person, mode=mode) as client:
            sent = await client.call_tool("send", {})
    [form] = person.asked
    assert form.requested_schema["properties"] == {"way": one, "stamps": several, "old": old}
    assert isinstance(sent.content[0], types.TextContent)
    assert json.loads(json.loads(sent.content[0].text)) == {"way": "s", "stamps": ["red"]}
