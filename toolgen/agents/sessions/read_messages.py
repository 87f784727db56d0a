"""The messages that a store has read lately: each turn reads the whole conversation before it."""

from __future__ import annotations

import threading
from typing import Final

from ..planner.messages import Message, copied, is_copyable
from .message_texts import messages_from_text

MOST_CHARACTERS: Final = 8_000_000
"""All texts together whose messages one store remembers; they take some 20 MB."""
LONGEST: Final = 8_192
"""Characters of such a text."""


class ReadMessages:
    """Messages by their texts; who reads a text again gets copies, and it is not parsed again."""

    def __init__(self, most: int = MOST_CHARACTERS) -> None:
        """Construct without messages, for texts of so many characters together."""
        self._most = most
        self._size = 0
        self._messages: dict[str, tuple[Message, ...]] = {}
        """Messages by text; the one that was read last is at the end."""
        self._lock = threading.Lock()

    def of(self, text: str) -> tuple[Message, ...]:
        """Return the messages of a text; they, their calls and their answers are the caller's own.

        Raises:
            ValueError: something in it is no message.
        """
        with self._lock:
            messages = self._messages.pop(text, None)
            if messages is not None:
                self._messages[text] = messages
        if messages is None:
            messages = messages_from_text(text)
            if len(text) > LONGEST or not all(map(is_copyable, messages)):
                return messages
            self._remember(text, messages)
        return tuple([copied(message) for message in messages])

    def forget(self) -> None:
        """Forget all messages: some of them are erased."""
        with self._lock:
            self._messages.clear()
            self._size = 0

    def _remember(self, text: str, messages: tuple[Message, ...]) -> None:
        with self._lock:
            if text not in self._messages:
                self._messages[text] = messages
                self._size += len(text)
            while self._size > self._most:
                oldest = next(iter(self._messages))
                del self._messages[oldest]
                self._size -= len(oldest)
