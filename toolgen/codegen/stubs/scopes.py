"""Resolves names in an author's module from its syntax tree, without importing it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from toolgen.contract.record import frozen_record


@frozen_record
class Imported:
    """One import of the module's own scope."""

    spelling: str
    """Spelling in the module: `docs`, or `gen.x.toolsets.documents` after a plain import."""
    target: str
    """Dotted path; a relative one starts with its dots."""
    line: int
    is_top: bool
    """Whether it always runs when the module is imported; not the case under an `if` or a `try`."""

    @property
    def root(self) -> str:
        return self.spelling.partition(".")[0]


@frozen_record
class Spelling:
    """The expression for a dotted path in a module."""

    text: str
    is_sure: bool
    """Whether evaluating it cannot fail while the module is being imported."""


@frozen_record
class ModuleNames:
    imports: tuple[Imported, ...]
    local: frozenset[str]
    """Names that are bound by something other than an import, even if an import binds them too."""
    has_star: bool

    def resolve(self, expression: ast.expr) -> set[str]:
        """Return the dotted paths that a name or its attribute can refer to; empty if unknown."""
        chain = dotted(expression)
        root, _, _ = chain.partition(".")
        if not chain or root in self.local:
            return set()
        targets = {
            imported.target + chain.removeprefix(imported.spelling)
            for imported in self.imports
            if f"{chain}.".startswith(f"{imported.spelling}.")
        }
        return targets or {chain}

    def spell(self, path: str, *, line: int, taken: Iterable[str]) -> Spelling | None:
        """Return the expression for a path at a line, a sure one if possible; None if no import leads there.

        `taken` has the names that are bound in the scopes between the module and the code.
        """
        spellings = [
            Spelling(
                text=imported.spelling + rest, is_sure=self._is_sure(imported, rest, line, frozenset(taken))
            )
            for imported in self.imports
            if f"{path}.".startswith(f"{imported.target}.")
            for rest in [path.removeprefix(imported.target)]
        ]
        return next(
            (spelling for spelling in spellings if spelling.is_sure), spellings[0] if spellings else None
        )

    def _is_sure(self, imported: Imported, rest: str, line: int, taken: frozenset[str]) -> bool:
        targets = {other.target for other in self.imports if other.spelling == imported.spelling}
        roots = {"." in other.spelling for other in self.imports if other.root == imported.root}
        return (
            imported.is_top
            and imported.line < line
            and rest.count(".") <= 1  # a submodule might not be loaded
            and len(targets) == len(roots) == 1
            and not self.has_star
            and imported.root not in self.local | taken
            and not imported.root.startswith("__")  # mangled inside a class
        )


def module_names(tree: ast.Module) -> ModuleNames:
    imports = [imported for top in tree.body for imported in _imports(top, top)]
    own = set(bound_names(tree.body, imports=False))
    own.update(name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names)
    return ModuleNames(
        imports=tuple(imported for imported in imports if imported.spelling != "*"),
        local=frozenset(own),
        has_star=any(imported.spelling == "*" for imported in imports),
    )


def has_lazy_annotations(tree: ast.Module) -> bool:
    """Return whether the module's annotations are never evaluated (PEP 563)."""
    return any(
        isinstance(node, ast.ImportFrom)
        and node.module == "__future__"
        and any(alias.name == "annotations" for alias in node.names)
        for node in tree.body
    )


def dotted(expression: ast.expr) -> str:
    """Return `a.b.c` for a name or for attributes of a name; "" for other expressions."""
    match expression:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=name):
            start = dotted(value)
            return f"{start}.{name}" if start else ""
        case _:
            return ""


def bound_names(nodes: Iterable[ast.AST], *, imports: bool = True) -> Iterator[str]:
    """Yield the names that code binds in its own scope, including names in comprehensions."""
    for node in nodes:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
                continue
            case ast.Lambda() | ast.AnnAssign(value=None):
                continue
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name
            case ast.Import(names=names) | ast.ImportFrom(names=names) if imports:
                yield from (alias.asname or alias.name.partition(".")[0] for alias in names)
            case (
                ast.ExceptHandler(name=str(name))
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
            ):
                yield name
            case ast.MatchMapping(rest=str(name)):
                yield name
            case _:
                pass
        yield from bound_names(ast.iter_child_nodes(node), imports=imports)


def _imports(node: ast.AST, top: ast.stmt) -> Iterator[Imported]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Lambda():
            return
        case ast.Import(names=names):
            for alias in names:
                yield Imported(
                    spelling=alias.asname or alias.name,
                    target=alias.name,
                    line=node.lineno,
                    is_top=node is top,
                )
        case ast.ImportFrom(module=module, names=names, level=level):
            start = "." * level + (f"{module}." if module else "")
            for alias in names:
                yield Imported(
                    spelling=alias.asname or alias.name,
                    target=start + alias.name,
                    line=node.lineno,
                    is_top=node is top,
                )
        case _:
            for child in ast.iter_child_nodes(node):
                yield from _imports(child, top)
