"""`toolgen test`: runs the examples of the design on runtimes for tests.

Without such a runtime, only read-only tools are executed; examples of other tools are only validated.
"""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, redirect_stdout
from typing import Any, Final

from toolgen.calls.codec import Codec
from toolgen.calls.errors import FormatError
from toolgen.codegen.layout import toolset_path
from toolgen.contract.errors import ToolgenError
from toolgen.contract.findings import NOWHERE, Code, Finding, Format
from toolgen.contract.json_value import compact
from toolgen.contract.printable import visible, visible_lines
from toolgen.contract.record import frozen_record
from toolgen.dsl import build
from toolgen.dsl.expr.tree import Design, Example, Tool, Toolset
from toolgen.runtime import CallMeta, Runtime, ToolResult, ToolSpec, ToolValidationError
from toolgen.runtime.public_views import hiding_arguments, shown_document

from .config import Project
from .load import load_design, load_module
from .outcome import FoundError, print_outcome, print_output, render_diagnostics, reported
from .problem_codes import EXAMPLE_FAILED, EXAMPLE_NOT_RUN
from .runtime import (
    collect_logged_causes,
    collect_method_faults,
    open_test_runtime,
    project_runtime,
    require_meta,
)

_SETTING: Final = (
    'set test_runtime = "module:function" in [tool.toolgen], a function that returns a Runtime made for tests'
)


@frozen_record
class _Case:
    """One example; `not_run` is the reason why it is not run, otherwise ""."""

    tool: Tool
    spec: ToolSpec
    number: int
    example: Example
    not_run: str

    @property
    def name(self) -> str:
        return f"{self.tool.id}, example {self.number}"


async def run_examples(project: Project, meta: CallMeta, only: str, format: Format = "text") -> int:
    """Run the examples in the order of the design; with `only`, the examples of that tool.

    Print each failed example with the difference; return 1 if one failed.

    Raises:
        ToolgenError: no tool is called `only`, a runtime is missing or unusable, or an example does not fit
            the generated code.
    """
    evaluation = build(load_design(project))
    if evaluation.design is None:
        return print_outcome(
            reported(evaluation.diagnostics, format, code=1, summary="the design has errors")
        )
    cases = list(_cases(project, evaluation.design, only))
    require_meta([case.spec for case in cases if not case.not_run], meta)
    failures = 0
    async with AsyncExitStack() as stack:
        runtimes = _Runtimes(project, stack)
        for case in cases:
            if case.not_run:
                _check(case)
                _show_not_run(case, format)
                continue
            async with runtimes.open() as runtime:
                problem = await _problem(runtime, case, meta, is_live=runtimes.are_live)
            if problem:
                failures += 1
                _show_failure(case, problem, format)
    not_run = sum(bool(case.not_run) for case in cases)
    print(_summary(len(cases), failures, not_run), file=sys.stderr)
    return 1 if failures else 0


class _Runtimes:
    """Opens a runtime for each example: a new one for tests, or the project's own for all of them."""

    def __init__(self, project: Project, stack: AsyncExitStack) -> None:
        self._project = project
        self._stack = stack
        self._last: Runtime | None = None
        self.are_live = not project.test_runtime

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Runtime]:
        if self.are_live:
            yield await self._live()
            return
        async with open_test_runtime(self._project) as runtime:
            if runtime is self._last:
                raise ToolgenError(
                    f"{self._project.test_runtime!r} returned the same runtime twice",
                    hint="create a new runtime in each call, so that examples do not affect each other",
                )
            self._last = runtime
            yield runtime

    async def _live(self) -> Runtime:
        """Return the project's own runtime, which is closed after the last example."""
        if self._last is None:
            self._last = await self._stack.enter_async_context(project_runtime(self._project))
            await self._stack.enter_async_context(aclosing(self._last))
        return self._last


def _cases(project: Project, design: Design, only: str) -> Iterator[_Case]:
    """Yield the examples of all tools, or of the tools with this id or name.

    Raises:
        ToolgenError: no tool has this id or name, or the generated code lacks a tool.
    """
    tools = [
        (toolset, tool)
        for service in design.services
        for toolset in service.toolsets
        for tool in toolset.tools
    ]
    chosen = [(toolset, tool) for toolset, tool in tools if only in ("", tool.id, tool.name)]
    if not chosen and only:
        names = [names for _, tool in tools for names in (tool.name, tool.id)]
        near = difflib.get_close_matches(only, names, n=1)
        raise ToolgenError(
            f"the design has no tool {only!r}",
            hint=f"did you mean {near[0]!r}?" if near else "leave --tool out to run all examples",
        )
    for toolset, tool in chosen:
        if tool.examples:
            spec = _spec(project, toolset, tool)
            not_run = "" if project.test_runtime else _not_run(toolset, tool)
            for number, example in enumerate(tool.examples, 1):
                yield _Case(tool=tool, spec=spec, number=number, example=example, not_run=not_run)


def _not_run(toolset: Toolset, tool: Tool) -> str:
    """Return the reason why a tool must not be executed on live data; "" if it only reads."""
    if toolset.exporter:
        return f"it starts a run of {toolset.exporter}"
    if not tool.facts.annotations.get("read_only"):
        return "it may write: only tools with Annotations(read_only=True) are run"
    if tool.confirmation or tool.long_running:
        return "it waits for an answer"
    return ""


def _spec(project: Project, toolset: Toolset, tool: Tool) -> ToolSpec:
    name = f"{toolset_path(toolset, project.package)}.specs"
    try:
        specs: tuple[ToolSpec, ...] = load_module(project, name, "package").SPECS
    except (FoundError, FormatError):
        raise
    except ToolgenError as error:
        raise ToolgenError(f"no generated code for {tool.id}", hint="run: toolgen gen") from error
    for spec in specs:
        if spec.id == tool.id:
            return spec
    raise ToolgenError(f"the generated code has no tool {tool.id!r}", hint="run: toolgen gen")


def _check(case: _Case) -> None:
    """Validate an example that is not run against the generated code."""
    _decoded(case, case.spec.payload, case.example.args)
    if case.example.result is not None:
        _decoded(case, case.spec.result, case.example.result)


def _decoded(case: _Case, codec: Codec, value: object) -> Any:
    try:
        return codec.decode_null_as_absent(json.dumps(value))
    except ToolValidationError as error:
        raise ToolgenError(
            f"an example of {case.tool.id} does not fit the generated code: {error}", hint="run: toolgen gen"
        ) from error


async def _problem(runtime: Runtime, case: _Case, meta: CallMeta, *, is_live: bool) -> str:
    """Return the problem with the result of the example; "" if there is none.

    Raises:
        ToolgenError: the example's result does not match the generated code.
    """
    expected = case.example.result
    with (
        collect_method_faults() as faults,
        collect_logged_causes() as causes,
        redirect_stdout(sys.stderr),
    ):
        result = await runtime.call(case.tool.id, case.example.args, meta)
    if result.suspension is not None and is_live:  # a policy of the project requires an answer
        await runtime.suspensions.cancel(result.suspension.token, "an example of the design")
    if result.status in ("suspended", "pending"):
        waits = f"waits: {result.suspension.kind}" if result.suspension else "waits"
        compared = "so there is no result to compare; leave the result out of the example"
        return "" if expected is None else f"{waits}, {compared}"
    if faults:
        return "\n".join(faults)
    if result.status != "ok":
        return "\n".join([f"failed: {_pretty(_shown(result, case))}", *causes])
    if expected is None:
        return ""
    document = case.spec.result.encode(_decoded(case, case.spec.result, expected))
    if _pretty(document) == _pretty(result.json):
        return ""
    wanted = compact(case.spec.result.public(json.loads(document))).encode()
    difference = _difference(_pretty(wanted), _pretty(_shown(result, case)))
    return "\n".join(difference) or "a sensitive value differs from the expected one"


def _shown(result: ToolResult, case: _Case) -> bytes:
    """Return the printed form of a result, without sensitive values of it or of the example's arguments."""
    with hiding_arguments(json.dumps(case.example.args).encode(), case.spec):
        return shown_document(result, case.spec)


def _pretty(document: bytes) -> str:
    return json.dumps(json.loads(document), indent=2, ensure_ascii=False, sort_keys=True)


def _difference(expected: str, returned: str) -> Iterator[str]:
    return difflib.unified_diff(
        expected.splitlines(), returned.splitlines(), "expected", "returned", lineterm=""
    )


def _show_failure(case: _Case, problem: str, format: Format) -> None:
    if format == "text":
        arguments = json.dumps(case.example.args, ensure_ascii=False)
        print_output(visible_lines(f"{case.name}: {arguments}\n{problem}\n"))
    else:
        print_output(render_diagnostics([_finding(case, EXAMPLE_FAILED, problem)], format))


def _show_not_run(case: _Case, format: Format) -> None:
    if format == "text":
        print(visible(f"{case.name}: not run: {case.not_run}"), file=sys.stderr)
    else:
        finding = _finding(case, EXAMPLE_NOT_RUN, f"not run: {case.not_run}", hint=_SETTING)
        print_output(render_diagnostics([finding], format))


def _finding(case: _Case, code: Code, message: str, hint: str = "") -> Finding:
    source = case.example.source
    place = NOWHERE if source is None else source.located()
    return code.finding(f"{case.name}: {message}", place=place, hint=hint)


def _summary(count: int, failures: int, not_run: int) -> str:
    if not count:
        return "no examples; add d.Example(…) to a tool"
    examples = f"{count} example{'s' if count > 1 else ''}"
    if not failures and not not_run:
        return f"{examples} passed"
    passed = count - failures - not_run
    parts = [f"{failures} failed"] if failures else [f"{passed} passed"] if passed else []
    parts += [f"{not_run} not run"] if not_run else []
    summary = f"{examples}: {', '.join(parts)}"
    return f"{summary}\n  hint: {_SETTING}" if not_run else summary
