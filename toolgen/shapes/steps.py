"""The budget of one document: the steps that patterns, unions and rules share during its validation.

Steps are counted, not timed, so that a document has the same outcome on every machine. They are an upper
bound of the work, and are taken before the work is done.
"""

from __future__ import annotations

from contextvars import ContextVar, Token
from typing import Final

from .issues import TooComplexError

MOST_STEPS: Final = 1_000_000
"""Maximum number of steps for one document.

A step, for example one visit of a value by a schema, takes about 50 ns.
"""


class Steps:
    """The remaining budget of one document."""

    __slots__ = ("left",)

    def __init__(self, left: int = MOST_STEPS) -> None:
        self.left = left

    def take(self, number: int) -> None:
        """Take this number of steps.

        Raises:
            TooComplexError: fewer steps are left; from then on, none are.
        """
        self.left -= number
        if self.left < 0:
            self.left = -1
            raise TooComplexError


_current: ContextVar[Steps | None] = ContextVar("toolgen_steps", default=None)


class document_steps:
    """Sets a budget for the document that is checked inside the block, or reuses the enclosing budget."""

    __slots__ = ("_token",)

    def __enter__(self) -> Steps:
        self._token: Token[Steps | None] | None = None
        if (steps := _current.get()) is None:
            self._token = _current.set(steps := Steps())
        return steps

    def __exit__(self, *error: object) -> None:
        if self._token is not None:
            _current.reset(self._token)


def take_steps(number: int) -> None:
    """Take steps from the budget of the document that is being checked, if there is one.

    Raises:
        TooComplexError: fewer steps are left.
    """
    if (steps := _current.get()) is not None:
        steps.take(number)
