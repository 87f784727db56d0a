"""Imports the author's modules: the design, or the function that creates the runtime."""

from __future__ import annotations

import importlib
import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib.machinery import ModuleSpec
from importlib.util import cache_from_source
from traceback import walk_tb
from types import ModuleType
from typing import TYPE_CHECKING, Final

from toolgen.contract.errors import ToolgenError

from .config import Project
from .python_errors import user_code_errors

if TYPE_CHECKING:
    from toolgen.dsl import Design

_SECONDS: Final = 2.0
"""Precision of file times in seconds; bytecode stores whole seconds."""


def load_design(project: Project) -> Design:
    """Return the value `design` of the project's design module.

    Raises:
        ToolgenError: the settings name no design, the module cannot be imported, or its `design` is missing
            or not a `Design`.
    """
    if not project.design:
        raise ToolgenError(
            f"{project.file}: [tool.toolgen] has no design, only functions",
            hint="to create a design from the functions, run: toolgen import python MODULE",
        )
    from toolgen.dsl import Design  # not loaded by commands that only run tools

    before, newest = set(sys.modules), time.time() - _SECONDS
    try:
        module = load_module(project, project.design, "design")
    except ToolgenError as error:
        _remove_bytecode(_failed_files(error), newest)
        raise
    finally:
        _remove_bytecode(_files_of(sys.modules.keys() - before), newest)
    if not hasattr(module, "design"):
        raise ToolgenError(
            f"the module {project.design!r} does not define 'design'",
            hint="end it with design = Design(…), or correct 'design' in [tool.toolgen]",
        )
    design: object = module.design
    if not isinstance(design, Design):
        raise ToolgenError(
            f"'design' in the module {project.design!r} is {_a(type(design).__name__)}, not a Design",
            hint="write design = toolgen.dsl.Design(…)",
        )
    return design


def _remove_bytecode(files: Iterable[str], newest: float) -> None:
    """Remove the bytecode of files that were saved just now.

    If a file is saved twice within a second, Python would use the bytecode of the first version.
    """
    for file in files:
        with suppress(OSError, NotImplementedError):
            if os.stat(file).st_mtime > newest:
                os.unlink(cache_from_source(file))


def _files_of(modules: Iterable[str]) -> Iterator[str]:
    for name in modules:
        spec: object = getattr(sys.modules.get(name), "__spec__", None)
        if isinstance(spec, ModuleSpec) and spec.cached and spec.origin:
            yield spec.origin


def _failed_files(error: BaseException) -> Iterator[str]:
    """Yield the files in the tracebacks of an exception; `sys.modules` has no module that failed."""
    errors: list[BaseException] = [error]
    for each in errors:
        yield from (frame.f_code.co_filename for frame, _ in walk_tb(each.__traceback__))
        before = (each.__cause__, each.__context__)
        errors += [inner for inner in before if inner is not None and inner not in errors]


def load_module(project: Project, name: str, key: str) -> ModuleType:
    """Return the module in `key` of the settings; the project's directory is searched first.

    Raises:
        ToolgenError: it cannot be imported; the message contains the traceback through the author's code.
    """
    directory = str(project.directory)
    source = [str(project.directory / project.source_root)] if project.source_root else []
    if sys.path[: 1 + len(source)] != [directory, *source]:
        sys.path[:0] = [directory, *source]
    with user_code_errors(f"the module {name!r} cannot be imported"):
        try:
            return importlib.import_module(name)
        except (SyntaxError, ValueError) as error:
            if "null bytes" in str(error) and (file := _not_utf8(project, name)):
                raise ToolgenError(f"{file} is not UTF-8", hint="save it as UTF-8") from error
            raise
        except ImportError as error:
            if key != "design" and f"{error.name}.".startswith(f"{project.package}."):
                problem = f"{error.msg}, which is generated from the design {project.design!r}"
                raise ToolgenError(problem, hint="run: toolgen gen") from error
            if not isinstance(error, ModuleNotFoundError):
                raise
            if error.name is None or not f"{name}.".startswith(f"{error.name}."):
                raise
            hint = f"correct {key!r} in [tool.toolgen], or add the module"
            if name.endswith(".py"):
                hint = f'write {key} = "{name.removesuffix(".py")}" in [tool.toolgen]: a module, not a file'
            raise ToolgenError(
                f"the module {error.name!r} was not found in {directory}", hint=hint
            ) from error


def _not_utf8(project: Project, name: str) -> str:
    """Return the file of a module with null bytes, as in UTF-16, because Python does not name it."""
    for place in (f"{name.replace('.', '/')}.py", f"{name.replace('.', '/')}/__init__.py"):
        file = project.directory / place
        if file.is_file() and b"\0" in file.read_bytes():
            return str(project.display_path(place))
    return ""


def _a(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"
