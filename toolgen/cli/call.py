"""`toolgen call`: one tool call through the runtime that the project configures."""

from __future__ import annotations

import inspect
import sys
from functools import reduce

from toolgen.cli.config import Project
from toolgen.cli.load import authors_code, load_module
from toolgen.contract.errors import ToolgenError
from toolgen.runtime import CallMeta, Runtime, ToolResult


async def call_tool(project: Project, tool: str, data: bytes, meta: CallMeta) -> int:
    """Print the JSON that the model would see; return 1 when the call failed."""
    runtime = await _runtime(project)
    result = await runtime.call(tool, data, meta)
    sys.stdout.write(result.json.decode() + "\n")
    if beside := _beside(result):
        print(beside, file=sys.stderr)
    return 0 if result.status == "ok" else 1


async def _runtime(project: Project) -> Runtime:
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


def _beside(result: ToolResult) -> str:
    """Return one line with the bounds and the artifacts, which the model's JSON does not show."""
    facts: list[str] = []
    if (bounds := result.bounds) is not None:
        total = "an unknown total" if bounds.total is None else bounds.total
        facts.append(f"bounds: {bounds.returned} of {total}{', truncated' if bounds.truncated else ''}")
    facts += [f"artifact: {artifact.kind}, {len(artifact.json)} bytes" for artifact in result.artifacts]
    return "; ".join(facts)
