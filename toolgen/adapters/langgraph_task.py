"""Values that LangGraph passes to the next `interrupt()` of a task; only this module reads its private parts.

These parts are unchanged since LangGraph 1.2.20, in which each question of a task has its own id and a
retried node counts from 0 again. If one of them is missing, the import fails.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, Final

from toolgen.contract.errors import ToolgenError
from toolgen.contract.extras import extra
from toolgen.contract.record import frozen_record

with extra("langgraph"):
    from langgraph.config import get_config

_PAD: Final = "__pregel_scratchpad"
_RESUMED_BY_ID: Final = "__pregel_resume_map"
_COUNT: Final = "count("


@frozen_record
class GraphTask:
    """Position of the next `interrupt()` of a task."""

    node: str
    pad: object
    """LangGraph's record of one execution of a task."""
    value: Any
    """Return value of the next `interrupt()`; None if there is none."""
    is_recorded: bool
    """Whether LangGraph stores the value for this task; otherwise the first question gets it."""
    is_mixed: bool
    """Whether the run was resumed by ids while a value of an earlier resume is still there."""
    take: Callable[[bool], Any]
    """Returns the value that the first question would get; consumes it if called with True."""

    @property
    def has_value(self) -> bool:
        """Whether the next `interrupt()` returns a value, unless another question has consumed it."""
        return self.value is not None

    def has_value_left(self) -> bool:
        """Return whether the value is still available.

        A value that is not stored for this task is consumed.
        """
        return self.is_recorded or self.take(True) is not None

    def is_same(self, other: GraphTask) -> bool:
        """Return whether both tasks are the same execution of the same task."""
        return self.pad is other.pad


def current_task() -> GraphTask | None:
    """Return the task that runs here; None outside a graph."""
    try:
        config = get_config()
    except RuntimeError:  # LangChain runs nothing here
        return None
    facts: dict[str, Any] = config.get("configurable", {})
    if (pad := facts.get(_PAD)) is None:
        return None
    place, newest = _number(pad.interrupt_counter), pad.get_null_resume(False)
    recorded = pad.resume[place:]
    is_taken = any(newest is value for value in pad.resume)
    return GraphTask(
        node=str(config.get("metadata", {}).get("langgraph_node", "")),
        pad=pad,
        value=recorded[0] if recorded else None if is_taken else newest,
        is_recorded=bool(recorded),
        is_mixed=newest is not None and bool(facts.get(_RESUMED_BY_ID)),
        take=pad.get_null_resume,
    )


def _number(counter: Any) -> int:
    """Return the number of the next interrupt from a counter, without incrementing it."""
    count = counter._counter  # None before the first interrupt, then `itertools.count(0).__next__`
    return 0 if count is None else int(repr(count.__self__)[len(_COUNT) : -1])


def _require_parts() -> None:
    """Raise if LangGraph lacks the parts that `current_task` reads, or if they work differently.

    Raises:
        ToolgenError: LangGraph's private parts are not the expected ones.
    """
    cause: Exception | None = None
    try:
        from langgraph._internal import _constants
        from langgraph._internal._scratchpad import PregelScratchpad
        from langgraph.pregel._algo import LazyAtomicCounter
        from langgraph.types import _interrupt_id

        names = {field.name for field in fields(PregelScratchpad)}
        counter = LazyAtomicCounter()
        numbers = [_number(counter), counter(), _number(counter), counter(), _number(counter)]
        is_known = (
            (_constants.CONFIG_KEY_SCRATCHPAD, _constants.CONFIG_KEY_RESUME_MAP) == (_PAD, _RESUMED_BY_ID)
            and names >= {"interrupt_counter", "get_null_resume", "resume"}
            and numbers == [0, 0, 1, 1, 2]
            and _interrupt_id("", 0) != _interrupt_id("", 1)
        )
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        is_known, cause = False, error
    if not is_known:
        raise ToolgenError(
            "toolgen does not support how this version of LangGraph assigns answers, so no question was "
            "asked",
            hint="install a supported version: pip install 'toolgen[langgraph]'",
        ) from cause


_require_parts()
