"""The words on the wire are those of the kept list."""

import os

from tests.wire import KEPT, wire


def test_the_words_on_the_wire_are_the_kept_ones() -> None:
    if os.environ.get("UPDATE"):
        KEPT.write_text(wire(), "utf-8")
    assert wire() == KEPT.read_text("utf-8"), (
        "a word on the wire has changed: `UPDATE=1 pytest tests/test_wire.py` rewrites tests/wire.txt; "
        "a word in a file needs the next number of its format"
    )
