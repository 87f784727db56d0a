"""Signals and answers that reached a run, and the waits of its loop that consume them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from toolgen.contract.json_value import Json

from ..context import answer_name
from ..statuses import Signal
from .documents import SentAnswer, SentSignal

_ANSWER: Final = answer_name("")


@dataclass(slots=True, eq=False)
class InboxWait:
    """An open wait; its future receives the signal, or None when it times out."""

    names: tuple[str, ...]
    about: Json
    """Subject of the wait; None if it has none."""
    taken: asyncio.Future[Signal | None] = field(default_factory=asyncio.Future)

    def end(self, signal: Signal | None) -> bool:
        """End the wait, and return whether it was open."""
        if is_open := not self.taken.done():
            self.taken.set_result(signal)
        return is_open


class Inbox:
    """Signals and answers of one run, in the order in which they arrived."""

    def __init__(self) -> None:
        self.is_closed = False
        """Whether the run is over; then its loop consumes no more signals."""
        self.answers: dict[str, SentAnswer] = {}
        """First answer to each operation."""
        self.over: set[str] = set()
        """Operations whose wait has ended."""
        self.taken: set[str] = set()
        """Operations whose wait has ended with an answer."""
        self._waits: dict[str, InboxWait] = {}
        self._signals: list[Signal] = []
        self._seen: set[str] = set()

    def add_signal(self, sent: SentSignal) -> None:
        """Store a signal, and pass it to the oldest wait for it; drop a second signal with the same id."""
        if sent["id"] not in self._seen:
            self._seen.add(sent["id"])
            self._add(Signal(name=sent["name"], payload=sent["payload"]))

    def add_answer(self, sent: SentAnswer) -> None:
        """Store an answer unless the wait has one or is over, and pass it to the wait."""
        op = sent["op"]
        if op not in self.answers and op not in self.over:
            self.answers[op] = sent
            self._add(Signal(name=answer_name(op), payload=sent["payload"]))

    @property
    def open(self) -> Mapping[str, Json]:
        """Subjects of the open waits that have one, by operation."""
        return {op: wait.about for op, wait in self._waits.items() if wait.about is not None}

    def is_open(self, op: str) -> bool:
        """Return whether the loop currently waits under this key."""
        return op in self._waits

    def take(self, names: tuple[str, ...]) -> Signal | None:
        """Remove and return the oldest signal with one of these names; None if there is none."""
        for index, signal in enumerate(self._signals):
            if signal.name in names:
                return self._signals.pop(index)
        return None

    def begin(self, op: str, names: tuple[str, ...], about: Json = None) -> InboxWait:
        """Open a wait."""
        wait = self._waits[op] = InboxWait(names, about)
        return wait

    def end(self, op: str, signal: Signal | None) -> str | None:
        """Close a wait; return the key of its answer if an answer ended it."""
        self._waits.pop(op, None)
        self.over.add(op)
        if signal is None or not signal.name.startswith(_ANSWER):
            return None
        answered = signal.name.removeprefix(_ANSWER)
        self.taken.add(answered)
        return self.answers[answered]["key"] if answered in self.answers else None

    def _add(self, signal: Signal) -> None:
        for wait in self._waits.values():
            if signal.name in wait.names and wait.end(signal):
                return
        self._signals.append(signal)
