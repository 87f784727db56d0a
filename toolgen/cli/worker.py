"""`toolgen worker`: executes the runs of the configured runtime until a signal to end."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import Final

from toolgen.contract.errors import ToolgenError
from toolgen.contract.logs import logger
from toolgen.engines import DRAIN_S, DrainingEngine, Engine, EngineError, QueueEngine, WorkerRole
from toolgen.runtime import Runtime

from .config import Project, host_and_port
from .health import WorkerState, serve_health
from .models import ready_planners
from .runtime import SERVER_THRESHOLD, durable_engine, project_runtime
from .suspended_calls import changed_tools

_CHECK_EVERY_S: Final = 5.0
"""Seconds between the end of a check and the next one."""
_CHECK_S: Final = 3.0
"""Seconds after which a check of the stores counts as failed."""

_WATCH_S: Final = 1.0
"""Seconds between two checks that the engine still executes runs."""
_MOST_WAITS: Final = 1_000
"""Maximum number of suspended calls that are compared with the tools at the start."""
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)

log = logger("toolgen.cli")


class Worker:
    """The worker of one process, with its state for health checks."""

    def __init__(self, drain_s: float = DRAIN_S) -> None:
        self.state: WorkerState = "starting"
        self._drain_s = drain_s
        self._is_asked_to_end = asyncio.Event()

    def end(self) -> None:
        """Drain and end, as soon as possible."""
        self._is_asked_to_end.set()

    async def work(self, engine: Engine, check_stores: Callable[[], Awaitable[None]]) -> None:
        """Work until `end` is called, then drain and close the engine.

        `check_stores` raises if a store cannot be used.

        Raises:
            ToolgenError: the engine executes no runs.
        """
        if not engine.is_worker:
            raise ToolgenError(
                f"the engine {engine.name!r} of the configured runtime executes no runs",
                hint="create it as a worker: without worker=False, and without Runtime.runs.run_as_client()",
            )
        stores = StoreWatch(check_stores)
        async with stores.watching():
            while not self._is_asked_to_end.is_set():
                self._change(_state_of(engine, stores))
                try:
                    async with asyncio.timeout(_WATCH_S):
                        await self._is_asked_to_end.wait()
                except TimeoutError:
                    continue
        self._change("draining")
        if isinstance(engine, DrainingEngine) and not await engine.drain(self._drain_s):
            log.warning("calls that are still running after %g seconds are interrupted", self._drain_s)
        await engine.close()
        log.info("the worker has ended")

    def _change(self, state: WorkerState) -> None:
        if state != self.state:
            self.state = state
            is_broken = state in ("engine lost", "store unreachable")
            log.log(logging.WARNING if is_broken else logging.INFO, "the worker: %s", state)


async def run_worker(
    project: Project,
    queues: tuple[str, ...],
    role: WorkerRole,
    *,
    health: str,
    drain_s: float,
    is_strict: bool,
) -> int:
    """Execute runs until SIGINT or SIGTERM, let calls end, and return 0; a second signal ends the process.

    `health` is `HOST:PORT`, "" for no endpoint; `is_strict` refuses code that is older than the design.

    Raises:
        ToolgenError: the runtime stores no runs, another worker executes them, or an option does not fit.
    """
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    worker = Worker(drain_s)
    gc.set_threshold(*SERVER_THRESHOLD)
    async with AsyncExitStack() as stack:
        stack.enter_context(_on_signal(worker.end))
        log.info("the worker: starting")
        if health:
            host, port = host_and_port("--health", health)
            url = await stack.enter_async_context(serve_health(host, port, lambda: worker.state))
            log.info("health: %s/live and %s/ready", url, url)
        runtime = await stack.enter_async_context(project_runtime(project, is_strict=is_strict))
        ready_planners(runtime)
        engine = durable_engine(runtime)
        _assign(engine, queues, role, drain_s)
        await stack.enter_async_context(runtime)
        await stack.enter_async_context(_naming_changed_tools(runtime, engine))
        gc.freeze()  # objects from the start are not garbage
        await worker.work(engine, runtime.check_stores)
    return 0


@asynccontextmanager
async def _naming_changed_tools(runtime: Runtime, engine: Engine) -> AsyncIterator[None]:
    """Log the tools whose contract differs from the contract of suspended calls, while the worker starts.

    The worker does not wait for this, because an engine might query other workers.
    """

    async def look() -> None:
        try:
            waits = await engine.open_waits(limit=_MOST_WAITS)
        except EngineError as error:
            log.warning("suspended calls were not compared with the registered tools: %s", error)
            return
        for sentence in changed_tools(runtime, waits):
            log.warning("%s", sentence)

    looking = asyncio.create_task(look())
    try:
        yield
    finally:
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)


def _state_of(engine: Engine, stores: StoreWatch) -> WorkerState:
    if not engine.is_worker:
        return "engine lost"
    return "ready" if stores.is_reachable else "store unreachable"


def _assign(engine: Engine, queues: tuple[str, ...], role: WorkerRole, drain_s: float) -> None:
    """Pass the options to an engine with queues.

    Raises:
        ToolgenError: queues or a role are set, and the engine has no queues.
    """
    if isinstance(engine, QueueEngine):
        engine.assign(queues=queues, role=role, drain_s=drain_s)
    elif queues or role != "all":
        raise ToolgenError(
            f"the engine {engine.name!r} has no task queues",
            hint="leave out --queue and --role; one worker executes all runs of a file",
        )


@contextmanager
def _on_signal(end: Callable[[], None]) -> Iterator[None]:
    """Call `end` at the first signal to end; the second one ends the process, whatever it does then."""
    loop = asyncio.get_running_loop()

    def first() -> None:
        for signal_ in _SIGNALS:
            loop.remove_signal_handler(signal_)
            signal.signal(signal_, signal.SIG_DFL)
        end()

    for signal_ in _SIGNALS:
        loop.add_signal_handler(signal_, first)
    try:
        yield
    finally:
        for signal_ in _SIGNALS:
            loop.remove_signal_handler(signal_)


class StoreWatch:
    """Checks the stores periodically, and stores the newest result."""

    def __init__(self, check: Callable[[], Awaitable[None]]) -> None:
        """Create a watch; `check` raises if a store cannot be used."""
        self._check = check
        self._problem = ""

    @property
    def is_reachable(self) -> bool:
        return not self._problem

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """Check once, then periodically inside the block."""
        await self._look()
        watching = asyncio.create_task(self._keep_looking(), name="checking stores")
        try:
            yield
        finally:
            watching.cancel()

    async def _keep_looking(self) -> None:
        while True:
            await asyncio.sleep(_CHECK_EVERY_S)
            await self._look()

    async def _look(self) -> None:
        before, (self._problem, error) = self._problem, await self._find_problem()
        if self._problem and self._problem != before:
            log.warning("a store cannot be used: %s", self._problem, exc_info=error)

    async def _find_problem(self) -> tuple[str, Exception | None]:
        """Return why a store cannot be used, with an unexpected exception; "" if all can be used."""
        try:
            async with asyncio.timeout(_CHECK_S):
                await self._check()
        except TimeoutError:
            return f"no answer within {_CHECK_S:g} seconds", None
        except ToolgenError as error:
            return error.message, None
        except Exception as error:  # noqa: BLE001 - a store that others wrote; it is the problem that is returned
            return type(error).__name__, error
        return "", None
