"""The messages of toolgen, as messages.txt lists them for review."""

from __future__ import annotations

import os

from tests.messages import KEPT, messages


def test_the_list_of_messages_is_up_to_date() -> None:
    """Refresh it by `UPDATE=1 pytest tests/test_messages.py`, and read the difference as its readers will."""
    if os.environ.get("UPDATE"):
        KEPT.write_text(messages(), "utf-8")
    assert KEPT.read_text("utf-8") == messages()
