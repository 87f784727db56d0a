"""The log of one connection, bounded because a server can send any number of messages."""

from __future__ import annotations

from collections import Counter
from typing import Final

from toolgen.contract.logs import logger

_MOST_ALIKE: Final = 10
"""Lines of one kind about one connection; the last one says that it is the last."""

log = logger("toolgen.mcp")


class PeerLog:
    """Logs what a server does, the first few times that it does so."""

    def __init__(self) -> None:
        self._lines: Counter[str] = Counter()

    def log(self, level: int, message: str, *values: object) -> None:
        """Log a line, unless as many of its message are there already."""
        self._lines[message] += 1
        if self._lines[message] < _MOST_ALIKE:
            log.log(level, message, *values)
        elif self._lines[message] == _MOST_ALIKE:
            log.log(level, f"{message} (more of this connection is not logged)", *values)
