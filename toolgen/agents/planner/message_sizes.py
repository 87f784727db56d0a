"""Sizes of messages in tokens, and the part of a long conversation that a planner receives. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from pydantic_core import to_json

from toolgen.calls.steps.result_encoding import is_truncated
from toolgen.contract.tokens import BYTES_OF_TOKEN, estimated_tokens

from .messages import AssistantMessage, Message, ToolAnswer, ToolMessage

_FILE: Final = 1_500
"""Estimated tokens of an image, a sound or another file in a result."""
_LEAST: Final = 200
"""Minimum number of characters that remain of a truncated result."""


def tokens_of(message: Message) -> int:
    """Return the estimated number of tokens of a message."""
    if isinstance(message, ToolMessage):
        return sum(_tokens_of_answer(answer) for answer in message.answers)
    texts = [message.text]
    if isinstance(message, AssistantMessage):
        texts += [text for call in message.calls for text in (call.name, call.arguments)]
    elif message.content:
        return estimated_tokens(message.text) + sum(map(_tokens_of_block, message.content))
    return estimated_tokens("".join(texts))


def within_tokens(messages: Sequence[Message], most: int, reads: Collection[str] = ()) -> tuple[Message, ...]:
    """Return the messages with old results left out and large ones truncated, to fit into `most` tokens.

    Messages of people and of the model stay. If a batch of results exceeds `most`, older batches are left out
    until half of `most` is reached, so that the beginning stays the same for several plannings and the
    provider's prompt cache can match it. A batch that is larger than `most` by itself is truncated. For calls
    whose ID is in `reads`, the text tells the model where to read on.
    """
    sent = [
        _cut_batch(message, most, reads) if isinstance(message, ToolMessage) else message
        for message in messages
    ]
    total, oldest = 0, 0
    for place, message in enumerate(sent):
        total += tokens_of(message)
        if not isinstance(message, ToolMessage) or total <= most:
            continue
        while total > most // 2 and oldest < place:
            if isinstance(old := sent[oldest], ToolMessage):
                short = replace(old, answers=tuple([_left_out(answer, reads) for answer in old.answers]))
                total += tokens_of(short) - tokens_of(old)
                sent[oldest] = short
            oldest += 1
    return tuple(sent)


def _tokens_of_answer(answer: ToolAnswer) -> int:
    return estimated_tokens(answer.text + answer.reminder) + sum(map(_tokens_of_block, answer.content))


def _tokens_of_block(block: object) -> int:
    text = block.get("text") if isinstance(block, dict) else None
    return estimated_tokens(text) if isinstance(text, str) else _FILE


def is_marker(answer: ToolAnswer) -> bool:
    """Return whether a result is the marker of a result that was truncated by the byte limit."""
    return answer.status == "ok" and is_truncated(answer.text[:100].encode(errors="replace"))


def with_place(answer: ToolAnswer, start: int) -> ToolAnswer:
    """Return a result that is a JSON object, with the arguments to read more of it added."""
    place = to_json({"call": answer.id, "start": start}).decode()
    return replace(answer, text=f'{answer.text[:-1]},"read_on":{place}}}')


def _left_out(answer: ToolAnswer, reads: Collection[str]) -> ToolAnswer:
    """Return a result with its content left out; a short one stays, because its note would be as long."""
    if _tokens_of_answer(answer) <= _LEAST // BYTES_OF_TOKEN:
        return answer
    note, is_read = f"an earlier result of {len(answer.text)} characters", answer.id in reads
    if not is_read:
        note += "; call the tool again if you need it"
    short = replace(answer, text=to_json({"left_out": note}).decode(), content=(), reminder="")
    return with_place(short, 0) if is_read else short


def _cut_batch(message: ToolMessage, most: int, reads: Collection[str]) -> ToolMessage:
    """Return the results of a batch, each truncated to its share of the tokens."""
    if tokens_of(message) <= most:
        return message
    share = max(most * BYTES_OF_TOKEN // max(len(message.answers), 1), _LEAST)
    return replace(message, answers=tuple(_cut(answer, share, reads) for answer in message.answers))


def _cut(answer: ToolAnswer, characters: int, reads: Collection[str]) -> ToolAnswer:
    size = len(answer.text)
    if size <= characters:
        return answer
    document = {"beginning": answer.text[:characters], "cut": f"{characters} of {size} characters are shown"}
    cut = replace(answer, text=to_json(document).decode())
    if answer.id not in reads:
        return cut
    return with_place(cut, 0 if is_marker(answer) else characters)
