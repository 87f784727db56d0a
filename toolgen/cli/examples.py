"""`toolgen test`: the examples of the design, run through the runtime that the project configures."""

from __future__ import annotations

import difflib
import json
import os
import sys
from collections.abc import Iterator

from toolgen.cli.config import Project
from toolgen.cli.load import load_design
from toolgen.cli.runtime import load_runtime, require_facts
from toolgen.cli.terminal import has_colours
from toolgen.contract.errors import ToolgenError
from toolgen.contract.printable import printable_lines
from toolgen.dsl import build
from toolgen.expr import render
from toolgen.expr.tree import Design, Example, Tool
from toolgen.runtime import CallMeta, Runtime, ToolValidationError


async def run_examples(project: Project, meta: CallMeta, only: str) -> int:
    """Run the examples in the order of the design, those of one tool if `only` names it.

    Print each that fails with the difference; return 1 when one does.
    """
    evaluation = build(load_design(project))
    if evaluation.design is None:
        text = render(evaluation.diagnostics, "text", os.getcwd(), has_colours(sys.stderr))
        print(text, file=sys.stderr)
        return 1
    tools = _tools(evaluation.design, only)
    runtime = await load_runtime(project)
    require_facts(runtime, [tool.id for tool in tools if tool.examples], meta)
    failures = 0
    for tool in tools:
        for number, example in enumerate(tool.examples, 1):
            if problem := await _problem(runtime, tool, example, meta):
                failures += 1
                arguments = json.dumps(example.args, ensure_ascii=False)
                text = f"{tool.id}, example {number}: {arguments}\n{problem}\n"
                print(printable_lines(text), flush=True)
    print(_summary(sum(len(tool.examples) for tool in tools), failures), file=sys.stderr)
    return 1 if failures else 0


def _tools(design: Design, name: str) -> list[Tool]:
    """Return all tools, or those of this id or name.

    Raises:
        ToolgenError: no tool has it.
    """
    tools = [tool for service in design.services for toolset in service.toolsets for tool in toolset.tools]
    found = [tool for tool in tools if name in ("", tool.id, tool.name)]
    if not found and name:
        known = [known for tool in tools for known in (tool.name, tool.id)]
        near = difflib.get_close_matches(name, known, n=1)
        raise ToolgenError(
            f"the design has no tool {name!r}",
            hint=f"did you mean {near[0]!r}?" if near else "leave --tool out to run all examples",
        )
    return found


async def _problem(runtime: Runtime, tool: Tool, example: Example, meta: CallMeta) -> str:
    """Return what is wrong with the result of the example; empty when nothing is.

    Raises:
        ToolgenError: the generated code does not know the example's result.
    """
    result = await runtime.call(tool.id, example.args, meta)
    if result.status in ("suspended", "pending"):
        waits = f"waits: {result.suspension.kind}" if result.suspension else "waits"
        return "" if example.result is None else f"{waits}, so it has no result to compare"
    if result.status != "ok":
        return f"failed: {_pretty(result.json)}"
    if example.result is None:
        return ""
    codec = runtime.tool_spec(tool.id).result
    try:
        expected = codec.encode(codec.decode(json.dumps(example.result)))
    except ToolValidationError as error:
        raise ToolgenError(
            f"an example of {tool.id} does not fit the generated code: {error}", hint="run: toolgen gen"
        ) from error
    return "\n".join(_difference(_pretty(expected), _pretty(result.json)))


def _pretty(document: bytes) -> str:
    return json.dumps(json.loads(document), indent=2, ensure_ascii=False, sort_keys=True)


def _difference(expected: str, returned: str) -> Iterator[str]:
    return difflib.unified_diff(
        expected.splitlines(), returned.splitlines(), "expected", "returned", lineterm=""
    )


def _summary(count: int, failures: int) -> str:
    if not count:
        return "no examples; add Example(…) to a tool"
    examples = f"{count} example{'s' if count > 1 else ''}"
    return f"{examples}: {failures} failed" if failures else f"{examples} passed"
