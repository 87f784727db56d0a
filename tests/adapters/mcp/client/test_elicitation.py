"""Questions of servers while a call is open (MCP through 2025-11-25): a callback of the host answers them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

import pytest

from tests.adapters.mcp.client.conftest import bare, served
from tests.selection import first
from toolgen.adapters.mcp import Elicitation
from toolgen.adapters.mcp.client import forms
from toolgen.adapters.mcp.client.errors import cleaned
from toolgen.adapters.mcp.client.forms import UnaskableError, question_of
from toolgen.runtime import CallMeta

TITLED = [{"const": "a", "title": "Air"}, {"const": "s", "title": "Sea"}]
FORM: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Na\u200bme", "x-widget": "text"},
        "way": {"type": "string", "oneOf": TITLED, "default": "s"},
        "old": {"type": "string", "enum": ["a", "b"], "enumNames": ["Ay", "Bee"]},
        "several": {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}, "minItems": 1},
        "titled": {"type": "array", "items": {"anyOf": TITLED}, "default": ["a"]},
    },
    "required": ["name"],
}
PAGE = {"mode": "url", "url": "https://example.com/sign-in", "elicitationId": "e-1"}


class Host:
    """Keeps what is asked, and gives one answer."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked: list[Elicitation] = []

    async def __call__(self, asked: Elicitation) -> Mapping[str, Any] | None:
        self.asked.append(asked)
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer  # type: ignore[no-any-return]  # whatever a test wants


async def told(host: Host, **arguments: Any) -> str:
    """Return what a server was answered to a question that it asks so."""
    async with served(bare("good", on_elicitation=host)) as (_, snapshot):
        result = await snapshot.call("ask", arguments, CallMeta(session_id="s-1"))
        return str(result.result)


async def test_titled_and_multiple_choices_are_asked_and_answered_with_defaults() -> None:
    """SEP-1330 and SEP-1034 of MCP, in 2025-11-25."""
    host = Host({"name": "Jo", "several": ["y"], "old": None})
    answer = await told(host, message="Which\u200b way?", requestedSchema=FORM)
    assert answer == 'accept {"way": "s", "titled": ["a"], "name": "Jo", "several": ["y"]}'
    (asked,) = host.asked
    assert (asked.server, asked.message, asked.url) == ("bare", "Which\\u200b way?", "")
    assert asked.meta is not None
    assert asked.meta.session_id == "s-1"
    properties = {**FORM["properties"], "name": {"type": "string", "title": "Na\\u200bme"}}
    assert asked.schema == {"type": "object", "properties": properties, "required": ["name"]}


async def test_a_page_is_opened_by_its_address() -> None:
    host = Host({})
    assert await told(host, message="Sign in", **PAGE) == "accept"
    assert host.asked[0].url == PAGE["url"]


@pytest.mark.exhaustive
async def test_nobody_is_asked_what_no_form_has(caplog: pytest.LogCaptureFixture) -> None:
    host = Host({})
    nested = {"type": "object", "properties": {"a": {"type": "object", "properties": {}}}}
    hidden = {"type": "object", "properties": {"a": {"type": "string", "enum": ["x\u202e"]}}}
    many = {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(101)}}
    for refused in ({"requestedSchema": schema} for schema in (nested, hidden, many)):
        assert await told(host, **refused) == "decline"
    assert await told(host, **{**PAGE, "url": "javascript:alert(1)"}) == "decline"
    assert host.asked == []
    assert "declined: it asks for 101 values at once; 100 are allowed" in caplog.text


@pytest.mark.exhaustive
async def test_nobody_is_asked_by_a_form_that_takes_long_to_read(caplog: pytest.LogCaptureFixture) -> None:
    host = Host({})
    fields = {f"p{n}": {"type": "string", "description": "a" * 30_000} for n in range(100)}
    assert await told(host, requestedSchema={"type": "object", "properties": fields}) == "decline"
    fields = {f"p{n}": {"type": "string", "description": "a" * 2_000} for n in range(100)}
    assert await told(host, requestedSchema={"type": "object", "properties": fields}) == "decline"
    assert host.asked == []
    assert "declined: it has more than 262144 bytes" in caplog.text
    assert "declined: it has a form of more than 131072 characters" in caplog.text


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("answer", "action", "logged"),
    first(
        [
            (None, "decline", ""),
            ({"several": []}, "cancel", "$.name is required"),
            ({"name": "Jo", "way": "x"}, "cancel", "$.way must be one of"),
            (RuntimeError("no"), "cancel", "cannot be answered"),
        ],
        2,
    ),
)
async def test_what_is_no_answer_is_none(
    answer: Any, action: str, logged: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert await told(Host(answer), requestedSchema=FORM) == action
    assert logged in caplog.text


async def test_a_question_ends_with_the_call_that_it_came_in(caplog: pytest.LogCaptureFixture) -> None:
    has_begun, was_cancelled = asyncio.Event(), asyncio.Event()

    async def waits(asked: Elicitation) -> None:
        has_begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            was_cancelled.set()

    caplog.set_level(logging.WARNING)
    async with served(bare("good", on_elicitation=waits)) as (_, snapshot):
        call = asyncio.ensure_future(snapshot.call("ask", {}))
        await has_begun.wait()
        call.cancel()
        await was_cancelled.wait()
        with pytest.raises(asyncio.CancelledError):
            await call


def form(**rules: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": {"type": "string", **rules}}}


@pytest.mark.parametrize("pattern", ["(a{1,1000}){1,100}", "^(a|a)*(?=b)$"])
def test_a_pattern_that_takes_long_is_left_to_the_server(pattern: str) -> None:
    assert question_of("?", form(pattern=pattern)).schema == form()
    assert question_of("?", form(pattern="^a$")).schema == form(pattern="^a$")


@pytest.mark.parametrize(
    "rules",
    [
        {"pattern": "a" * 1_001},
        {"pattern": "a\u202eb"},
        {"format": "a\u202eb"},
        {"default": {"a": "\u202e"}},
    ],
    ids=["long", "pattern", "format", "default"],
)
def test_no_rule_of_a_field_hides_anything_or_is_too_long(rules: dict[str, Any]) -> None:
    with pytest.raises(UnaskableError):
        question_of("?", form(**rules))


def test_no_required_name_hides_anything() -> None:
    with pytest.raises(UnaskableError):
        question_of("?", {**form(), "required": ["a\u202e"]})


def of_choices(number: int, each: int) -> dict[str, Any]:
    choices = [{"const": "x" * each, "title": "y" * each} for _ in range(number)]
    return {"type": "string", "oneOf": choices}


@pytest.mark.parametrize(
    ("fields", "why", "most"),
    [
        ({"a": of_choices(1_000, 50)}, "", 4_000),
        ({"a": of_choices(300, 200), "b": of_choices(300, 200)}, "131072 characters", 0),
        ({f"p{n}": of_choices(60, 900) for n in range(100)}, "131072 characters", 0),
        ({"a": {"type": "string", "enum": ["x" * 700] * 18_000}}, "10000 keys and values", 0),
        ({"a": {"type": "string", "default": ["x"] * 18_000}}, "10000 keys and values", 0),
        ({"a" * 131_073: {"type": "string"}}, "131072 characters", 0),
    ],
)
def test_a_form_is_counted_before_it_is_read(
    fields: dict[str, Any], why: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []

    def counted(text: str, longest: int) -> str:
        looks.append(text)
        return cleaned(text, longest)

    monkeypatch.setattr(forms, "cleaned", counted)
    form = {"type": "object", "properties": fields}
    if why:
        with pytest.raises(UnaskableError, match=f"a form of more than {why}"):
            question_of("?", form)
    else:
        question_of("?", form)
    assert len(looks) <= most


def test_an_address_of_many_characters_is_none() -> None:
    forms.page_of("?", "https://a.example/" + "a" * 8_000)
    with pytest.raises(UnaskableError):
        forms.page_of("?", "https://a.example/" + "a" * 8_192)
