"""Text from elsewhere that is printed: nothing in it moves the cursor, reorders or hides what is there."""

from __future__ import annotations

import json
import logging
from itertools import product

import pytest

from tests.escape_table import PATH, table
from toolgen.contract.errors import ToolgenError
from toolgen.contract.logs import logger
from toolgen.contract.printable import hides, printable, printable_lines, visible

HOSTILE = {
    "escape sequence": "\x1b[2J\x1b]0;title\x07",
    "one-byte sequence": "\x9b2J",
    "carriage return": "delete\rkeep  ",
    "line feed": "safe\napproved by the owner",
    "backspace": "rm\b\bls",
    "bidi": "\u202eexe.txt\u202c\u2066\u2069",
    "line separators": "a\u2028b\u2029c\x85d",
    "zero width": "pay\u200bpal\u2060\ufeff",
    "fillers": "a\u3164\u115f\uffa0\u2800b",
    "variation selectors": "a\ufe0f\U000e0100",
    "tags": "a\U000e0041\U000e007f",
    "spaces": "a\u00a0\u3000\u2003b",
    "surrogate": "\ud800",
    "nul and delete": "\x00\x7f",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_what_a_terminal_obeys_or_hides_is_escaped(text: str) -> None:
    shown = printable(text)
    assert shown.isprintable()
    assert "\\" in shown
    assert visible(shown) == shown


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_json_stays_the_same_json(text: str) -> None:
    document = {text: [text, {"a": text}]}
    assert json.loads(visible(json.dumps(document, ensure_ascii=False))) == document


@pytest.mark.parametrize("text", ["", "Guten Tag, Frau Müller! ☀ 日本語 שלום สวัสดี", '50 % of "x"'])
def test_what_people_read_stays_as_it_is(text: str) -> None:
    assert printable(text) == text


PIECES = ("\\", "\n", "n", "\u202e", "u202e", "\U000e0041", r"\u202e", "a")


def test_no_two_texts_look_the_same() -> None:
    """An escape that is spelled out is another text than the character, and so is shown as another."""
    texts = {"".join(text) for size in range(1, 5) for text in product(PIECES, repeat=size)}
    assert len({printable(text) for text in texts}) == len(texts)
    assert len({printable_lines(text) for text in texts}) == len(texts)
    assert printable("a\u202eb \n") == r"a\u202eb \n"
    assert printable(r"a\u202eb \n") == r"a\\u202eb \\n"


def test_lines_stay_lines() -> None:
    assert printable_lines("a\x1b\n b\r\n") == "a\\u001b\n b\\r\n"


def test_the_explorer_has_the_same_table() -> None:
    assert PATH.read_text("utf-8") == table(), "make ui"


def test_a_log_has_no_lines_but_its_own(caplog: pytest.LogCaptureFixture) -> None:
    log = logger("toolgen.runtime")
    forged = "x\nERROR root:root.py:1 paid\x1b[2J\u202e"
    try:
        try:
            raise KeyError(forged)
        except KeyError as error:
            raise ValueError(forged) from error
    except ValueError:
        log.exception("tool %s failed after %d attempts: %s", forged, 3, ValueError(forged))
    lines = caplog.text.splitlines()
    assert all(line.isprintable() for line in lines)
    assert not any(line.startswith("ERROR root") for line in lines)
    assert "after 3 attempts" in lines[0]
    assert sum(line == "Traceback (most recent call last):" for line in lines) == 2
    assert caplog.records[0].exc_info is not None  # for handlers that want more than text


def test_a_log_shows_no_two_texts_alike(caplog: pytest.LogCaptureFixture) -> None:
    log, texts = logger("toolgen.runtime"), ("a\u202eb", r"a\u202eb", r"a\\u202eb")
    shown = []
    for text in texts:
        caplog.clear()
        try:
            raise ValueError(text)
        except ValueError:
            log.exception("%s is unknown, %r", text, text)
        first, *_, last = caplog.text.splitlines()
        shown += [first.partition("  ")[2], last]
    assert len(set(shown)) == len(shown), shown
    assert shown[1] == r"ValueError: a\u202eb"


def test_the_hint_of_an_error_stands_in_its_line(caplog: pytest.LogCaptureFixture) -> None:
    log = logger("toolgen.runtime")
    try:
        raise ToolgenError("the engine is closed\n  x", hint="open it")
    except ToolgenError as error:
        log.exception("pay failed: %s", error)
    lines = caplog.text.splitlines()
    assert lines[0].endswith("pay failed: the engine is closed\\n  x; hint: open it")
    assert lines[-1].endswith("ToolgenError: the engine is closed\\n  x; hint: open it")


def test_a_logger_is_made_safe_once() -> None:
    assert len(logger("toolgen.x").filters) == len(logger("toolgen.x").filters) == 1
    assert logger("toolgen.x") is logging.getLogger("toolgen.x")


@pytest.mark.parametrize(
    "text",
    [
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u0d28\u0d4d\u200d", "\u0915\u094d\u200d\u0937",
        "\U0001f469\u200d\U0001f4bb", "\u2764\ufe0f\u200d\U0001f525", "\U0001f468\U0001f3fd\u200d\U0001f680",
        "\u2699\ufe0f Status", "1\ufe0f\u20e3", "#\ufe0f\u20e3", "\u203c\ufe0f", "\u2139\ufe0f", "a\u3000b\n",
    ],
)  # fmt: skip
def test_what_joins_characters_is_seen_between_those_that_it_changes(text: str) -> None:
    assert not hides(text)


@pytest.mark.parametrize(
    "text",
    [
        "pass\u200cword", "a\u200db", "\u200da", "a\u200d", "_\u200c_", "\xe9\u200d\xe9",
        "\u0431\u200c\u0432", "\u4e2d\u200d\u6587", "\u0645\u200c", "\u0645\u200ca",
        "\u0645\u200c\u200c\u062e", "\U0001f469\u200d", "a\ufe0f", "\ufe0f", "a \ufe0f",
        "1\ufe0f\ufe0f", "-\ufe0f", "\u2014\u200d\u2014",
    ],
)  # fmt: skip
def test_what_joins_nothing_hides(text: str) -> None:
    assert hides(text)
