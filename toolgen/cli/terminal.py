"""The terminal and its user: terminals get colours and escaped control characters, pipes plain bytes."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable
from typing import Any, Final, Literal, NoReturn, Self, TextIO, TypeAlias

from toolgen.contract.errors import ToolgenError
from toolgen.contract.printable import printable, visible, visible_lines

_SHOW_AFTER_S: Final = 1
_NAME_AFTER_S: Final = 5
_LONGEST_LINE: Final = 79
"""Maximum characters of a line that is overwritten; a terminal would wrap a longer one."""
Listing: TypeAlias = Literal["text", "json"]
"""Format of a list: text for people, or one JSON object per line."""


_TOKEN: Final = re.compile(r'(?P<text>"(?:[^"\\]|\\.)*")(?P<colon>:)?|[^\s{}\[\],:"]+')


def counted(number: int, noun: str) -> str:
    """Return a number of things: `1 tool`, `3 tools`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def has_colours(stream: TextIO) -> bool:
    """Return whether to colour the output of a stream; NO_COLOR turns colours off (no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def show_progress(text: str) -> None:
    """Print the start of work that takes more than a second, at a terminal only."""
    if sys.stderr.isatty():
        print(printable(text), file=sys.stderr, flush=True)


class ProgressLine:
    """One line at the terminal about work that takes more than a second; pipes get nothing."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._start = clock()
        self._is_shown = False

    def __call__(self, what: str, done: int, count: int, current: str) -> None:
        """Show the number of finished items and the total; after five seconds also the current item."""
        seconds = self._clock() - self._start
        if seconds >= _SHOW_AFTER_S and sys.stderr.isatty():
            name = f", now {current}" if seconds >= _NAME_AFTER_S else ""
            self._write(printable(f"{done:,} of {count:,} {what}{name}")[:_LONGEST_LINE])
            self._is_shown = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._is_shown:
            self._write("")

    def _write(self, text: str) -> None:
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def is_confirmed(question: str, done: str) -> bool:
    """Ask the person at the terminal a question, and return whether the answer is yes.

    `done` is a participle for the error, for example `answered`.

    Raises:
        ToolgenError: stdin or stderr is not a terminal.
    """
    if not sys.stdin.isatty():
        raise ToolgenError(
            f"cannot ask for confirmation, because stdin is not a terminal; nothing was {done}",
            hint="add --yes to skip the prompt",
        )
    if not sys.stderr.isatty():
        raise ToolgenError(
            f"stderr is not a terminal, so you have not seen the arguments; nothing was {done}",
            hint="do not redirect stderr, or add --yes",
        )
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def indented(document: str, *, colour: bool = False) -> str:
    """Return a JSON document on several lines, with control characters escaped."""
    text = visible_lines(json.dumps(json.loads(document), indent=2, ensure_ascii=False))
    return _TOKEN.sub(_painted, text) if colour else text


def _painted(token: re.Match[str]) -> str:
    """Return a key, a string, or a number or literal in its colour."""
    style = 34 if token["colon"] else 32 if token["text"] else 36
    return f"\x1b[{style}m{token['text'] or token[0]}\x1b[0m{token['colon'] or ''}"


def show_document(document: bytes) -> None:
    """Print JSON to stdout, byte for byte; at a terminal indented, coloured, and with controls escaped."""
    text = document.decode()
    if sys.stdout.isatty():
        text = indented(text, colour=has_colours(sys.stdout))
    sys.stdout.write(f"{text}\n")


def show_line(value: object) -> None:
    """Print JSON to stdout on one line; at a terminal control characters are escaped."""
    text = json.dumps(value, ensure_ascii=False)
    sys.stdout.write(f"{visible(text) if sys.stdout.isatty() else text}\n")


def show_json(value: object) -> None:
    """Print JSON to stdout like `show_document`."""
    show_document(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def user_name() -> str:
    """Return the name of the user of this machine; "" if there is none."""
    import getpass

    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):
        return ""


def typed_json(text: str) -> Any:
    """Return JSON that a person typed.

    Raises:
        ValueError: the text is not JSON, or has a duplicate key or a number that would be rounded.
    """
    return json.loads(text, object_pairs_hook=_each_once, parse_float=_exact, parse_constant=_no_constant)


def _each_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    document = dict(pairs)
    if len(document) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {json.dumps(twice, ensure_ascii=False)} occurs twice")
    return document


def _exact(text: str) -> float:
    from decimal import Decimal

    value = float(text)
    if Decimal(repr(value)) != Decimal(text):
        raise ValueError(f"{text} would be rounded to {value!r}")
    return value


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a JSON number")
