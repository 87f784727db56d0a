"""Output to a stream: a terminal gets colours and escaped control characters, a pipe gets plain bytes."""

from __future__ import annotations

import os
import sys
from typing import TextIO

from toolgen.contract.printable import printable


def has_colours(stream: TextIO) -> bool:
    """Return whether to colour the output of a stream; NO_COLOR turns colours off (no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def show_document(document: bytes) -> None:
    """Print JSON to stdout, byte for byte; at a terminal control characters are escaped, as JSON allows."""
    text = document.decode()
    sys.stdout.write(f"{printable(text) if sys.stdout.isatty() else text}\n")
