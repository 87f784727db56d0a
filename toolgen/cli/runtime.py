"""The runtime that a project configures, and the facts that its calls need."""

from __future__ import annotations

import inspect
from functools import reduce

from toolgen.cli.config import Project
from toolgen.cli.load import load_module
from toolgen.cli.python_errors import authors_code
from toolgen.contract.errors import ToolgenError
from toolgen.contract.names import CALL_META_NAMES
from toolgen.runtime import CallMeta, Runtime, UnknownToolError


async def load_runtime(project: Project) -> Runtime:
    """Return what the function that `runtime` of the settings names gives.

    Raises:
        ToolgenError: the settings name none, or it cannot be imported, fails, or gives something else.
    """
    if not project.runtime:
        raise ToolgenError(
            f"{project.file}: [tool.toolgen] names no runtime",
            hint='add runtime = "module:callable", a function that returns a configured Runtime',
        )
    module, _, name = project.runtime.partition(":")
    try:
        make: object = reduce(getattr, name.split("."), load_module(project, module, "runtime"))
    except AttributeError as error:
        raise ToolgenError(
            f"the module {module!r} has no name {name!r}", hint="correct 'runtime' in [tool.toolgen]"
        ) from error
    if not callable(make):
        raise ToolgenError(
            f"{project.runtime!r} is {make!r}, not a function", hint="correct 'runtime' in [tool.toolgen]"
        )
    with authors_code(f"{project.runtime!r} failed"):
        made = make()
        runtime = await made if inspect.isawaitable(made) else made
    if not isinstance(runtime, Runtime):
        raise ToolgenError(
            f"{project.runtime!r} gave {runtime!r}, not a Runtime",
            hint="make it a function that returns toolgen.runtime.Runtime",
        )
    return runtime


def require_facts(runtime: Runtime, tools: list[str], meta: CallMeta) -> None:
    """Check that `meta` holds every fact of the call that is injected into one of the tools.

    Raises:
        ToolgenError: names the options that are missing.
    """
    missing: dict[str, str] = {}
    for tool in tools:
        try:
            spec = runtime.tool_spec(tool)
        except UnknownToolError:
            continue  # the call itself says so
        for name in spec.injected:
            if name in CALL_META_NAMES and not getattr(meta, name):
                missing.setdefault(name, spec.name)
    if missing:
        options = " ".join(f"--{name.removesuffix('_id').replace('_', '-')} ID" for name in missing)
        needed = "; ".join(f"{tool} needs {name!r}" for name, tool in missing.items())
        raise ToolgenError(f"{needed}, which no option gives", hint=f"add {options}")
