"""Messages as text: every one comes back as it was, and nothing else is taken for one."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest

from tests.runtime.session_stores import ODD, turn
from tests.work import work_of
from toolgen.agents import AssistantMessage, Message, PlannedCall, ToolAnswer, ToolMessage, UserMessage
from toolgen.agents.sessions.memory import MemorySessionStore
from toolgen.agents.sessions.rows import ReadMessages, messages_as_text, messages_from_text

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
        ("{}", "the text is not a list of messages"),
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
    ],
    ids=["text", "call", "answer"],
)
def test_nobody_changes_a_message(message: Message, change: Callable[[Any], object]) -> None:
    with pytest.raises(FrozenInstanceError):
        change(message)
    with pytest.raises(FrozenInstanceError):
        change(ReadMessages().of(messages_as_text([message]))[0])


@pytest.mark.parametrize(
    ("message", "change"),
    [
        (AssistantMessage(native={"parts": []}), lambda own: own.native["parts"].append("other")),
        (
            ToolMessage(answers=(ToolAnswer(id="c", name="n", status="ok", text="", content=({"a": 1},)),)),
            lambda own: own.answers[0].content[0].update(a="other"),
        ),
    ],
    ids=["words of a provider", "content of a peer"],
)
def test_who_reads_a_text_again_sees_nothing_of_what_another_reader_did(
    message: Message, change: Callable[[Any], object]
) -> None:
    read, text = ReadMessages(), messages_as_text([message])
    readings: tuple[Callable[[], tuple[Message, ...]], ...] = (
        lambda: read.of(text),
        lambda: read.of_run("r", [(0, text)], (), ()),
    )
    for again in readings:
        (own,) = again()
        change(own)
        assert own != message
        assert again() == (message,)


async def parsings(most: int, *texts: str | None) -> int:
    """Return how often texts are parsed that are read in this order; None forgets all."""

    async def read() -> None:
        messages = ReadMessages(most)
        for text in texts:
            if text is None:
                messages.forget()
            else:
                messages.of(text)

    return (await work_of(read)).codings


async def test_a_text_that_was_read_lately_is_not_parsed_again() -> None:
    text = messages_as_text([ToolMessage(answers=(ANSWER,))])
    assert await parsings(1_000, text, text, text) == 1
    assert await parsings(1_000, text, text, None, text, text) == 2


async def test_a_run_that_was_read_lately_is_neither_parsed_nor_joined_again() -> None:
    read = ReadMessages()
    asked, batch = UserMessage(text="which?"), AssistantMessage(calls=(CALL,))
    steps = [(0, messages_as_text([asked])), (1, messages_as_text([batch]))]
    answers = [("c-1", messages_as_text([ToolMessage(answers=(ANSWER,))]))]
    said = [("m", messages_as_text([UserMessage(text="the second")]))]
    whole = read.of_run("r", steps, answers, said)
    assert whole == (asked, batch, ToolMessage(answers=(ANSWER,)), UserMessage(text="the second"))
    assert read.of_run("r", steps, answers, said) is whole
    assert read.of_run("r", steps, (), ()) == (asked, batch)
    resolved = replace(ANSWER, text='"on"', resolved_by="ann")
    answers = [("c-1", messages_as_text([ToolMessage(answers=(resolved,))]))]
    assert read.of_run("r", steps, answers, said)[2] == ToolMessage(answers=(resolved,))


async def test_the_memory_of_texts_has_a_bound_and_the_oldest_goes_first() -> None:
    first, second, third = (messages_as_text([UserMessage(text=letter * 1_000)]) for letter in "abc")
    most = 2 * len(first)
    assert await parsings(most, first, second, first, third, first, third) == 3
    assert await parsings(most, first, second, first, third, second) == 4
    long = messages_as_text([UserMessage(text="x" * 10_000)])
    assert await parsings(10 * len(long), long, long) == 2
    read = ReadMessages(most=200_000)
    for number in range(100):
        for _ in range(2):
            read.of_run(
                f"r{number}", [(0, messages_as_text([UserMessage(text=f"{number}" * 2_000)]))], (), ()
            )
        assert (f"r{number}",) in read._messages
    assert read._size == sum(size for _, _, size in read._messages.values()) <= read._most
    steps = [(0, messages_as_text([UserMessage(text="the only one")]))]
    for number in range(9):
        read.of_run("r", steps * number, (), ())
    assert read._messages[("r",)][0] == ((steps[0][1],) * 8, (), ())  # the newest alone is remembered


def test_threads_that_read_the_same_texts_leave_no_more_than_the_bound() -> None:
    texts = [messages_as_text([UserMessage(text=f"{number}" * 100)]) for number in range(50)]
    read = ReadMessages(most=10 * len(texts[10]))
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda number: read.of(texts[number % 50]), range(4_000)))
    assert found == [messages_from_text(texts[number % 50]) for number in range(4_000)]
    assert read._size == sum(len(str(text)) for text in read._messages) <= read._most


async def test_a_store_that_erases_messages_remembers_none() -> None:
    store = MemorySessionStore()
    await store.create("s", "agent")
    await store.begin(turn("r1"))
    for erase in (lambda: store.drop("s"), lambda: store.forget_runs(["r1"]), lambda: store.forget(0.0)):
        await store.write("r1", 0, [UserMessage(text="what nobody may know")])
        assert await store.run_messages("r1")
        assert "what nobody may know" in str(vars(store._read))
        await erase()
        assert "what nobody may know" not in str(vars(store._read))
