"""Fakes for the tests of projects that use toolgen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from toolgen.calls.context import ToolContext
from toolgen.calls.errors import ToolError
from toolgen.contract.record import frozen_record

__all__ = ["RecordedCall", "RecordingExecutor"]

_MISSING: Final = object()


@frozen_record
class RecordedCall:
    """One call that reached the executor."""

    method: str
    payload: Any
    context: ToolContext


class RecordingExecutor:
    """Executes any toolset: returns the given result of each method, and records the calls.

    An answer is a result, an outcome, or an exception to raise.
    """

    def __init__(self, answers: Mapping[str, object]) -> None:
        self._answers = dict(answers)
        self.calls: list[RecordedCall] = []
        """Recorded calls, in the order in which they arrived."""

    def __getattr__(self, method: str) -> Callable[[Any, ToolContext], Awaitable[Any]]:
        if method.startswith("_"):
            raise AttributeError(method)

        async def execute(payload: Any, context: ToolContext) -> Any:
            self.calls.append(RecordedCall(method=method, payload=payload, context=context))
            answer = self._answers.get(method, _MISSING)
            if answer is _MISSING:
                raise ToolError(f"this test has no answer for {method!r}")
            if isinstance(answer, BaseException):
                raise answer
            return answer

        return execute
