"""What a stream is for: a terminal takes colours, a pipe and a file do not."""

from __future__ import annotations

import os
from typing import TextIO


def has_colours(stream: TextIO) -> bool:
    """Return whether to colour what goes there; the convention of no-color.org turns colours off."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
