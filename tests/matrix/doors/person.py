"""A person whom a door asks in the middle of a call, and who answers when the cell says so."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from types import TracebackType
from typing import Any

from toolgen.contract.json_value import Json

from .door import Seen


class Person:
    """Holds a call that goes on while its person is asked."""

    def __init__(self) -> None:
        self._question: asyncio.Future[str] = asyncio.Future()
        self._answer: asyncio.Future[Json] = asyncio.Future()
        self._call: asyncio.Task[Seen] | None = None

    @property
    def is_asked(self) -> bool:
        return self._question.done()

    async def ask(self, question: str) -> Json:
        """Ask, and return the answer; what the framework calls."""
        assert not self._question.done(), "a call of the matrix asks once"
        self._question.set_result(question)
        return await self._answer

    async def begin(self, call: Coroutine[Any, Any, Seen]) -> Seen:
        """Begin a call, and return its result or its question."""
        self._call = asyncio.create_task(call)
        waiting: list[asyncio.Future[Any]] = [self._call, self._question]
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if self._call.done():
            return self._call.result()
        return Seen(status="suspended", question=self._question.result())

    async def answer(self, answer: Json) -> Seen:
        """Answer, and return the result of the call."""
        assert self._call is not None, "it is called first"
        self._answer.set_result(answer)
        return await self._call

    async def __aenter__(self) -> Person:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End a call that is not over, such as of a cell that has failed."""
        if self._call is not None and not self._call.done():
            self._call.cancel()
            await asyncio.wait([self._call])
