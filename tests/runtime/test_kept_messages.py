"""Messages as text: every one comes back as it was, and nothing else is taken for one."""

from __future__ import annotations

import pytest

from tests.runtime.session_stores import ODD
from toolgen.agents import AssistantMessage, UserMessage
from toolgen.agents.sessions.kept_rows import messages_as_text, messages_from_text


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
