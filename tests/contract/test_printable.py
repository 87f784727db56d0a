"""Text from elsewhere that is printed: nothing in it moves the cursor, reorders or hides what is there."""

from __future__ import annotations

import json
import logging

import pytest

from toolgen.contract.errors import ToolgenError
from toolgen.contract.logs import logger
from toolgen.contract.printable import printable, printable_lines

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
    assert printable(shown) == shown


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_json_stays_the_same_json(text: str) -> None:
    document = {text: [text, {"a": text}]}
    assert json.loads(printable(json.dumps(document, ensure_ascii=False))) == document


@pytest.mark.parametrize("text", ["", "Guten Tag, Frau Müller! ☀ 日本語 שלום สวัสดี", 'C:\\new "x"'])
def test_what_people_read_stays_as_it_is(text: str) -> None:
    assert printable(text) == text


def test_lines_stay_lines() -> None:
    assert printable_lines("a\x1b\n b\r\n") == "a\\u001b\n b\\r\n"


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
