"""Where in the author's code something was written."""

from __future__ import annotations

import itertools
import linecache
import sys
from dataclasses import dataclass
from functools import cached_property
from types import CodeType


@dataclass(frozen=True)
class Source:
    """A call in the author's code; columns are looked up only when shown."""

    code: CodeType
    instruction: int
    line: int

    @classmethod
    def of_caller(cls) -> Source:
        """Return the nearest frame outside the toolgen package."""
        frame = sys._getframe(1)
        while frame.f_globals.get("__name__", "").split(".")[0] == "toolgen" and frame.f_back:
            frame = frame.f_back
        return cls(frame.f_code, frame.f_lasti, frame.f_lineno)

    @property
    def file(self) -> str:
        return self.code.co_filename

    @property
    def column(self) -> int:
        """The column of the call, counted from 1; 1 where Python kept none."""
        return self._span[0] + 1

    @property
    def place(self) -> tuple[str, int, int]:
        """File, line and column: equal for one call, and the order in which diagnostics are shown."""
        return self.file, self.line, self.column

    def excerpt(self) -> str:
        """Return the first source line with the call underlined; empty without the source."""
        text = self._text
        start, end = self._span
        if not text or start == end:
            return text
        margin = "".join("\t" if char == "\t" else " " for char in text[:start])
        return f"{text}\n{margin}{'^' * (end - start)}"

    @property
    def _text(self) -> str:
        return linecache.getline(self.file, self.line).rstrip()

    @cached_property
    def _span(self) -> tuple[int, int]:
        """Start and end of the call in its first line, in characters; equal where it cannot be shown."""
        positions = itertools.islice(self.code.co_positions(), self.instruction // 2, None)
        line, end_line, start, end = next(positions, (None, None, None, None))
        if line != self.line or start is None or end is None:
            return 0, 0
        encoded = self._text.encode("utf-8", "replace")
        if not encoded:
            return start, start
        if end_line != line:
            end = len(encoded)
        return len(encoded[:start].decode("utf-8", "replace")), len(encoded[:end].decode("utf-8", "replace"))
