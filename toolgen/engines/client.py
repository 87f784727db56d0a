"""The part of an engine that serves its clients, for every kind of journal."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping
from typing import TYPE_CHECKING, Protocol

from toolgen.contract.json_value import Json
from toolgen.runtime.engine import (
    EngineClosedError,
    EngineError,
    OnForget,
    Receipt,
    RunState,
    RunStatus,
    RunWait,
    WaitOverError,
    WaitStatus,
)

from .journal import RunRecord
from .runs import Runs

if TYPE_CHECKING:
    from toolgen.runtime.stores.batched_file import BatchedFile  # SQLite is for those who keep runs in a file


class Client(Protocol):
    """The methods of `Engine` behind its checks; every text is JSON."""

    runs: Runs
    """Those that this process executes."""

    @property
    def file(self) -> BatchedFile | None:
        """The file of the runs, for what is stored beside them; None in memory."""
        ...

    @property
    def id(self) -> str:
        """Of the engine, the same in all processes."""
        ...

    @property
    def held_s(self) -> float:
        """The seconds by which the wall clock is ahead of that of the runs, which does not trust it."""
        ...

    async def start(self, *, worker: bool, only: Collection[str] | None) -> None: ...

    async def check(self) -> tuple[str, ...]: ...

    async def close(self) -> None: ...

    def tell_forgotten(self, on_forget: OnForget) -> None:
        """Set the callback that is called with runs before they are forgotten."""
        ...

    async def start_run(self, loop: str, text: bytes, *, run_id: str, session: str) -> None:
        """Start a run unless its id is taken."""
        ...

    async def release_clock(self, at: float) -> None:
        """Record that an operator trusts the wall clock, which shows this time."""
        ...

    async def signal(self, run_id: str, name: str, text: bytes, *, signal_id: str) -> None: ...

    async def answer(self, run_id: str, op: str, text: bytes, *, key: str) -> Receipt: ...

    async def kept_answer(self, run_id: str, op: str) -> Json: ...

    async def wait_status(self, run_id: str, op: str) -> WaitStatus | None: ...

    async def open_waits(self, *, session: str | None, limit: int) -> tuple[RunWait, ...]: ...

    async def cancel(self, run_id: str, reason: str) -> None: ...

    async def forget_session(self, session: str) -> int: ...

    async def status(self, run_id: str) -> RunStatus: ...

    async def status_when(self, run_id: str, *, may_wait: bool) -> RunStatus:
        """Return the status when the run is over, or when it waits, where waits count.

        Raises:
            NondeterminismError: the run, or a child that it waits for, is stalled in this process.
        """
        ...

    def events(
        self, run_id: str, *, after: int, follow: bool
    ) -> AsyncIterator[tuple[int, Mapping[str, Json]]]: ...

    async def list_runs(
        self, *, state: RunState | None, session: str | None, limit: int
    ) -> tuple[RunStatus, ...]: ...

    def record(self, run_id: str) -> RunRecord:
        """Return the whole record of a run.

        Raises:
            UnknownRunError: no run has the id.
        """
        ...


def closed_error() -> EngineClosedError:
    """Return the error of an engine that was closed."""
    return EngineClosedError("the engine is closed", hint="start it again")


def registered_error() -> EngineError:
    """Return the error of an engine that another runtime has."""
    return EngineError("this engine has its loops and activities already; it belongs to one runtime")


def wait_over_error(run_id: str, op: str) -> WaitOverError:
    """Return the error of an answer whose wait has ended."""
    return WaitOverError(f"no wait is open for {op} of run {run_id} any more")
