"""Sizes of messages in tokens, and what of a long conversation a planner is sent. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from pydantic_core import to_json

from toolgen.contract.tokens import BYTES_OF_TOKEN, estimated_tokens

from .messages import AssistantMessage, Message, ToolAnswer, ToolMessage

_FILE: Final = 1_500
"""Tokens of an image, a sound or another file beside a result."""
_LEAST: Final = 200
"""Characters of a result that stay where it is cut."""


def tokens_of(message: Message) -> int:
    """Return about how many tokens a message is."""
    if isinstance(message, ToolMessage):
        return sum(_tokens_of_answer(answer) for answer in message.answers)
    texts = [message.text]
    if isinstance(message, AssistantMessage):
        texts += [text for call in message.calls for text in (call.name, call.arguments)]
    return estimated_tokens("".join(texts))


def within_tokens(messages: Sequence[Message], most: int) -> tuple[Message, ...]:
    """Return the messages with their old results left out, and large ones cut, as `most` tokens want it.

    What a person and a model said stays. Where a batch of results makes it more than `most`, those before it
    are left out until half of that is there, so that the beginning stays the same for several plannings, and
    the cache of a provider finds it again. A batch that is larger alone is cut.
    """
    sent = [
        _cut_batch(message, most) if isinstance(message, ToolMessage) else message for message in messages
    ]
    total, oldest = 0, 0
    for place, message in enumerate(sent):
        total += tokens_of(message)
        if not isinstance(message, ToolMessage) or total <= most:
            continue
        while total > most // 2 and oldest < place:
            if isinstance(old := sent[oldest], ToolMessage):
                short = replace(old, answers=tuple(map(_left_out, old.answers)))
                total += tokens_of(short) - tokens_of(old)
                sent[oldest] = short
            oldest += 1
    return tuple(sent)


def _tokens_of_answer(answer: ToolAnswer) -> int:
    return estimated_tokens(answer.text + answer.reminder) + sum(map(_tokens_of_block, answer.content))


def _tokens_of_block(block: Any) -> int:
    text = block.get("text") if isinstance(block, dict) else None
    return estimated_tokens(text) if isinstance(text, str) else _FILE


def _left_out(answer: ToolAnswer) -> ToolAnswer:
    """Return a result without what it holds; a short one stays, for its note would be as long."""
    if _tokens_of_answer(answer) <= _LEAST // BYTES_OF_TOKEN:
        return answer
    note = f"an earlier result of {len(answer.text)} characters; call the tool again where you need it"
    return replace(answer, text=to_json({"left_out": note}).decode(), content=(), reminder="")


def _cut_batch(message: ToolMessage, most: int) -> ToolMessage:
    """Return the results of a batch, of which none has more than its share of the tokens."""
    if tokens_of(message) <= most:
        return message
    share = max(most * BYTES_OF_TOKEN // max(len(message.answers), 1), _LEAST)
    return replace(message, answers=tuple(_cut(answer, share) for answer in message.answers))


def _cut(answer: ToolAnswer, characters: int) -> ToolAnswer:
    size = len(answer.text)
    if size <= characters:
        return answer
    document = {"beginning": answer.text[:characters], "cut": f"{characters} of {size} characters are shown"}
    return replace(answer, text=to_json(document).decode())
