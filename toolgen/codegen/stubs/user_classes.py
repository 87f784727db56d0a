"""The executor classes of an author's file: their bases, and the methods of both."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from toolgen.expr.tree import Toolset

from .. import names
from ..layout import toolset_path
from .scopes import ModuleNames, bound_names, dotted

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

_EMPTY: Final = frozenset(["ABC", "Generic", "Protocol", "object"])
"""Bases that define no tool's method."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserExecutor:
    """A class of the file that derives from the generated executor without another class between."""

    node: ast.ClassDef
    base: ast.expr
    """The generated executor, as the author writes it."""
    is_bound: bool
    own_bases: tuple[ast.ClassDef, ...]
    """The class, then its bases in the file."""
    subclasses: tuple[ast.ClassDef, ...]
    """Classes of the file that derive from it."""
    defined: frozenset[str]
    """Methods defined by the class, by its bases in the file, or by each of its heirs."""
    hidden: tuple[str, ...]
    """Bases that the file does not show."""
    is_sole: bool
    """It serves this toolset and nothing else."""
    taken: frozenset[str]
    """Names in the scopes between the module and the methods."""


def find_executors(
    tree: ast.Module, imported: ModuleNames, toolset: Toolset, package: str
) -> list[UserExecutor]:
    """Return the executors of the toolset, in the order in which they end, an inner one first.

    `package` is the import path of the generated tree.
    """
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    bases = _Bases(nodes, imported, toolset, package)
    families = {node: tuple(bases.family(node)) for node in nodes}
    taken = dict(_taken(tree.body, frozenset()))
    return [
        _executor(node, derived, families, bases, taken[node])
        for node in sorted(nodes, key=lambda node: (node.end_lineno or 0, -node.lineno))
        if (derived := next((base for base in node.bases if bases.kind(base) in ("plain", "bound")), None))
    ]


def functions(nodes: Iterable[ast.AST]) -> Iterator[Function]:
    """Yield the functions of a class's own scope, those under conditions too."""
    for node in nodes:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield node
            case ast.ClassDef() | ast.expr():
                pass
            case _:
                yield from functions(ast.iter_child_nodes(node))


class _Bases:
    """Classifies the base classes of the file's classes."""

    def __init__(
        self, nodes: Iterable[ast.ClassDef], imported: ModuleNames, toolset: Toolset, package: str
    ) -> None:
        self._classes: dict[str, list[ast.ClassDef]] = {}
        for node in nodes:
            self._classes.setdefault(node.name, []).append(node)
        self._imported = imported
        self._toolset = toolset
        self._package = package

    def kind(self, base: ast.expr) -> Literal["plain", "bound", "other", "own", "empty", "hidden"]:
        """Return the kind of a base: the toolset's executor, plain or bound, another generated class,
        a class of the file, one without methods, or nothing that is known.
        """
        chain = dotted(_unsubscripted(base))
        if chain in self._classes:
            return "own"
        module = toolset_path(self._toolset, self._package)
        for path in sorted(self._imported.resolve(_unsubscripted(base))) or [chain]:
            origin, _, name = path.rpartition(".")
            if origin.startswith(f"{self._package}.") and origin.removesuffix(".executor") != module:
                return "other"
            if name in (names.executor(self._toolset), names.bound_executor(self._toolset)):
                return "bound" if name == names.bound_executor(self._toolset) else "plain"
        return "empty" if chain.rpartition(".")[2] in _EMPTY else "hidden"

    def family(
        self, node: ast.ClassDef, seen: frozenset[ast.ClassDef] = frozenset()
    ) -> Iterator[ast.ClassDef]:
        """Yield the class and its bases in the file; one may come twice."""
        yield node
        for base in node.bases:
            for parent in self._classes.get(dotted(_unsubscripted(base)), ()):
                if parent not in seen | {node}:
                    yield from self.family(parent, seen | {node})


def _executor(
    node: ast.ClassDef,
    base: ast.expr,
    families: dict[ast.ClassDef, tuple[ast.ClassDef, ...]],
    bases: _Bases,
    taken: frozenset[str],
) -> UserExecutor:
    family = families[node]
    heirs = tuple(heir for heir, line in families.items() if node in line[1:])
    kinds = [(base, bases.kind(base)) for parent in family for base in parent.bases]
    by_heirs = [_defined(families[heir]) for heir in heirs]
    return UserExecutor(
        node=node,
        base=_unsubscripted(base),
        is_bound=any(kind == "bound" for _, kind in kinds),
        own_bases=family,
        subclasses=heirs,
        defined=_defined(family) | (frozenset.intersection(*by_heirs) if by_heirs else frozenset()),
        hidden=tuple(ast.unparse(base) for base, kind in kinds if kind == "hidden"),
        is_sole=all(kind not in ("other", "hidden") for _, kind in kinds),
        taken=taken,
    )


def _defined(family: Iterable[ast.ClassDef]) -> frozenset[str]:
    return frozenset(name for node in family for name in bound_names(node.body))


def _taken(nodes: Iterable[ast.AST], outer: frozenset[str]) -> Iterator[tuple[ast.ClassDef, frozenset[str]]]:
    """Yield every class with the names that its own scope and those around it bind, the module's left out."""
    for node in nodes:
        inner = outer
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            inner |= set(bound_names(node.body))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            inner |= {argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)}
        if isinstance(node, ast.ClassDef):
            yield node, inner
        yield from _taken(ast.iter_child_nodes(node), inner)


def _unsubscripted(expression: ast.expr) -> ast.expr:
    return expression.value if isinstance(expression, ast.Subscript) else expression
