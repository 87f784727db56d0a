"""The executor classes of an author's file: their bases, and the methods of both, compared with the design.

If a signature cannot be judged, it counts as matching the design.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Final, Literal, TypeAlias

from toolgen.contract.record import frozen_record
from toolgen.dsl.expr.tree import Tool, Toolset

from .. import names
from ..layout import toolset_path
from .scopes import ModuleNames, bound_names, dotted

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

_EMPTY: Final = frozenset(["ABC", "Generic", "Protocol", "object"])
"""Bases that define no tool methods."""
_ANYTHING: Final = frozenset(["Any", "object", "Never", "NoReturn"])
_ASYNC, _SYNC = "ToolContext", "SyncToolContext"
"""Context types of asynchronous and synchronous methods."""
_TRANSPARENT: Final = frozenset(["final", "override"])
"""Decorators that do not change a signature."""


@frozen_record
class UserExecutor:
    """A class of the file that derives directly from the generated executor."""

    node: ast.ClassDef
    base: ast.expr
    """The generated executor, as the author writes it."""
    is_bound: bool
    own_bases: tuple[ast.ClassDef, ...]
    """The class, then its bases in the file."""
    subclasses: tuple[ast.ClassDef, ...]
    """Classes of the file that derive from it."""
    defined: frozenset[str]
    """Methods defined by the class, by its bases in the file, or by each of its subclasses."""
    hidden: tuple[str, ...]
    """Bases that are neither in the file nor known."""
    is_sole: bool
    """Whether it implements only this toolset."""
    taken: frozenset[str]
    """Names bound in the scopes between the module and the methods."""


def find_executors(
    tree: ast.Module, imported: ModuleNames, toolset: Toolset, package: str
) -> list[UserExecutor]:
    """Return the executors of the toolset, sorted by their last line, inner classes first.

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
    """Yield the functions of a class's own scope, including functions under conditions."""
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
        """Return the kind of a base class.

        `plain` and `bound` are the toolset's executors, `other` is another generated class, `own` a class of
        the file, `empty` a base without methods, and `hidden` an unknown base.
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
        """Yield the class and its bases in the file; a base can occur twice."""
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
    """Yield every class with the names bound in its scope and in enclosing scopes, except the module."""
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


def is_unimplemented(method: Function) -> bool:
    """Return whether the body only raises NotImplementedError, possibly after a docstring."""
    body = method.body[1:] if ast.get_docstring(method, clean=False) is not None else method.body
    match body:
        case [ast.Raise(exc=ast.Call(func=ast.Name(id="NotImplementedError")))]:
            return True
        case [ast.Raise(exc=ast.Name(id="NotImplementedError"))]:
            return True
        case _:
            return False


def could_be_a_tool(method: Function, names: ModuleNames) -> bool:
    """Return whether a runtime could call the method as a tool: it is public and takes two arguments.

    A synchronous method needs a synchronous context too; otherwise it could be any other method.
    """
    if method.name.startswith("_") or not _takes_two(method.args):
        return False
    return isinstance(method, ast.AsyncFunctionDef) or _SYNC in _classes(_annotation(method, 2), names)


def is_changed(method: Function, tool: Tool, names: ModuleNames) -> bool:
    """Return whether the parameters or an annotation contradict the design.

    Missing annotations and annotations that cannot be resolved do not count as changes. A method under a
    decorator that might change its signature is never reported.
    """
    decorators = {dotted(decorator).rpartition(".")[2] for decorator in method.decorator_list}
    if not decorators <= _TRANSPARENT:
        return False
    if not _takes_two(method.args):
        return True
    own, other = (_SYNC, _ASYNC) if isinstance(method, ast.FunctionDef) else (_ASYNC, _SYNC)
    contexts = _classes(_annotation(method, 2), names)
    late = ("LongRunningReturn", "Pending") if tool.long_running else ()
    outcome = late or (("ToolReturn", "ToolOutcome") if tool.artifacts else ())
    return (
        (other in contexts and own not in contexts)
        or _contradicts(_annotation(method, 1), names, tool.payload.name)
        or _contradicts(method.returns, names, tool.result.name, *late[1:])
        or _contradicts(method.returns, names, *outcome)
    )


def _annotation(method: Function, place: int) -> ast.expr | None:
    positional = [*method.args.posonlyargs, *method.args.args]
    return positional[place].annotation if len(positional) > place else None


def _takes_two(arguments: ast.arguments) -> bool:
    """Return whether the method accepts two arguments after `self`."""
    positional = len(arguments.posonlyargs) + len(arguments.args)
    is_enough = positional >= 3 or arguments.vararg is not None
    is_filled = all(default is not None for default in arguments.kw_defaults)
    return is_enough and is_filled and positional - len(arguments.defaults) <= 3


def _contradicts(annotation: ast.expr | None, names: ModuleNames, *wanted: str) -> bool:
    """Return whether the annotation names neither a wanted class nor a type that might include one."""
    if annotation is None or not wanted:
        return False
    classes = _classes(annotation, names)
    return "" not in classes and not classes & {*wanted, *_ANYTHING}


def _classes(annotation: ast.expr | None, names: ModuleNames) -> set[str]:
    """Return the class names in an annotation; an empty name stands for an unknown class."""
    if annotation is None:
        return set()
    return {path.rpartition(".")[2] for path in _named(annotation, names)}


def _named(annotation: ast.AST, names: ModuleNames) -> Iterator[str]:
    """Yield the dotted paths in an annotation; an empty path stands for an unknown class."""
    match annotation:
        case ast.Name() | ast.Attribute():
            yield from names.resolve(annotation) or {""}
        case ast.Constant(value=str(text)):
            try:
                yield from _named(ast.parse(text.strip(), mode="eval").body, names)
            except (SyntaxError, ValueError):
                yield ""
        case _:
            for child in ast.iter_child_nodes(annotation):
                yield from _named(child, names)
