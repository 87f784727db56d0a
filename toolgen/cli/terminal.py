"""What a stream is for: a terminal takes colours and obeys what it is sent, a pipe and a file do not."""

from __future__ import annotations

import os
import sys
from typing import TextIO

from toolgen.contract.printable import printable


def has_colours(stream: TextIO) -> bool:
    """Return whether to colour what goes there; the convention of no-color.org turns colours off."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def show_document(document: bytes) -> None:
    """Print JSON to stdout, byte for byte; at a terminal what it would obey is escaped, as JSON allows."""
    text = document.decode()
    sys.stdout.write(f"{printable(text) if sys.stdout.isatty() else text}\n")
