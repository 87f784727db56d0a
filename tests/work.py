"""How much work a function does, counted and not timed: lines of toolgen, or all that is executed."""

from __future__ import annotations

import gc
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What was executed, of toolgen and of what it calls."""

    instructions: Counter[CodeType] = field(default_factory=Counter)
    """Of bytecode, by function."""
    native: Counter[str] = field(default_factory=Counter)
    """Calls of what is compiled, by name."""

    @property
    def total(self) -> int:
        """Instructions and native calls."""
        return self.instructions.total() + self.native.total()

    @property
    def codings(self) -> int:
        """Calls of the compiled codecs of pydantic, one of which takes longer than many instructions."""
        return sum(times for name, times in self.native.items() if name.startswith("Schema"))

    def lines(self) -> Iterator[str]:
        """Yield what was executed, the most first."""
        named = Counter[str]()
        for code, count in self.instructions.items():
            file = code.co_filename.removeprefix(f"{PACKAGE}/").removeprefix(f"{sys.base_prefix}/")
            named[f"{file} {code.co_qualname}"] += count
        for name, count in named.most_common():
            yield f"{count:8} {name}"
        for name, count in self.native.most_common():
            yield f"{count:8} native {name}"
        yield f"{self.total:8} instructions and native calls"


async def work_of(function: Callable[[], Awaitable[object]]) -> Work:
    """Return what the function executes in this thread, the turns of its event loop included."""
    if sys.version_info >= (3, 12):  # which counts only in code that was traced before
        await _traced(function)
    return await _traced(function)


async def _traced(function: Callable[[], Awaitable[object]]) -> Work:
    work = Work()

    def instruction(frame: FrameType, event: str, argument: object) -> Any:
        work.instructions[frame.f_code] += event == "opcode"
        return instruction

    def call(frame: FrameType, event: str, argument: object) -> Any:
        if frame.f_code.co_filename == __file__:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return instruction

    def native(frame: FrameType, event: str, argument: Any) -> None:
        if event == "c_call" and frame.f_code.co_filename != __file__:
            work.native[argument.__qualname__] += 1

    gc.disable()  # what it collects calls back at any time
    sys.setprofile(native)
    try:
        with _tracing(call):
            await function()
    finally:
        sys.setprofile(None)
        gc.enable()
    return work


@contextmanager
def _tracing(call: Callable[[FrameType, str, object], Any]) -> Iterator[None]:
    before = sys.gettrace()
    sys.settrace(call)
    try:
        yield
    finally:
        sys.settrace(before)
