"""The place in the author's code where a clause was written."""

from __future__ import annotations

import itertools
import linecache
import sys
from dataclasses import dataclass
from functools import cached_property
from types import CodeType

from toolgen.contract.findings import Place


@dataclass(frozen=True)
class Source:
    """A call in the author's code; line and columns are looked up only when shown.

    Python finds the line of a frame by reading the table of its code from the start.
    """

    code: CodeType
    instruction: int

    @classmethod
    def of_caller(cls) -> Source:
        """Return the nearest frame outside the toolgen package."""
        frame = sys._getframe(1)
        while f"{frame.f_globals.get('__name__')}.".startswith("toolgen.") and frame.f_back:
            frame = frame.f_back
        return cls(frame.f_code, frame.f_lasti)

    @property
    def file(self) -> str:
        return self.code.co_filename

    @property
    def line(self) -> int:
        return self._position[0]

    @property
    def column(self) -> int:
        """The column of the call, counted from 1; 1 if Python has stored none."""
        return self._extent[1] + 1

    @property
    def place(self) -> tuple[str, int, int]:
        """File, line and column: equal for one call, and the order of diagnostics."""
        return self.file, self.line, self.column

    @property
    def end(self) -> tuple[int, int]:
        """Line and column right after the call; its start if Python has stored no columns."""
        _, _, line, column = self._extent
        return line, column + 1

    def located(self) -> Place:
        """Return the place with the first line of the call."""
        end_line, end_column = self.end
        return Place(
            file=self.file,
            line=self.line,
            column=self.column,
            end_line=end_line,
            end_column=end_column,
            excerpt=self.excerpt(),
        )

    def encloses(self, other: Source) -> bool:
        """Return whether the other call is inside this one; True if that is unknown."""
        start = self.line, self.column
        if self.end == start:
            return True
        return self.file == other.file and start <= (other.line, other.column) and other.end <= self.end

    def excerpt(self) -> str:
        """Return the first source line with the call underlined; empty without the source."""
        text = linecache.getline(self.file, self.line).rstrip()
        line, start, end_line, end = self._extent
        if end_line != line:
            end = len(text)
        if not text or start == end:
            return text
        margin = "".join("\t" if char == "\t" else " " for char in text[:start])
        return f"{text}\n{margin}{'^' * (end - start)}"

    @cached_property
    def _extent(self) -> tuple[int, int, int, int]:
        """First line and column, last line and column; columns count from 0, in characters if possible."""
        line, end_line, start, end = self._position
        if start is None or end is None or end_line is None:
            return line, 0, line, 0
        start, end = self._characters(self.line, start), self._characters(end_line, end)
        return self.line, start, end_line, end

    @cached_property
    def _position(self) -> tuple[int, int | None, int | None, int | None]:
        """First line and column, last line and column, as stored by Python: columns in bytes, or None."""
        positions = itertools.islice(self.code.co_positions(), self.instruction // 2, None)
        line, end_line, start, end = next(positions, (None, None, None, None))
        return self.code.co_firstlineno if line is None else line, end_line, start, end

    def _characters(self, line: int, column: int) -> int:
        """Return a column that Python counts in UTF-8 bytes as a column in characters."""
        encoded = linecache.getline(self.file, line).encode("utf-8", "replace")
        return len(encoded[:column].decode("utf-8", "replace")) if encoded else column
