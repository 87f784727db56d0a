"""Output to a stream: a terminal gets colours and escaped control characters, a pipe gets plain bytes."""

from __future__ import annotations

import json
import os
import sys
from typing import Any, TextIO

from toolgen.contract.printable import printable, printable_lines


def has_colours(stream: TextIO) -> bool:
    """Return whether to colour the output of a stream; NO_COLOR turns colours off (no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def show_document(document: bytes) -> None:
    """Print JSON to stdout, byte for byte; at a terminal control characters are escaped, as JSON allows."""
    text = document.decode()
    sys.stdout.write(f"{printable(text) if sys.stdout.isatty() else text}\n")


def show_json(value: Any) -> None:
    """Print JSON to stdout: indented at a terminal, with control characters escaped, elsewhere one line."""
    if sys.stdout.isatty():
        text = printable_lines(json.dumps(value, indent=2, ensure_ascii=False))
    else:
        text = json.dumps(value, ensure_ascii=False)
    sys.stdout.write(f"{text}\n")
