"""Executor stubs: where they lie, and what an author's copy does not implement yet. Reads texts only."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import PurePosixPath

from toolgen.contract.naming import class_name, method_name, module_name
from toolgen.expr.tree import Toolset


def stub_path(toolset: Toolset) -> PurePosixPath:
    """Return the place of the toolset's stub inside the folder of stubs."""
    return PurePosixPath(module_name(toolset.service), f"{module_name(toolset.name)}.py")


def unimplemented(text: str | bytes, file: str, toolset: Toolset) -> list[str]:
    """Return `file:line: …` for each tool that an executor class of the file has no method for.

    A class with a base that the file does not show is left out: the methods may stand there.
    """
    try:
        module = ast.parse(text)
    except SyntaxError as error:
        return [f"{file}:{error.lineno}: does not parse: {error.msg}"]
    classes = {node.name: node for node in ast.walk(module) if isinstance(node, ast.ClassDef)}
    every = class_name(toolset.name, "executor")
    bound = class_name("bound", toolset.name, "executor")
    found: list[str] = []
    for node in classes.values():
        bases = set(_bases(node, classes))
        if not bases & {every, bound} or not bases <= {every, bound, *classes}:
            continue
        methods = {name for base in (node.name, *bases) if base in classes for name in _names(classes[base])}
        found += [
            f"{file}:{node.lineno}: class {node.name} has no method {method!r} (tool {tool.id})"
            for tool in toolset.tools
            if (method := method_name(tool.name)) not in methods and not (bound in bases and tool.binding)
        ]
    return found


def _bases(
    node: ast.ClassDef, classes: dict[str, ast.ClassDef], seen: frozenset[str] = frozenset()
) -> Iterator[str]:
    """Yield the last names of all bases, those of bases in the same file included."""
    for base in node.bases:
        name = ast.unparse(base).split("[")[0].rpartition(".")[2]
        yield name
        if name in classes and name not in seen:
            yield from _bases(classes[name], classes, seen | {name})


def _names(node: ast.ClassDef) -> Iterator[str]:
    for statement in node.body:
        match statement:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.Assign(targets=targets):
                yield from (target.id for target in targets if isinstance(target, ast.Name))
            case _:
                pass
