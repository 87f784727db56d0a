"""The functions that `toolgen import python` reads: of a module or a file, all or one."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

from toolgen.contract.errors import ToolgenError

from .python_errors import user_code_errors

_HINT = "name them as module, module:function, path/file.py or path/file.py:function"


def find_functions(source: str) -> tuple[ModuleType, list[Callable[..., object]]]:
    """Return the module and the functions that a source names.

    A source is `module` or `path/file.py`, and with `:function` one function of it. Without, these are the
    public ones that the module defines, in their order; `__all__` counts.

    Raises:
        ToolgenError: the module does not import, or there is no such function in it.
    """
    place, name = _parts(source)
    is_file = place.endswith(".py") or os.sep in place
    with user_code_errors(f"{place} does not import"):
        module = _module_of_file(Path(place)) if is_file else _module(place)
    if name:
        return module, [_function(module, place, name)]
    functions = list(_functions(module))
    if not functions:
        raise ToolgenError(f"{place} defines no public function", hint=_HINT)
    return module, functions


def _parts(source: str) -> tuple[str, str]:
    """Return the path and the function of a source; a colon after the letter of a drive is no separator."""
    place, colon, name = source.rpartition(":")
    is_function = bool(colon) and all(part.isidentifier() for part in name.split("."))
    return (place, name) if is_function else (source, "")


def _module(name: str) -> ModuleType:
    if not all(part.isidentifier() for part in name.split(".")):
        raise ToolgenError(f"{name!r} is not a dotted module name", hint=_HINT)
    _add_path(Path.cwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        raise ToolgenError(f"there is no module {error.name!r}", hint=_HINT) from error


def _module_of_file(file: Path) -> ModuleType:
    """Return the module of a file, imported under the name that its package gives it."""
    if not file.is_file():
        raise ToolgenError(f"there is no file {file}", hint=_HINT)
    file = file.resolve()
    names, folder = [file.stem], file.parent
    while (folder / "__init__.py").is_file():
        names.insert(0, folder.name)
        folder = folder.parent
    _add_path(folder)
    name = ".".join(names)
    if (imported := sys.modules.get(name)) is not None and getattr(imported, "__file__", None) == str(file):
        return imported
    while name in sys.modules:
        name += "_"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ToolgenError(f"{file} is not a file of Python", hint=_HINT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where dataclasses and pydantic look names up
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _add_path(folder: Path) -> None:
    if sys.path[:1] != [str(folder)]:
        sys.path.insert(0, str(folder))


def _function(module: ModuleType, place: str, name: str) -> Callable[..., object]:
    value: object = module
    for part in name.split("."):
        value = getattr(value, part, None)
    if not inspect.isroutine(value):
        what = "has no" if value is None else f"has {type(value).__name__} where it should have the"
        names = ", ".join(function.__name__ for function in _functions(module)) or "none"
        raise ToolgenError(f"{place} {what} function {name!r}", hint=f"its functions are {names}")
    return value


def _functions(module: ModuleType) -> Iterator[Callable[..., object]]:
    listed = getattr(module, "__all__", None)
    for name, value in vars(module).items():
        is_own = inspect.isfunction(value) and value.__module__ == module.__name__
        is_public = name in listed if isinstance(listed, (list, tuple)) else not name.startswith("_")
        if is_own and is_public and value.__name__ == name:
            yield value
