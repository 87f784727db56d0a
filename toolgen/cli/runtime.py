"""The runtimes that a project configures, the facts that their calls need, and who executes their runs."""

from __future__ import annotations

import difflib
import inspect
import logging
import os
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
)
from functools import reduce
from typing import Any, Final

from toolgen.calls.steps.failures import Unimplemented
from toolgen.contract.errors import ToolgenError
from toolgen.contract.names import CALL_META_NAMES
from toolgen.findings import shown
from toolgen.runs import Engine
from toolgen.runtime import CallMeta, Runtime, ToolSpec, UnknownToolError

from .config import Project
from .load import load_module
from .python_errors import cause_of, user_code_errors

ELSEWHERE_S: Final = 30.0
"""How long a command waits for the process that executes the runs."""
NOT_OVER: Final = 3
"""Exit code of a command whose request is stored, where the run or the call is not over yet."""

DURABLE_HINT: Final = (
    'give it a file: Runtime(engine=InProcessEngine("runs.db")); where no runtime is named: runs = "runs.db"'
)


async def load_runtime(project: Project) -> Runtime:
    """Return the runtime of the function that `runtime` of the settings names, or one that needs no code.

    Raises:
        ToolgenError: the function cannot be imported, fails, or gives something else; or the settings name
            none, and a toolset needs code.
    """
    if not project.runtime:
        from .default_runtime import default_runtime  # with the design language, which is large

        return default_runtime(project)
    make = _function(project, "runtime", project.runtime)
    with user_code_errors(f"{project.runtime!r} failed"):
        made = make()
        made = await made if inspect.isawaitable(made) else made
    return _require_runtime(project.runtime, made)


def durable_engine(runtime: Runtime) -> Engine:
    """Return the engine of a runtime; its runs are visible to other processes.

    Raises:
        ToolgenError: its runs end with its process.
    """
    engine = runtime.engine
    if engine is None or not engine.caps.is_durable:
        raise ToolgenError("the configured runtime keeps no runs beyond its process", hint=DURABLE_HINT)
    return engine


@asynccontextmanager
async def open_test_runtime(project: Project) -> AsyncIterator[Runtime]:
    """Open a new runtime of the function that `test_runtime` of the settings names, and close it.

    The function may return a runtime, or a context manager that gives one and clears up behind it.

    Raises:
        ToolgenError: as `load_runtime`.
    """
    make = _function(project, "test_runtime", project.test_runtime)
    problem = f"{project.test_runtime!r} failed"
    async with AsyncExitStack() as stack:
        with user_code_errors(problem):
            made = make()
            made = await made if inspect.isawaitable(made) else made
            if isinstance(made, AbstractContextManager):
                made = stack.enter_context(made)
            elif isinstance(made, AbstractAsyncContextManager) and not isinstance(made, Runtime):
                made = await stack.enter_async_context(made)
            elif inspect.isgenerator(made) or inspect.isasyncgen(made):
                raise ToolgenError(
                    f"{project.test_runtime!r} gave a generator, not a Runtime",
                    hint="write @contextmanager above it, or @asynccontextmanager where it is async",
                )
            runtime = await stack.enter_async_context(_require_runtime(project.test_runtime, made))
        yield runtime
        with user_code_errors(problem):
            await stack.aclose()


def _function(project: Project, key: str, reference: str) -> Callable[[], Any]:
    """Return the function that a key of the settings names."""
    module, _, name = reference.partition(":")
    try:
        make: object = reduce(getattr, name.split("."), load_module(project, module, key))
    except AttributeError as error:
        callables = [other for other, value in inspect.getmembers_static(error.obj) if callable(value)]
        near = difflib.get_close_matches(name.rpartition(".")[2], callables, n=1, cutoff=0.75)
        hint = f"correct {key!r} in [tool.toolgen]"
        raise ToolgenError(
            f"the module {module!r} has no name {name!r}",
            hint=f"did you mean {near[0]!r}? {hint}" if near else hint,
        ) from error
    if not callable(make):
        raise ToolgenError(
            f"{reference!r} is {make!r}, not a function", hint=f"correct {key!r} in [tool.toolgen]"
        )
    return make


def _require_runtime(reference: str, made: object) -> Runtime:
    if not isinstance(made, Runtime):
        raise ToolgenError(
            f"{reference!r} gave {made!r}, not a Runtime",
            hint="make it a function that returns toolgen.runtime.Runtime",
        )
    return made


def specs_of(runtime: Runtime, tool: str) -> tuple[ToolSpec[Any, Any], ...]:
    """Return the spec of a tool; none where it is not registered, which the call itself reports."""
    try:
        return (runtime.tools.spec(tool),)
    except UnknownToolError:
        return ()


def require_meta(specs: Iterable[ToolSpec[Any, Any]], meta: CallMeta) -> None:
    """Check that `meta` holds every fact of the call that is injected into one of the tools.

    Raises:
        ToolgenError: names the options that are missing.
    """
    missing: dict[str, str] = {}
    for spec in specs:
        for name in spec.injected:
            if name in CALL_META_NAMES and not getattr(meta, name):
                missing.setdefault(name, spec.name)
    if missing:
        options = " ".join(f"--{name.removesuffix('_id').replace('_', '-')} ID" for name in missing)
        needed = "; ".join(f"{tool} needs {name!r}" for name, tool in missing.items())
        raise ToolgenError(f"{needed}, which no option gives", hint=f"add {options}")


@contextmanager
def _log_filter(keep: Callable[[logging.LogRecord], bool]) -> Iterator[None]:
    """Pass the records of the runtime's log through a filter, which returns whether to keep each."""
    logger = logging.getLogger("toolgen.runtime")
    logger.addFilter(keep)
    try:
        yield
    finally:
        logger.removeFilter(keep)


@contextmanager
def collect_logged_causes() -> Iterator[list[str]]:
    """Collect the exceptions of calls from the log, which still has them; results do not contain them."""
    causes: list[str] = []

    def collect(record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            causes.append(cause_of(error))
        return True

    with _log_filter(collect):
        yield causes


@contextmanager
def collect_unimplemented() -> Iterator[list[str]]:
    """Collect a line for each unimplemented method that is called, instead of its log record."""
    lines: list[str] = []

    def collect(record: logging.LogRecord) -> bool:
        missing: object = getattr(record, "unimplemented", None)
        if not isinstance(missing, Unimplemented):
            return True
        file = shown(missing.file, os.getcwd())
        lines.append(f"{file}:{missing.line}: {missing.method} is not implemented (tool {missing.tool})")
        return False

    with _log_filter(collect):
        yield lines


def waiting_elsewhere(engine: Engine) -> str:
    """Return what a command says before it waits for the process that executes the runs."""
    who = "workers execute" if engine.caps.has_many_workers else "another process executes"
    return f"{who} the runs; waiting at most {ELSEWHERE_S:g} seconds"


def not_over_elsewhere(engine: Engine) -> str:
    """Return what a command says when it has waited in vain; of many workers, nobody knows that one runs."""
    if engine.caps.has_many_workers:
        return "it is not over; see that a worker runs, and is ready: toolgen worker"
    return "it still goes on there"
