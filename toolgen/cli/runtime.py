"""Opens the runtimes of a project, and checks the facts that their calls need."""

from __future__ import annotations

import difflib
import inspect
import logging
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    AsyncExitStack,
    aclosing,
    asynccontextmanager,
    contextmanager,
    redirect_stdout,
)
from functools import reduce
from typing import Final

from toolgen.catalog.reader import load_catalog
from toolgen.contract.errors import HINT, ToolgenError
from toolgen.contract.findings import shown
from toolgen.contract.logs import MethodFault
from toolgen.contract.names import CALL_META_NAMES, NOBODY_TO_ASK
from toolgen.contract.printable import visible
from toolgen.contract.secrets import scrubbed
from toolgen.engines import Engine
from toolgen.runtime import CallMeta, Runtime, Snapshot, ToolSpec, UnknownToolError
from toolgen.shapes.naming import module_name

from .config import Project
from .load import load_module
from .models import set_models
from .python_errors import cause_of, user_code_errors
from .sources import stale_code

ELSEWHERE_S: Final = 30.0
"""Seconds for which a command waits for the process that executes the runs."""
SERVER_THRESHOLD: Final = (100_000, 40)
"""Thresholds of the garbage collector in a server: some 10 MB of new objects between two collections.

The function of `runtime` can set other ones.
"""
NOT_OVER: Final = 3
"""Exit code of a command whose request is stored, but whose run or call has not ended yet."""

DURABLE_HINT: Final = (
    'keep the runs in a file: Runtime(engine=InProcessEngine("runs.db")), '
    'or runs = "runs.db" if [tool.toolgen] has no runtime'
)
UNANSWERABLE: Final = (
    "it cannot be answered: the configured runtime does not keep runs after its process ends\n"
    f"  hint: {DURABLE_HINT}"
)
"""Text for a suspended call of a runtime that is not durable."""


@asynccontextmanager
async def project_runtime(project: Project, *, is_strict: bool = False) -> AsyncIterator[Runtime]:
    """Yield the runtime of the function in the setting `runtime`, or a default one that needs no code.

    The runtime is not opened. The function returns a runtime, or a context manager that yields one and that
    is exited when the command no longer needs the runtime. If the generated code is older than the design, a
    warning is printed.

    Raises:
        ToolgenError: the function cannot be imported, fails, or returns another value; or the settings name
            none, and a toolset needs code; or the generated code is older and `is_strict` is set.
    """
    if problem := stale_code(project):
        if is_strict:
            raise ToolgenError(problem, hint="run: toolgen gen")
        print(f"warning: {problem}; run: toolgen gen", file=sys.stderr)
    if not project.runtime:
        from .default_runtime import default_runtime  # imports the design language, which is large

        async with default_runtime(project) as runtime:
            yield runtime
        return
    async with _made_runtime(project, "runtime", project.runtime) as runtime:
        if runtime.assembly.toolsets.managers.is_open:
            raise ToolgenError(
                f"{project.runtime!r} returned a runtime that is already open",
                hint="return it without opening it: each command opens and closes it itself",
            )
        set_models(project, runtime)
        yield runtime


@asynccontextmanager
async def open_engine(project: Project, *, checks: bool = False) -> AsyncIterator[tuple[Runtime, Engine]]:
    """Open the runtime as a client, and yield it with its engine; `checks` as in `runs.run_as_client`.

    Raises:
        ToolgenError: as `project_runtime`, or its runs end with its process, so other ones cannot see them.
    """
    async with project_runtime(project) as runtime:
        engine = durable_engine(runtime)
        runtime.runs.run_as_client(checks=checks)
        async with runtime:
            yield runtime, engine


@asynccontextmanager
async def opened_for(runtime: Runtime, tool: str | None) -> AsyncIterator[Snapshot | None]:
    """Open the runtime if a dynamic toolset has to list the tool, or any tool for None, and close it.

    Yield the tools that it offers now. Yield None without opening it if the tool is registered, so that an
    unavailable server does not stop a command about a tool of another one.

    Raises:
        SnapshotError: a toolset cannot list its tools.
    """
    is_listed = runtime.tools.may_change and (tool is None or not specs_of(runtime, tool))
    with redirect_stdout(sys.stderr):
        async with runtime if is_listed else aclosing(runtime):
            yield await runtime.tools.snapshot() if is_listed else None


def durable_engine(runtime: Runtime) -> Engine:
    """Return the engine of a runtime; its runs are visible to other processes.

    Raises:
        ToolgenError: its runs end with its process.
    """
    engine = runtime.engine
    if engine is None or not is_durable(runtime):
        raise ToolgenError(
            "the configured runtime does not keep runs after its process ends", hint=DURABLE_HINT
        )
    return engine


def is_durable(runtime: Runtime) -> bool:
    """Return whether other processes can see the runs of a runtime, even after this process has ended."""
    return runtime.engine is not None and runtime.engine.caps.is_durable


def denial_hint(runtime: Runtime, tool: str, error: str) -> str:
    """Return a hint if a call failed because nobody could be asked; "" for other errors."""
    is_for_want_of_it = error.endswith(NOBODY_TO_ASK) and runtime.assembly.lacks_engine_for(tool)
    return f"  hint: {DURABLE_HINT}" if is_for_want_of_it else ""


@asynccontextmanager
async def open_test_runtime(project: Project) -> AsyncIterator[Runtime]:
    """Open a new runtime from the function in the setting `test_runtime`, and close it.

    Raises:
        ToolgenError: as `project_runtime`.
    """
    async with _made_runtime(project, "test_runtime", project.test_runtime) as runtime, runtime:
        yield runtime


@asynccontextmanager
async def _made_runtime(project: Project, key: str, reference: str) -> AsyncIterator[Runtime]:
    """Yield the runtime of a function in the settings, and exit its context manager at the end."""
    make = _function(project, key, reference)
    stack = AsyncExitStack()
    try:
        with user_code_errors(f"{reference!r} failed"):
            made = make()
            made = await made if inspect.isawaitable(made) else made
            if isinstance(made, AbstractContextManager):
                made = stack.enter_context(made)
            elif isinstance(made, AbstractAsyncContextManager) and not isinstance(made, Runtime):
                made = await stack.enter_async_context(made)
            elif inspect.isgenerator(made) or inspect.isasyncgen(made):
                raise ToolgenError(
                    f"{reference!r} returned a generator, not a Runtime",
                    hint="decorate it with @contextmanager, or with @asynccontextmanager if it is async",
                )
        yield _require_runtime(reference, made)
    finally:
        with user_code_errors(f"{reference!r} failed"):
            await stack.aclose()


def _function(project: Project, key: str, reference: str) -> Callable[[], object]:
    """Return the function that a key of the settings names."""
    module, _, name = reference.partition(":")
    try:
        make: object = reduce(getattr, name.split("."), load_module(project, module, key))
    except AttributeError as error:
        callables = [other for other, value in inspect.getmembers_static(error.obj) if callable(value)]
        near = difflib.get_close_matches(name.rpartition(".")[2], callables, n=1, cutoff=0.75)
        hint = f"correct {key!r} in [tool.toolgen]"
        raise ToolgenError(
            f"the module {module!r} does not define {name!r}",
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
            f"{reference!r} returned {made!r}, not a Runtime",
            hint="make it a function that returns a Runtime, or a context manager that yields one",
        )
    return made


def specs_of(runtime: Runtime, tool: str, within: Snapshot | None = None) -> tuple[ToolSpec, ...]:
    """Return the spec of a tool; empty if it is not offered, which the call itself reports."""
    if within is not None:
        registered = within.directory.by_name.get(tool)
        return () if registered is None else (registered.spec,)
    try:
        return (runtime.tools.spec(tool),)
    except UnknownToolError:
        return ()


def unregistered_hint(project: Project, tool: str) -> str:
    """Return how to register a tool that only the design has; "" for other tools."""
    if not project.runtime or not project.catalog.is_file():
        return ""
    try:
        ids = [str(entry["id"]) for entry in load_catalog(project.catalog).tools]
    except (OSError, ValueError, LookupError, TypeError):  # a broken catalog, which other commands report
        return ""
    id_ = next((each for each in ids if tool in (each, each.rpartition(".")[2])), "")
    if not id_:
        return ""
    toolset = id_.rpartition(".")[0]
    name = module_name(toolset.rpartition(".")[2])
    return (
        f"  hint: the design has {id_!r}, but the runtime of {project.runtime!r} does not register its "
        f"toolset; add there: runtime.tools.register({name}.registration(…))"
    )


def require_meta(specs: Iterable[ToolSpec], meta: CallMeta) -> None:
    """Check that `meta` has every fact of the call that is injected into one of the tools.

    Raises:
        ToolgenError: facts are missing; the message names their options.
    """
    missing: dict[str, str] = {}
    for spec in specs:
        for name in spec.injected:
            if name in CALL_META_NAMES and not getattr(meta, name):
                missing.setdefault(name, spec.name)
    if missing:
        options = " ".join(f"--{name.removesuffix('_id').replace('_', '-')} ID" for name in missing)
        needed = "; ".join(f"{tool} needs {name!r}" for name, tool in missing.items())
        raise ToolgenError(f"{needed}, which no option sets", hint=f"add {options}")


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
    """Collect the exceptions of calls from the log, because results do not contain them."""
    causes: list[str] = []

    def collect(record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            causes.append(cause_of(error))
        return True

    with _log_filter(collect):
        yield causes


@contextmanager
def collect_method_faults() -> Iterator[list[str]]:
    """Collect a line for each method that is a stub or returned a wrong value, instead of its log record."""
    lines: list[str] = []

    def collect(record: logging.LogRecord) -> bool:
        fault: object = getattr(record, "method_fault", None)
        if not isinstance(fault, MethodFault):
            return True
        line = visible(fault.text(shown(fault.file, os.getcwd())))
        lines.append(scrubbed(f"{line}{HINT}{visible(fault.hint)}" if fault.hint else line))
        return False

    with _log_filter(collect):
        yield lines


def wait_message(engine: Engine) -> str:
    """Return the message of a command before it waits for the process that executes the runs."""
    who = "workers execute" if engine.caps.has_many_workers else "another process executes"
    return f"{who} the runs; waiting at most {ELSEWHERE_S:g} seconds"


def not_over_message(engine: Engine) -> str:
    """Return the message of a command whose wait timed out; with many workers, none might be running."""
    if engine.caps.has_many_workers:
        return "it has not ended; check that a worker is running: toolgen worker"
    return "it is still running there"
