"""What a door of the matrix does: it makes the one call of a cell, and answers what that asks."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from toolgen.contract.json_value import Json
from toolgen.runtime import Runtime, ToolResult

from ..world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What whoever called is shown."""

    status: str
    text: str = ""
    """JSON text of the result; "" while there is none."""
    question: str = ""
    """What a person is asked."""


class Door(Protocol):
    """One call through a door."""

    @property
    def agent(self) -> str:
        """Id of the agent whose run makes the call; "" for none."""
        ...

    async def call(self) -> Seen:
        """Make the call."""
        ...

    async def answer(self, answer: Json) -> Seen:
        """Give the answer of a person to what was asked, and return what became of the call."""
        ...

    def process(self) -> AbstractAsyncContextManager[Runtime]:
        """Open a runtime of the host, in which it sees what waits, and delivers the results of work."""
        ...


Opening = Callable[[World], AbstractAsyncContextManager[Door]]
"""Opens a door of a world, for one call."""


def seen_result(result: ToolResult) -> Seen:
    """Return a result of the runtime as it is seen."""
    asked = result.suspension
    return Seen(
        status=result.status,
        text=result.json.decode(),
        question=asked.question if asked is not None and result.status == "suspended" else "",
    )
