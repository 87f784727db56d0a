"""The log of one connection, limited because a server can send any number of messages."""

from __future__ import annotations

from collections import Counter
from typing import Final

from toolgen.contract.logs import logger

_MOST_ALIKE: Final = 10
"""Maximum number of similar lines per connection; the last one announces that it is the last."""

log = logger("toolgen.mcp")


class PeerLog:
    """Logs events of one server, limited to the first few of each kind."""

    def __init__(self) -> None:
        self._lines: Counter[str] = Counter()

    def log(self, level: int, message: str, *values: object) -> None:
        """Log a line, unless this message has been logged too often."""
        self._lines[message] += 1
        if self._lines[message] < _MOST_ALIKE:
            log.log(level, message, *values)
        elif self._lines[message] == _MOST_ALIKE:
            log.log(level, f"{message} (more of this connection is not logged)", *values)
