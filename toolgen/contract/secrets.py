"""Redaction of texts: the sensitive values of running calls, and texts without them.

A third-party text, for example a traceback, can quote a sensitive value. So the values of a call are recorded
while it runs, in the context of its task and its threads, and redacted in everything that is logged or
reported about it. Codecs add the values of the documents that they decode and encode. The time of a search
depends only on the length of its text, and a text that is not searched is hidden.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from .printable import printable, visible

HIDDEN: Final = "•••• (sensitive)"
"""Text that replaces a sensitive value for people."""
_SHORTEST: Final = 3
"""Minimum length of a value to search for; shorter values occur in every text."""
_WORD: Final = 6
"""Minimum length of a value to search for inside words too."""
_PIECE: Final = 12
"""Length of a piece of a longer value that reveals the value."""
_LONGEST: Final = 16_384
"""Length up to which every piece of a value is searched for.

Beyond it, only every twelfth position starts a piece, so that 23 characters in a row reveal the value.
"""
_MOST_KNOWN: Final = 100_000
"""Maximum total length of a call's values to search for; beyond it, all texts are hidden."""
_MOST_PIECES: Final = 100_000
"""Maximum number of pieces of their forms; beyond it, all texts are hidden."""
_MOST_SEARCHED: Final = 1_000_000
"""Maximum length of a text to search; a longer text is hidden."""
_PLAIN: Final = frozenset("'\"\\")
"""A printable ASCII text without these characters is unchanged in JSON, in Python and in a log."""

_current: ContextVar[Secrets | None] = ContextVar("toolgen_secrets", default=None)


class Secrets:
    """The sensitive values of one call, in the notations of JSON, Python and logs."""

    __slots__ = ("_blocks", "_heads", "_lock", "_others", "_pieces", "_size", "_values", "_words")

    def __init__(self, *others: Secrets) -> None:
        """Construct the values of a call within the running call, or of the other calls of a batch."""
        around = _current.get()
        self._others = others if around is None else (around, *others)
        self._values: set[str] = set()
        """The values as received."""
        self._size = 0
        """Total length of the values."""
        self._words: set[str] = set()
        """Texts that are shorter than a piece."""
        self._heads: dict[str, tuple[int, ...]] = {}
        """Lengths of these texts by their first characters, longest first."""
        self._pieces: set[str] = set()
        self._blocks = 0
        """Number of active `hiding` blocks."""
        self._lock = threading.Lock()

    def add(self, values: Iterable[Any], names: Set[str] = frozenset()) -> None:
        """Add sensitive values; for arrays and objects, all values in them and all keys not in `names`."""
        texts = {text for value in values for text in _texts(value, names) if len(text) >= _SHORTEST}
        with self._lock:  # an executor in a thread uses codecs, too
            new = texts - self._values
            self._size += sum(map(len, new))
            self._values |= new
            if self._size > _MOST_KNOWN:
                return
            for text in new:
                for form in dict.fromkeys(_forms(text)):
                    self._look_for(form)

    def _look_for(self, form: str) -> None:
        if len(self._pieces) > _MOST_PIECES:
            self._size = _MOST_KNOWN + 1
        elif len(form) >= _PIECE:
            self._pieces.update(_pieces(form))
        elif len(form) >= _SHORTEST and form not in self._words:
            self._words.add(form)
            lengths = {len(form), *self._heads.get(form[:_SHORTEST], ())}
            self._heads[form[:_SHORTEST]] = tuple(sorted(lengths, reverse=True))

    @property
    def knows_any(self) -> bool:
        """Whether there is a value to redact."""
        return bool(self._values) or any(other.knows_any for other in self._others)

    @property
    def term_count(self) -> int:
        """Number of words and pieces to search for."""
        return len(self._words) + len(self._pieces)

    def scrubbed(self, text: str) -> str:
        """Return the text with each value, and each longer piece of a value, replaced with `HIDDEN`."""
        for other in self._others:
            text = other.scrubbed(text)
        if not self._values or len(text) < _SHORTEST:
            return text
        if self._size > _MOST_KNOWN or len(text) > _MOST_SEARCHED:
            return HIDDEN
        pieces, heads = self._pieces, self._heads
        starts = [at for at in range(len(text) - _PIECE + 1) if text[at : at + _PIECE] in pieces]
        if heads:
            ends = range(len(text) - _SHORTEST + 1)
            starts = sorted({*starts, *(at for at in ends if text[at : at + _SHORTEST] in heads)})
        parts, last = [], 0
        for at in starts:
            if at >= last and (end := self._end_of(text, at)):
                parts += [text[last:at], HIDDEN]
                last = end
        return "".join([*parts, text[last:]]) if parts else text

    def _end_of(self, text: str, start: int) -> int:
        """Return the end of the value, or piece of a value, that begins at `start` in the text; 0 if none."""
        end = start + _PIECE
        if text[start:end] not in self._pieces:
            for length in self._heads.get(text[start : start + _SHORTEST], ()):
                end = start + length
                if text[start:end] in self._words and (length >= _WORD or _is_word(text, start, end)):
                    return end
            return 0
        more = 1
        while more:
            while text[end + 1 - _PIECE : end + 1] in self._pieces:
                end += 1
            ends = range(end + 2, end + _PIECE + 1)
            more = next((at - end for at in ends if text[at - _PIECE : at] in self._pieces), 0)
            end += more
        return end


@contextmanager
def hiding(secrets: Secrets | None) -> Iterator[None]:
    """Redact these values in texts that are scrubbed inside the block; None changes nothing."""
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
    """Return the recorder of the sensitive values of the running call; None outside its blocks.

    A task that a call started and that outlives the call has none, because it may live as long as its
    process.
    """
    secrets = _current.get()
    return secrets if secrets is not None and secrets._blocks else None


def current() -> Secrets | None:
    """Return the sensitive values of the running call; None if it has none."""
    secrets = _current.get()
    return secrets if secrets is not None and secrets.knows_any else None


def scrubbed(text: str) -> str:
    """Return the text without the sensitive values of the running call."""
    secrets = _current.get()
    return text if secrets is None else secrets.scrubbed(text)


def scrubbed_json(value: object) -> Any:
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


def _texts(value: Any, names: Set[str]) -> Iterator[str]:
    """Yield the values in a value as texts."""
    match value:
        case None | bool():
            return
        case Mapping():
            for key, inner in value.items():
                yield from () if key in names else _texts(key, names)
                yield from _texts(inner, names)
        case list() | tuple() | set() | frozenset():
            for inner in value:
                yield from _texts(inner, names)
        case bytes():
            yield repr(value)[2:-1]
            yield value.hex()
        case str():
            yield value
        case _:
            yield str(value)
            yield repr(value)


def _forms(text: str) -> Iterator[str]:
    """Yield the written forms of a text: as it is, and quoted in JSON, in Python and in a log.

    Of its lines, only those without a piece of their own among the pieces of the whole text are yielded.
    """
    yield text
    if text.isascii() and text.isprintable() and _PLAIN.isdisjoint(text):
        return
    yield from (line for line in text.splitlines() if len(line) < 2 * _PIECE)
    for once in dict.fromkeys(_quoted(text)):
        yield once
        yield from _quoted(once)


def _quoted(text: str) -> Iterator[str]:
    """Yield the escaped forms of a text; Python escapes an apostrophe depending on the other quotes."""
    bare = repr(text.replace("'", ""))[1:-1] if "'" not in text else repr(text + '"')[1:-2]
    yield json.dumps(text)[1:-1]
    yield json.dumps(text, ensure_ascii=False)[1:-1]
    yield bare
    yield bare.replace("\\'", "'")
    yield visible(text)
    yield printable(text)


def _pieces(text: str) -> Iterator[str]:
    """Yield the pieces of a text to search for, including its last one."""
    yield from (text[at : at + _PIECE] for at in range(min(len(text), _LONGEST) - _PIECE + 1))
    yield from (text[at : at + _PIECE] for at in range(_LONGEST, len(text) - _PIECE + 1, _PIECE))
    yield text[-_PIECE:]


def _is_word(text: str, start: int, end: int) -> bool:
    """Return whether there is no letter, digit or underscore before or after a part of a text."""
    around = (text[start - 1 : start] if start else "") + text[end : end + 1]
    return not any(char.isalnum() or char == "_" for char in around)
