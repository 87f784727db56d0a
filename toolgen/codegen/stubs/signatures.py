"""Compares the signature of an author's method with the design; in doubt they agree."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from toolgen.expr.tree import Tool

from .scopes import ModuleNames, dotted
from .user_classes import Function

_ANYTHING: Final = frozenset(["Any", "object", "Never", "NoReturn"])
_ASYNC, _SYNC = "ToolContext", "SyncToolContext"
"""What a method takes that is asynchronous, and one that is not."""
_TRANSPARENT: Final = frozenset(["final", "override"])
"""Decorators that leave a signature as it is written."""


def is_unimplemented(method: Function) -> bool:
    """Return whether the body only raises NotImplementedError; a docstring may stand before it."""
    body = method.body[1:] if ast.get_docstring(method, clean=False) is not None else method.body
    match body:
        case [ast.Raise(exc=ast.Call(func=ast.Name(id="NotImplementedError")))]:
            return True
        case [ast.Raise(exc=ast.Name(id="NotImplementedError"))]:
            return True
        case _:
            return False


def could_be_a_tool(method: Function, names: ModuleNames) -> bool:
    """Return whether a runtime could call the method as a tool: public, and of two arguments.

    One that is not asynchronous says so by its context; it may as well be any other method of the class.
    """
    if method.name.startswith("_") or not _takes_two(method.args):
        return False
    return isinstance(method, ast.AsyncFunctionDef) or _SYNC in _classes(_annotation(method, 2), names)


def is_changed(method: Function, tool: Tool, names: ModuleNames) -> bool:
    """Return whether the parameters or an annotation contradict the design.

    A method without annotations, with ones that are not looked through, or under a decorator that may
    change it is not judged.
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
    """Return whether the annotation names none of the wanted classes, nor anything that may hold them."""
    if annotation is None or not wanted:
        return False
    classes = _classes(annotation, names)
    return "" not in classes and not classes & {*wanted, *_ANYTHING}


def _classes(annotation: ast.expr | None, names: ModuleNames) -> set[str]:
    """Return the names of the classes that an annotation names; an empty one where they are not known."""
    if annotation is None:
        return set()
    return {path.rpartition(".")[2] for path in _named(annotation, names)}


def _named(annotation: ast.AST, names: ModuleNames) -> Iterator[str]:
    """Yield the dotted paths that an annotation names; an empty one where they are not known."""
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
