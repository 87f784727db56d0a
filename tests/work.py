"""How much work a function does, counted and not timed: the lines of toolgen that it runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import toolgen

PACKAGE = str(Path(toolgen.__file__).parent)


def lines_run(function: Callable[[], object]) -> int:
    """Return how many lines of toolgen the function runs."""
    count = 0

    def line(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        count += event == "line"
        return line

    def call(frame: FrameType, event: str, argument: object) -> Any:
        file = frame.f_code.co_filename
        return line if file.startswith(PACKAGE) else None

    with _tracing(call):
        function()
    return count


@contextmanager
def _tracing(call: Callable[[FrameType, str, object], Any]) -> Iterator[None]:
    before = sys.gettrace()
    sys.settrace(call)
    try:
        yield
    finally:
        sys.settrace(before)
