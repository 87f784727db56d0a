"""The lines that another process writes, as they come."""

from __future__ import annotations

import threading
from typing import IO

PATIENCE_S = 120.0
"""For what another process does; a test that waits for longer fails."""


class Output:
    """The lines of a stream of another process, read by a thread."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._lines: list[str] = []
        self._is_over = False
        self._news = threading.Condition()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    @property
    def text(self) -> str:
        return "".join(self._lines)

    def has(self, text: str, times: int = 1) -> None:
        """Return once the lines have the text so often; fail where the stream ends before."""
        with self._news:
            self._news.wait_for(lambda: self.text.count(text) >= times or self._is_over, PATIENCE_S)
        assert self.text.count(text) >= times, f"no {times} lines have {text!r}:\n{self.text}"

    def to_its_end(self) -> None:
        """Return once the process has closed the stream."""
        self._thread.join(PATIENCE_S)

    def _read(self) -> None:
        for line in self._stream:
            with self._news:
                self._lines.append(line)
                self._news.notify_all()
        with self._news:
            self._is_over = True
            self._news.notify_all()
