"""The methods to add to an author's file, written with the names that the file imports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from toolgen.expr.tree import Tool, Toolset
from toolgen.shapes.naming import method_name

from ..layout import toolset_path
from ..views.stub import StubMethodView, method_lines, stub_method
from .scopes import ModuleNames, Spelling, dotted, has_lazy_annotations
from .source_edit import Insertion, Source, append, class_end
from .user_classes import UserExecutor


@dataclass(frozen=True, slots=True, kw_only=True)
class Insertions:
    """Collects the additions to one file."""

    source: Source
    names: ModuleNames
    toolset: Toolset
    package: str
    """Import path of the generated tree."""
    made: list[Insertion] = field(default_factory=list)
    lacks: dict[str, None] = field(default_factory=dict)
    """Imports that the methods name and the file does not have."""

    @property
    def module(self) -> str:
        """Import path of the toolset's package."""
        return toolset_path(self.toolset, self.package)

    def add(self, executor: UserExecutor, tools: Sequence[Tool]) -> str:
        """Collect the methods of the tools, and return the hint how they get into the file."""
        end = class_end(self.source, executor.node)
        if end is None:
            return "give the body of the class lines of its own and run: toolgen gen"
        taken = executor.taken.union(method_name(tool.name) for tool in tools)
        lacks: dict[str, None] = {}
        views = [self._view(tool, executor, taken, lacks) for tool in tools]
        methods = {view.name: method_lines(view, end.indent, end.step) for view in views}
        insertion = append(self.source, end, methods)
        if insertion is None:
            return f"no place after line {end.line} is sure; write the method there"
        self.made.append(insertion)
        self.lacks.update(lacks)
        return "run: toolgen gen"

    def signature(self, tool: Tool, executor: UserExecutor) -> str:
        """Return the signature that the design gives to a tool's method."""
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
        """Return the path by the module from which the author takes the base class; "" if there is none."""
        module, _, name = path.rpartition(".")
        package = dotted(executor.base).rpartition(".")[0]
        is_package = package and package.rpartition(".")[2] != "executor"
        return f"{package}.{name}" if is_package and module == self.module else ""

    def _as_if_imported(self, path: str, taken: frozenset[str], lacks: dict[str, None]) -> str:
        """Return the path as it would be after an import, and record that import as missing."""
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
