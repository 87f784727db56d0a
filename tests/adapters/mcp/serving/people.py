"""People who answer what a client shows them."""

from __future__ import annotations

from typing import Any

from mcp import types


class Person:
    """Answers what a client is asked, in order; keeps what was asked."""

    def __init__(self, *answers: types.ElicitResult) -> None:
        self._answers = iter(answers)
        self.asked: list[types.ElicitRequestFormParams] = []

    async def __call__(self, context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        assert isinstance(params, types.ElicitRequestFormParams)
        self.asked.append(params)
        return next(self._answers)


def accept(**content: Any) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content=content)


DECLINE = types.ElicitResult(action="decline")
CANCEL = types.ElicitResult(action="cancel")
