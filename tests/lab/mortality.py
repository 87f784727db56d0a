"""How a process of the laboratory dies at one of its steps, as by `kill -9`."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import sys
import threading
from collections.abc import Callable
from contextvars import Context
from dataclasses import dataclass
from types import FrameType
from typing import Any, Literal, TypeAlias, TypeVarTuple

from .ledger import Place

Args = TypeVarTuple("Args")
Step: TypeAlias = Literal["commit", "ledger", "callback"]
"""A commit of SQLite, a line of the ledger, or a callback of the event loop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Death:
    """The step at which a process is killed."""

    at: Step
    number: int
    """From 1; of all steps of this kind."""
    place: Place


class Steps:
    """Counts the steps of a process of one kind, and kills it at one of them."""

    def __init__(self, death: Death | None) -> None:
        self._death = death
        self._lock = threading.Lock()
        self._done = 0
        self._dies_next = False
        if death is not None and death.at == "commit":
            sys.addaudithook(self._watch)

    def written(self, place: Place) -> None:
        """Count a line of the ledger, before or after it is written."""
        if self._death is not None and (self._death.at, self._death.place) == ("ledger", place):
            self._step()

    def scheduled(self) -> None:
        """Count a callback of the event loop, before it is scheduled."""
        if self._death is not None and self._death.at == "callback":
            self._step()

    def _step(self) -> None:
        if self._is_the_last():
            _die()

    def _is_the_last(self) -> bool:
        with self._lock:
            self._done += 1
            return self._death is not None and self._done == self._death.number

    def _watch(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Hear of each statement of each connection that is opened from now on; an audit hook."""
        if event == "sqlite3.connect/handle":
            connection: sqlite3.Connection = arguments[0]
            connection.set_trace_callback(self._statement)
            threading.setprofile(self._returned)  # of the threads that will use it

    def _statement(self, text: str) -> None:
        """Count a commit, which is made when this returns."""
        if text != "COMMIT" or self._death is None:
            return
        if self._death.place == "before":
            self._step()
        else:
            self._dies_next = self._is_the_last()

    def _returned(self, frame: FrameType, event: str, argument: object) -> None:
        """Die once the statement of that commit has returned."""
        if event == "c_return" and self._dies_next and getattr(argument, "__name__", "") == "execute":
            _die()


class MortalLoop(asyncio.SelectorEventLoop):
    """An event loop that counts what it schedules."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        super().__init__()

    def call_soon(
        self, callback: Callable[[*Args], object], *args: *Args, context: Context | None = None
    ) -> asyncio.Handle:
        self._steps.scheduled()
        return super().call_soon(callback, *args, context=context)


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
