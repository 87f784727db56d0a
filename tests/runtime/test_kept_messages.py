"""Messages as text: every one comes back as it was, and nothing else is taken for one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.runtime.session_stores import ODD
from toolgen.agents import AssistantMessage, Message, PlannedCall, ToolAnswer, ToolMessage, UserMessage
from toolgen.agents.sessions import kept_rows
from toolgen.agents.sessions.kept_rows import messages_as_text, messages_from_text

CALL = PlannedCall(name="list_devices", id="c-1")
ANSWER = ToolAnswer(id="c-1", name="list_devices", status="ok", text="{}")


def test_the_text_of_messages_is_ascii_and_keeps_the_order_of_keys() -> None:
    text = messages_as_text(ODD)
    assert text.isascii()
    assert messages_as_text(messages_from_text(text)) == text
    swapped = AssistantMessage(native={"b": 1, "a": 2})
    assert '{"b":1,"a":2}' in messages_as_text([swapped])


def test_two_halves_side_by_side_are_the_character_that_they_mean() -> None:
    (back,) = messages_from_text(messages_as_text([UserMessage(text="\ud83c\udfe0")]))
    assert back == UserMessage(text="🏠")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "Expecting value"),
        ("{}", "the text is no list of messages"),
        ("[1]", "valid dictionary"),
        ('[{"type":"other"}]', "tag 'other' found"),
        ('[{"type":"user"}]', "required"),
    ],
)
def test_a_text_of_something_else_is_no_message(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        messages_from_text(text)


@pytest.mark.parametrize(
    ("message", "change"),
    [
        (UserMessage(text="which?"), lambda own: setattr(own, "text", "other")),
        (AssistantMessage(calls=(CALL,)), lambda own: setattr(own.calls[0], "arguments", "other")),
        (ToolMessage(answers=(ANSWER,)), lambda own: setattr(own.answers[0], "text", "other")),
        (AssistantMessage(native={"parts": []}), lambda own: own.native["parts"].append("other")),
        (
            ToolMessage(answers=(ToolAnswer(id="c", name="n", status="ok", text="", content=({"a": 1},)),)),
            lambda own: own.answers[0].content[0].update(a="other"),
        ),
    ],
    ids=["text", "call", "answer", "words of a provider", "content of a peer"],
)
def test_who_reads_a_text_again_sees_nothing_of_what_another_reader_did(
    message: Message, change: Callable[[Any], object]
) -> None:
    text = messages_as_text([message])
    (own,) = messages_from_text(text)
    change(own)
    assert messages_from_text(text) == (message,)


def test_what_was_read_lately_is_not_parsed_again_but_for_long_texts() -> None:
    short, long = (messages_as_text([UserMessage(text=text)]) for text in ("read twice", "x" * 10_000))
    messages_from_text(short)
    before = kept_rows._copyable.cache_info()
    messages_from_text(short)
    messages_from_text(long)
    after = kept_rows._copyable.cache_info()
    assert (after.hits - before.hits, after.misses - before.misses) == (1, 0)
    assert after.maxsize is not None
