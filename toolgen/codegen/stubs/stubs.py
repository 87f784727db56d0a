"""Executor stubs: their paths, their differences from the design, and the methods to add.

It works on bytes only. The author's code never changes: methods are added at the end of a class.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import field
from pathlib import PurePosixPath
from typing import Literal

from toolgen.contract.record import frozen_record
from toolgen.dsl.expr.tree import Tool, Toolset
from toolgen.shapes.naming import method_name, module_name

from .. import names
from ..layout import toolset_path
from ..views.stub import StubMethodView, method_lines, stub_method
from .scopes import ModuleNames, Spelling, dotted, has_lazy_annotations, module_names
from .source_edit import Insertion, StubSource, UnreadableSourceError, append, apply, class_end, read_source
from .user_classes import (
    UserExecutor,
    could_be_a_tool,
    find_executors,
    functions,
    is_changed,
    is_unimplemented,
)

State = Literal["implemented", "unimplemented", "missing", "changed", "orphaned"]


@frozen_record
class Status:
    """The state of an executor or of one of its methods, compared with the design."""

    line: int
    state: State
    text: str


@frozen_record
class Stub:
    """An author's file, compared with the design."""

    data: bytes
    statuses: tuple[Status, ...] = ()
    """Statuses by line."""
    insertions: tuple[Insertion, ...] = ()
    """Code to insert, by line."""
    lacks: tuple[str, ...] = ()
    """Imports that the insertions need and the file lacks."""

    @property
    def updated(self) -> bytes:
        """The file with its missing methods added."""
        return apply(self.data, self.insertions)

    @property
    def added_lines(self) -> frozenset[int]:
        """Numbers of the lines in `updated` that the author did not write."""
        lines: set[int] = set()
        for insertion in self.insertions:
            start = insertion.line + len(lines)
            lines.update(range(start, start + insertion.count))
        return frozenset(lines)


def stub_path(service: str, toolset: str) -> PurePosixPath:
    """Return the path of a toolset's stub in the stub folder, from the names in the design."""
    return PurePosixPath(module_name(service), f"{module_name(toolset)}.py")


def read_stub(data: bytes, toolset: Toolset, package: str) -> Stub:
    """Return the state of the file; `package` is the import path of the generated tree."""
    try:
        return _stub(read_source(data), toolset, package)
    except UnreadableSourceError as error:
        line, text = error.line, f"cannot be parsed: {error}; correct it and run: toolgen gen"
    except RecursionError:  # the tree is too deep for recursive functions
        line, text = 1, "is nested too deeply; split its longest expression"
    return Stub(data=data, statuses=(Status(line=line, state="missing", text=text),))


def _stub(source: StubSource, toolset: Toolset, package: str) -> Stub:
    imported = module_names(source.tree)
    executors = find_executors(source.tree, imported, toolset, package)
    insertions = _Insertions(source=source, names=imported, toolset=toolset, package=package)
    statuses = [] if executors else list(_without_class(toolset))
    for executor in executors:
        statuses += _missing(executor, toolset, insertions)
        statuses += _defined(executor, toolset, insertions)
    return Stub(
        data=source.data,
        statuses=tuple(sorted(dict.fromkeys(statuses), key=lambda status: status.line)),
        insertions=tuple(insertions.made),
        lacks=tuple(insertions.lacks),
    )


def _without_class(toolset: Toolset) -> Iterator[Status]:
    if not all(tool.binding for tool in toolset.tools):
        base = f"{module_name(toolset.name)}.{names.executor(toolset)}"
        text = f"no class derives from {base}; derive one, or delete the file and run: toolgen gen"
        yield Status(line=1, state="missing", text=text)


def _missing(executor: UserExecutor, toolset: Toolset, insertions: _Insertions) -> Iterator[Status]:
    """Yield the missing methods of the class, and collect the methods that can be inserted."""
    plain, bound = names.executor(toolset), names.bound_executor(toolset)
    line, name = executor.node.lineno, executor.node.name
    if executor.is_bound and not any(tool.binding for tool in toolset.tools):
        text = f"class {name} derives from {bound}, but no tool of it is bound; derive it from {plain}"
        yield Status(line=line, state="missing", text=text)
        return
    open_tools = [
        tool
        for tool in toolset.tools
        if method_name(tool.name) not in executor.defined and not (tool.binding and executor.is_bound)
    ]
    missing = [tool for tool in open_tools if not tool.binding and not executor.hidden]
    fix = insertions.add(executor, missing) if missing else ""
    for tool in open_tools:
        method = method_name(tool.name)
        text = f"class {name} has no method {method!r} (tool {tool.id})"
        if executor.hidden:
            base = executor.hidden[0]
            text += f", and its base {base} is not in this file; add it, or {method} = {base}.{method}"
        elif tool.binding:
            text += f"; derive the class from {bound}, or add the method"
        else:
            text += f"; {fix}"
        yield Status(line=line, state="missing", text=text)


def _defined(executor: UserExecutor, toolset: Toolset, insertions: _Insertions) -> Iterator[Status]:
    """Yield the states of the methods of tools, and the methods that belong to no tool."""
    tools = {method_name(tool.name): tool for tool in toolset.tools}
    for node in dict.fromkeys((*executor.own_bases, *executor.subclasses)):
        for method in functions(node.body):
            name, line, tool = f"{node.name}.{method.name}", method.lineno, tools.get(method.name)
            if tool is not None:
                is_open = is_unimplemented(method)
                text = f"{name} is {'not ' if is_open else ''}implemented (tool {tool.id})"
                yield Status(line=line, state="unimplemented" if is_open else "implemented", text=text)
                if is_changed(method, tool, insertions.names):
                    declared = insertions.signature(tool, executor)
                    text = f"{name} does not match the design, which declares: {declared}"
                    yield Status(line=line, state="changed", text=text)
            elif (
                executor.is_sole
                and node not in executor.own_bases[1:]
                and could_be_a_tool(method, insertions.names)
            ):
                text = (
                    f"{name} belongs to no tool: the design has no tool {method.name!r}; if you renamed the "
                    "tool, move the body to its new method, otherwise delete it, or start its name with '_'"
                )
                yield Status(line=line, state="orphaned", text=text)


def find_orphans(data: bytes, toolsets: Collection[str], package: str) -> Iterator[Status]:
    """Yield each class of a file that derives from the executor of a removed toolset.

    `toolsets` has the import paths of the existing toolsets, `package` the path of the generated tree.
    """
    try:
        tree = read_source(data).tree
        imported = module_names(tree)
        classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    except (UnreadableSourceError, RecursionError):
        return  # files that cannot be parsed are not reported here
    for node in classes:
        for base in node.bases:
            for path in sorted(imported.resolve(base)):
                toolset = path.rpartition(".")[0].removesuffix(".executor")
                if _is_toolset(toolset, package) and toolset not in toolsets:
                    finding = f"class {node.name} derives from {dotted(base)}, which the design does not have"
                    text = f"{finding}; move what you need, and delete the file"
                    yield Status(line=node.lineno, state="orphaned", text=text)


def _is_toolset(path: str, package: str) -> bool:
    """Return whether an import path belongs to a generated toolset: `gen.assistant.toolsets.devices`."""
    inside = path.removeprefix(f"{package}.").split(".")
    return path.startswith(f"{package}.") and len(inside) == 3 and inside[1] == "toolsets"


@frozen_record
class _Insertions:
    """Collects the additions to one file."""

    source: StubSource
    names: ModuleNames
    toolset: Toolset
    package: str
    """Import path of the generated tree."""
    made: list[Insertion] = field(default_factory=list)
    lacks: dict[str, None] = field(default_factory=dict)
    """Imports that the methods need and the file lacks."""

    @property
    def module(self) -> str:
        """Import path of the toolset's package."""
        return toolset_path(self.toolset, self.package)

    def add(self, executor: UserExecutor, tools: Sequence[Tool]) -> str:
        """Collect the methods of the tools, and return a hint that tells how to add them to the file."""
        end = class_end(self.source, executor.node)
        if end is None:
            return "put the body of the class on separate lines and run: toolgen gen"
        taken = executor.taken.union(method_name(tool.name) for tool in tools)
        lacks: dict[str, None] = {}
        views = [self._view(tool, executor, taken, lacks) for tool in tools]
        methods = {view.name: method_lines(view, end.indent, end.step) for view in views}
        insertion = append(self.source, end, methods)
        if insertion is None:
            return f"no unambiguous place after line {end.line}; write the method there yourself"
        self.made.append(insertion)
        self.lacks.update(lacks)
        return "run: toolgen gen"

    def signature(self, tool: Tool, executor: UserExecutor) -> str:
        """Return the signature that the design declares for a tool's method."""
        return self._view(tool, executor, executor.taken, {}, never_quoted=True).signature

    def _view(
        self,
        tool: Tool,
        executor: UserExecutor,
        taken: frozenset[str],
        lacks: dict[str, None],
        *,
        never_quoted: bool = False,
    ) -> StubMethodView:
        is_sure = never_quoted or has_lazy_annotations(self.source.tree)

        def spell(path: str) -> Spelling:
            spelling = self.names.spell(path, line=executor.node.lineno, taken=taken)
            if spelling is not None:
                return Spelling(text=spelling.text, is_sure=is_sure or spelling.is_sure)
            text = self._by_package_of_base(path, executor) or self._as_if_imported(path, taken, lacks)
            return Spelling(text=text, is_sure=is_sure)

        return stub_method(tool, self.toolset, self.package, spell)

    def _by_package_of_base(self, path: str, executor: UserExecutor) -> str:
        """Return the path through the module that the author uses for the base class; "" if there is none."""
        module, _, name = path.rpartition(".")
        package = dotted(executor.base).rpartition(".")[0]
        is_package = package and package.rpartition(".")[2] != "executor"
        return f"{package}.{name}" if is_package and module == self.module else ""

    def _as_if_imported(self, path: str, taken: frozenset[str], lacks: dict[str, None]) -> str:
        """Return the path as written after an import, and record that import as missing."""
        module, _, name = path.rpartition(".")
        parent, _, last = module.rpartition(".")
        origin, first, text = (
            (parent, last, f"{last}.{name}") if module == self.module else (module, name, name)
        )
        if first in self.names.local | {imported.root for imported in self.names.imports} | taken:
            lacks[f"import {module}"] = None
            return path
        lacks[f"from {origin} import {first}"] = None
        return text
