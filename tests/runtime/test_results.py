"""What stands beside a result: content, texts for people, the end of a turn, and its size."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from tests.runtime.tools import META, SITE, Listing, lists_much, nothing, runtime, spec, waiting
from toolgen.calls.content import Content
from toolgen.engines import InProcessEngine
from toolgen.events.hub import Events
from toolgen.runtime import (
    Continue,
    Hook,
    ImageContent,
    Key,
    Limits,
    ResourceContent,
    RetryHint,
    TextContent,
    ToolCall,
    ToolError,
    ToolOutcome,
    Values,
)

TOOL = "assistant.devices.list_devices"
PNG = b"\x89PNG\r\n"


async def test_an_outcome_carries_content_and_text_for_people() -> None:
    async def drawn(payload: Any, ctx: Any) -> Any:
        image = ImageContent(data=PNG, media_type="image/png")
        return ToolOutcome.of(nothing(), content=[image], display="No devices at **s1**.")

    result = await runtime(Listing(drawn), spec(result_hint="{returned} devices")).call(TOOL, SITE, META)
    assert result.display == "No devices at **s1**."
    assert [block.as_json() for block in result.content] == [
        {"type": "image", "data": "iVBORw0K", "mimeType": "image/png"}
    ]
    assert b"image" not in result.json


async def test_texts_with_lone_surrogates_are_told_with_question_marks() -> None:
    """A name of a file that is no UTF-8 has them (PEP 383); the tool has done its work all the same."""
    name = os.fsdecode(b"caf\xe9")

    async def reads(payload: Any, ctx: Any) -> Any:
        ctx.progress(0.5, name)
        ctx.stream(name)
        content: list[Content] = [TextContent(text=name), ResourceContent(uri="file:x", name=name)]
        return ToolOutcome.of(nothing(), content=content, display=name)

    events = Events()
    async with events.subscribe(types=["tool_update", "tool_output_delta", "tool_end"]) as told:
        result = await runtime(Listing(reads), events=events).call(TOOL, SITE, META)
        seen: list[Any] = [await anext(told) for _ in range(3)]
    assert (result.status, result.display) == ("ok", "caf?")
    assert [block.as_json().get("text") or block.as_json()["name"] for block in result.content] == [
        "caf?"
    ] * 2
    assert [
        getattr(event, "message", "") or getattr(event, "display", "") or event.text for event in seen
    ] == ["caf?"] * 3


@pytest.mark.parametrize(
    "beside",
    [
        {"display": b"No devices"},
        {"content": ["no block"]},
        {"content": [TextContent(text=5)]},  # type: ignore[arg-type]
        {"content": [ImageContent(data="x", media_type="image/png")]},  # type: ignore[arg-type]
    ],
)
async def test_what_stands_beside_a_result_is_what_it_says(beside: dict[str, Any]) -> None:
    async def listed(payload: Any, ctx: Any) -> Any:
        return ToolOutcome.of(nothing(), **beside)

    result = await runtime(Listing(listed)).call(TOOL, SITE, META)
    assert result.retry_hint is not None
    assert (result.status, result.retry_hint.reason) == ("error", "malformed_response")


@pytest.mark.parametrize(
    "hint",
    [
        {},
        "later",
        RetryHint(reason="rate_limited", tool=TOOL, retry_after="soon"),  # type: ignore[arg-type]
        RetryHint(reason="busy", tool=TOOL),  # type: ignore[arg-type]
        RetryHint(reason="rate_limited", tool=TOOL, missing_fields=(5,)),  # type: ignore[arg-type]
    ],
)
async def test_a_retry_hint_that_is_none_is_left_out(hint: Any, caplog: pytest.LogCaptureFixture) -> None:
    async def refuses(payload: Any, ctx: Any) -> Any:
        raise ToolError("not now", retry_hint=hint)

    result = await runtime(Listing(refuses)).call(TOOL, SITE, META)
    assert (result.json, result.retry_hint) == (b'{"error":"not now"}', None)
    assert "has a value of the wrong type; the hint is ignored" in caplog.text


async def test_a_retry_hint_holds_no_lone_surrogates() -> None:
    async def refuses(payload: Any, ctx: Any) -> Any:
        raise ToolError(
            "not now", retry_hint=RetryHint(reason="rate_limited", tool=TOOL, message="caf\udce9")
        )

    result = await runtime(Listing(refuses)).call(TOOL, SITE, META)
    assert result.retry_hint == RetryHint(reason="rate_limited", tool=TOOL, message="caf?")


async def test_a_question_with_a_lone_surrogate_is_asked() -> None:
    async def asks(payload: Any, ctx: Any) -> Any:
        return ToolOutcome.ask("Delete \udce9?")

    host = runtime(Listing(asks), engine=InProcessEngine())
    assert waiting(await host.call(TOOL, SITE, META)).question == "Delete ??"


async def test_the_designs_texts_are_filled() -> None:
    made = spec(result_hint="{returned} devices {{all}} {absent}", reminder="Name the site.")
    result = await runtime(Listing(), made).call(TOOL, SITE, META)
    assert result.display == "0 devices {all} "
    assert result.content == (TextContent(text="Name the site."),)


@pytest.mark.parametrize("facts", [{"is_terminal": True}, {}])
async def test_a_result_may_end_the_turn(facts: dict[str, Any]) -> None:
    async def last(payload: Any, ctx: Any) -> Any:
        return nothing() if facts else ToolOutcome.final(nothing())

    assert (await runtime(Listing(last), spec(**facts)).call(TOOL, SITE, META)).is_final


async def test_a_result_above_the_limit_says_so() -> None:
    """The model sees that something is missing and by whose doing; the program has all of it."""
    result = await runtime(Listing(lists_much), limits=Limits(result_bytes=120)).call(TOOL, SITE, META)
    assert len(result.json) <= 120
    told = json.loads(result.json)
    assert told["bytes"] == 246
    assert told["shown"] == len(told["beginning"]) > 20
    assert told["beginning"].startswith('{"devices":[],"retur')
    assert "toolgen" in told["truncated_by"]
    assert result.result.returned == 0


async def test_a_tool_has_a_limit_of_its_own() -> None:
    made = runtime(Listing(lists_much), spec(max_result_bytes=1000), limits=Limits(result_bytes=100))
    assert json.loads((await made.call(TOOL, SITE, META)).json)["returned"] == 0


async def test_a_tool_may_hand_the_conversation_over() -> None:
    async def hands_over(payload: Any, ctx: Any) -> Any:
        ctx.actions.transfer("billing")
        return nothing()

    result = await runtime(Listing(hands_over)).call(TOOL, SITE, META)
    assert result.actions is not None
    assert (result.actions.transfer_to, result.actions.is_escalated) == ("billing", False)


async def test_hooks_and_tools_of_a_turn_share_values() -> None:
    seen = Key[int]("seen")

    class Counting(Hook):
        async def before_tool(self, call: ToolCall, payload: Any, ctx: Any) -> Any:
            ctx.values[seen] = ctx.values.get(seen, 0) + 1
            return Continue()

    async def reads(payload: Any, ctx: Any) -> Any:
        counted.append(ctx.values[seen])
        return nothing()

    counted: list[int] = []
    values = Values()
    made = runtime(Listing(reads), hooks=[Counting()])
    for _ in range(2):
        await made.call(TOOL, SITE, META, values=values)
    await made.call(TOOL, SITE, META)
    assert counted == [1, 2, 1]


def test_a_link_leaves_out_what_is_not_known() -> None:
    link = ResourceContent(uri="artifact:session/s/n?version=1", name="n")
    assert link.as_json() == {"type": "resource_link", "uri": link.uri, "name": "n"}
