"""Redaction of texts: the sensitive values of running calls, and texts without them.

A text of somebody else, such as a traceback, may quote a value whatever its design says. So the values of a
call are known while it goes on, in the context of its task and its threads, and are looked for in all that
is logged or told of it. Codecs add those of the documents that they read and write.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from .printable import printable

HIDDEN: Final = "•••• (sensitive)"
"""What people see in the place of a sensitive value."""
_SHORTEST: Final = 3
"""Characters of a value that is looked for; shorter ones stand in every text."""
_WORD: Final = 6
"""Characters of a value that is looked for inside words too."""
_PIECE: Final = 12
"""Characters of a piece of a longer value that tells what it is of."""
_LONGEST: Final = 16_384
"""Characters of one value whose pieces are looked for."""

_current: ContextVar[Secrets | None] = ContextVar("toolgen_secrets", default=None)


class Secrets:
    """The sensitive values of one call, as they are written in JSON, in Python and in logs."""

    __slots__ = ("_blocks", "_lock", "_others", "_pattern", "_pieces", "_texts")

    def __init__(self, *others: Secrets) -> None:
        """Construct the values of a call within the running one, or those of the other calls of a batch."""
        around = _current.get()
        self._others = others if around is None else (around, *others)
        self._texts: set[str] = set()
        self._pieces: set[str] = set()
        self._pattern: re.Pattern[str] | None = None
        self._blocks = 0
        """Blocks of `hiding` that go on."""
        self._lock = threading.Lock()

    def add(self, values: Iterable[Any], names: Set[str] = frozenset()) -> None:
        """Add sensitive values; of arrays and objects all values in them, but no keys among the names."""
        forms = (text for value in values for text in _forms(value, names))
        texts = {text for text in forms if len(text) >= _SHORTEST}
        with self._lock:  # an executor in a thread has codecs, too
            if not (new := texts - self._texts):
                return
            for text in new:
                part = text[:_LONGEST]
                self._pieces.update(part[at : at + _PIECE] for at in range(len(part) - _PIECE + 1))
            self._texts |= new
            self._pattern = None

    @property
    def knows_any(self) -> bool:
        """Whether there is a value to redact."""
        return bool(self._texts) or any(other.knows_any for other in self._others)

    def scrubbed(self, text: str) -> str:
        """Return the text with `HIDDEN` in the place of each value, and of each longer piece of one."""
        for other in self._others:
            text = other.scrubbed(text)
        if not self._texts:
            return text
        with self._lock:
            if (pattern := self._pattern) is None:
                whole = sorted(self._texts, key=lambda text: (-len(text), text))
                pattern = self._pattern = re.compile("|".join(map(_searched, whole)))
        return self._without_pieces(pattern.sub(HIDDEN, text))

    def _without_pieces(self, text: str) -> str:
        pieces = self._pieces
        if not pieces or len(text) < _PIECE:
            return text
        parts, at, last = [], 0, 0
        while at <= len(text) - _PIECE:
            if text[at : at + _PIECE] not in pieces:
                at += 1
                continue
            parts.append(text[last:at])
            while at <= len(text) - _PIECE and text[at : at + _PIECE] in pieces:
                at += 1
            at = last = at + _PIECE - 1
            parts.append(HIDDEN)
        return "".join([*parts, text[last:]]) if parts else text


@contextmanager
def hiding(secrets: Secrets | None) -> Iterator[None]:
    """Redact these values from texts that are scrubbed inside the block; None changes nothing."""
    if secrets is None:
        yield
        return
    token = _current.set(secrets)
    secrets._blocks += 1
    try:
        yield
    finally:
        secrets._blocks -= 1
        _current.reset(token)


def noting() -> Secrets | None:
    """Return what takes the sensitive values of the running call; None where no block of it goes on.

    A task that a call has started and that goes on after it has none: it may live as long as its process.
    """
    secrets = _current.get()
    return secrets if secrets is not None and secrets._blocks else None


def current() -> Secrets | None:
    """Return the sensitive values of the running call; None where it has none."""
    secrets = _current.get()
    return secrets if secrets is not None and secrets.knows_any else None


def scrubbed(text: str) -> str:
    """Return the text without the sensitive values of the running call."""
    secrets = _current.get()
    return text if secrets is None else secrets.scrubbed(text)


def scrubbed_json(value: Any) -> Any:
    """Return a copy of a JSON value whose texts and keys are `scrubbed`."""
    match value:
        case _ if current() is None:
            return value
        case str():
            return scrubbed(value)
        case Mapping():
            return {scrubbed(str(key)): scrubbed_json(inner) for key, inner in value.items()}
        case list() | tuple():
            return type(value)(scrubbed_json(inner) for inner in value)
        case int() | float() if not isinstance(value, bool):
            return value if scrubbed(str(value)) == str(value) else HIDDEN
        case _:
            return value


def _forms(value: Any, names: Set[str]) -> Iterator[str]:
    """Yield the written forms of a value: as text, and in quotes of JSON, of Python and of a log."""
    match value:
        case None | bool():
            return
        case Mapping():
            for key, inner in value.items():
                yield from () if key in names else _forms(key, names)
                yield from _forms(inner, names)
        case list() | tuple() | set() | frozenset():
            for inner in value:
                yield from _forms(inner, names)
        case bytes():
            yield repr(value)[2:-1]
            yield value.hex()
        case str():
            yield value
            yield from value.splitlines()
            for once in _quoted(value):
                yield once
                yield from _quoted(once)
        case _:
            yield str(value)
            yield repr(value)


def _quoted(text: str) -> Iterator[str]:
    """Yield how a text is escaped; Python escapes an apostrophe by what else stands between the quotes."""
    bare = repr(text.replace("'", ""))[1:-1] if "'" not in text else repr(text + '"')[1:-2]
    yield json.dumps(text)[1:-1]
    yield json.dumps(text, ensure_ascii=False)[1:-1]
    yield bare
    yield bare.replace("\\'", "'")
    yield printable(text)


def _searched(text: str) -> str:
    """Return the pattern that finds a value; a short value is found as a whole word only."""
    return re.escape(text) if len(text) >= _WORD else rf"(?<!\w){re.escape(text)}(?!\w)"
