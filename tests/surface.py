"""The public surface by the syntax trees: the names of each public module, their parameters and members.

A default stands as `=`. A class has its fields first; what a property returns stands with it where no module
exports it, and so do bases at the end of their module.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import toolgen

ROOT = Path(toolgen.__file__).parent.parent
PAGE = ROOT / "docs/changing.md"
KEPT = Path(__file__).with_name("surface.txt")


@cache
def public_modules() -> tuple[str, ...]:
    """Return the modules that the documentation calls public, in its order."""
    return tuple(re.findall(r"^\| `(toolgen[\w.]*)` \|", PAGE.read_text("utf-8"), re.MULTILINE))


def surface() -> str:
    """Return the text of the kept list."""
    return "".join(f"{line}\n" for module in sorted(public_modules()) for line in _module_lines(module))


def exported(module: str) -> list[str]:
    """Return the names of a module's `__all__`; empty where it has none."""
    node = _statements(module).get("__all__")
    return list(ast.literal_eval(node.value)) if isinstance(node, ast.Assign) else []


def _module_lines(module: str) -> Iterator[str]:
    yield module
    bases = dict[str, tuple[str, ast.stmt]]()
    for name in exported(module):
        home, node = definition(module, name)
        yield from (f"    {line}" for line in _lines(name, home, node))
        bases |= _bases(home, node)
    for name, (home, node) in sorted(bases.items()):
        yield from (f"    {line}" for line in _lines(name, home, node))


def _bases(module: str, node: ast.stmt) -> dict[str, tuple[str, ast.stmt]]:
    """Return the bases of a class, and theirs, that are of toolgen and that no public module exports."""
    bases = dict[str, tuple[str, ast.stmt]]()
    for base in node.bases if isinstance(node, ast.ClassDef) else ():
        name = ast.unparse(base.value if isinstance(base, ast.Subscript) else base)
        if name in _statements(module):
            home, defined = definition(module, name)
            if isinstance(defined, ast.ClassDef) and (home, name) not in _exported_definitions():
                bases |= {name: (home, defined)} | _bases(home, defined)
    return bases


def _lines(name: str, module: str, node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.ClassDef():
            bases = ", ".join(ast.unparse(base) for base in node.bases)
            yield f"class {name}({bases})" if bases else f"class {name}"
            yield from (f"    {line}" for line in _members(module, node))
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield f"def {_signature(node)}"
        case _:
            yield name


def _members(module: str, node: ast.ClassDef) -> Iterator[str]:
    fields, methods = list[str](), list[str]()
    for member in node.body:
        match member:
            case ast.FunctionDef(name="__init__" | "__call__"):
                methods.append(_signature(member))
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if name[0] != "_":
                if {ast.unparse(one) for one in member.decorator_list} & {"property", "cached_property"}:
                    fields.append(name)
                    methods += _part(name, module, member.returns)
                else:
                    methods.append(_signature(member))
            case ast.AnnAssign(target=ast.Name(id=name)) if name[0] != "_":
                fields.append(f"{name}=" if member.value else name)
    if fields:
        yield ", ".join(fields)
    yield from methods


def _part(name: str, module: str, returned: ast.expr | None) -> Iterator[str]:
    """Yield the class of a property, such as `Runtime.tools`, where it has no other place in the list."""
    if isinstance(returned, ast.Name) and returned.id in _statements(module):
        home, node = definition(module, returned.id)
        if isinstance(node, ast.ClassDef) and (home, node.name) not in _exported_definitions():
            lines = _members(home, node)
            yield from (f"{name}.{line}" for line in lines if not line.startswith("__init__"))


@cache
def _exported_definitions() -> set[tuple[str, str]]:
    pairs = [(module, name) for module in public_modules() for name in exported(module)]
    return {(home, getattr(node, "name", "")) for home, node in (definition(*pair) for pair in pairs)}


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """Return the name of a function with its parameters, without annotations and the values of defaults."""
    arguments = node.args
    for parameter in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        parameter.annotation = None
    for variadic in filter(None, (arguments.vararg, arguments.kwarg)):
        variadic.annotation = None
    nothing = ast.Name("")
    arguments.defaults = [nothing for _ in arguments.defaults]
    arguments.kw_defaults = [value and nothing for value in arguments.kw_defaults]
    return re.sub(r"\((self|cls)(, /)?(, )?", "(", f"{node.name}({ast.unparse(arguments)})")


@cache
def _statements(module: str) -> dict[str, ast.stmt]:
    """Return the statements of a module by the name that each binds, also those for type checkers alone."""
    path = ROOT / Path(*module.split("."))
    is_package = path.is_dir()
    tree = ast.parse((path / "__init__.py" if is_package else path.with_suffix(".py")).read_text("utf-8"))
    bound: dict[str, ast.stmt] = {}
    for statement in tree.body:
        for node in statement.body if isinstance(statement, ast.If) else [statement]:
            bound |= _bound(module, is_package, node)
    return bound


def _bound(module: str, is_package: bool, node: ast.stmt) -> dict[str, ast.stmt]:
    match node:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return {name: node}
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return {name: node}
        case ast.ImportFrom(level=level):
            package = module.split(".")
            parents = package[: len(package) - level + is_package] if level else []
            node.module = ".".join([*parents, *filter(None, [node.module])])
            return {alias.asname or alias.name: node for alias in node.names}
        case _:
            return {}


def definition(module: str, name: str) -> tuple[str, ast.stmt]:
    """Return the module that defines a name, and the statement there."""
    node = _statements(module)[name]
    if isinstance(node, ast.ImportFrom) and str(node.module).startswith("toolgen"):
        original = next(alias.name for alias in node.names if (alias.asname or alias.name) == name)
        return definition(str(node.module), original)
    return module, node
