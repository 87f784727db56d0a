"""The functions that `toolgen import python` reads and projects serve: from a module, a file or an object."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Final, TypeGuard

from toolgen.contract.errors import ToolgenError
from toolgen.contract.record import frozen_record
from toolgen.shapes.naming import snake

from .python_errors import user_code_errors
from .trust import require_trusted

_HINT: Final = "name them as module, module:function, module:object, path/file.py or path/file.py:function"


@frozen_record
class FoundFunctions:
    """The functions in a source."""

    module: ModuleType
    owner: str
    """Path of the object in the module whose methods these are; "" for functions of the module."""
    described: object
    """The object or the module, whose docstring describes them all."""
    functions: Mapping[str, Callable[..., object]]
    """The functions, by their names in the module or in the object."""
    is_importable: bool = True
    """Whether Python can import the module by name from the folder or the installed packages."""

    @property
    def name(self) -> str:
        """The last part of the path of the object or the module."""
        return (self.owner or self.module.__name__).rpartition(".")[2]

    def target(self, name: str) -> str:
        """Return `package.module:function` for one of the functions."""
        return f"{self.module.__name__}:{self.owner}{'.' if self.owner else ''}{name}"


def find_functions(source: str, folder: Path | None = None) -> FoundFunctions:
    """Return the functions in a source; modules are searched in the folder first.

    A source is `module` or `path/file.py`. The suffix `:function` selects one function, `:object` the public
    methods of an object, and `:Class` the public methods of a class that need no instance. Without a suffix,
    it has the public functions that the module defines, in order; names in `__all__` can be imported ones.

    Raises:
        ToolgenError: the module cannot be imported or has no such function, or a relative path leads to a
            file of another user.
    """
    place, name = _parts(source)
    is_file = place.endswith(".py") or os.sep in place
    folder = (folder or Path.cwd()).resolve()
    is_importable = True
    if is_file and not os.path.isabs(place):
        require_trusted(folder / place)
    with user_code_errors(f"{place} cannot be imported"):
        if is_file:
            module, is_importable = _module_of_file((folder / place).resolve(), folder)
        else:
            module = _module(place, folder)
    if name:
        return replace(_named(module, place, name), is_importable=is_importable)
    functions = dict(_functions(module))
    if not functions:
        raise ToolgenError(f"{place} defines no public function", hint=_HINT)
    return FoundFunctions(
        module=module,
        owner="",
        described=module,
        functions=functions,
        is_importable=is_importable,
    )


def _parts(source: str) -> tuple[str, str]:
    """Return the path and the function of a source; the colon after a drive letter is not a separator."""
    place, colon, name = source.rpartition(":")
    is_function = bool(colon) and all(part.isidentifier() for part in name.split("."))
    return (place, name) if is_function else (source, "")


def _module(name: str, folder: Path) -> ModuleType:
    if not all(part.isidentifier() for part in name.split(".")):
        raise ToolgenError(f"{name!r} is not a dotted module name", hint=_HINT)
    _add_path(folder)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        raise ToolgenError(f"the module {error.name!r} was not found", hint=_HINT) from error


def _module_of_file(file: Path, folder: Path) -> tuple[ModuleType, bool]:
    """Return the module of a file, and whether Python can import it by the name that it has here.

    The name comes from its packages, or from its path below the folder.
    """
    if not file.is_file():
        raise ToolgenError(f"the file {os.path.relpath(file)} does not exist", hint=_HINT)
    names, root = [file.stem], file.parent
    while (root / "__init__.py").is_file():
        names.insert(0, root.name)
        root = root.parent
    name, below = (
        ".".join(names),
        file.with_suffix("").relative_to(folder).parts if folder in file.parents else (),
    )
    is_importable = _is_found(name, file, folder)
    if (
        not is_importable
        and all(part.isidentifier() for part in below)
        and _is_found(".".join(below), file, folder)
    ):
        name, is_importable = ".".join(below), True
    _add_path(folder)
    _add_path(root)
    if (imported := sys.modules.get(name)) is not None and getattr(imported, "__file__", None) == str(file):
        return imported, is_importable
    while name in sys.modules:
        name, is_importable = f"{name}_", False
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ToolgenError(f"{file} is not a Python file", hint=_HINT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pydantic look up names there
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module, is_importable


def _is_found(name: str, file: Path, folder: Path) -> bool:
    """Return whether Python finds a file by the name of a module, from a folder; nothing is imported."""
    path, spec = [str(folder), *sys.path], None
    for part in name.split("."):
        spec = PathFinder.find_spec(part, path)
        if spec is None:
            return False
        path = list(spec.submodule_search_locations or ())
    return spec is not None and spec.origin == str(file)


def _add_path(folder: Path) -> None:
    if sys.path[:1] != [str(folder)]:
        sys.path.insert(0, str(folder))


def _named(module: ModuleType, place: str, path: str) -> FoundFunctions:
    """Return the function, or the methods of the object, at a path in a module.

    Raises:
        ToolgenError: there is no such function or object.
    """
    owner, _, name = path.rpartition(".")
    holder: object = module
    for part in owner.split(".") if owner else ():
        holder = getattr(holder, part, None)
    value = getattr(holder, name, None)
    if _is_function(value):
        functions = {name: value}
        return FoundFunctions(module=module, owner=owner, described=holder, functions=functions)
    if isinstance(value, type):
        methods = _methods_of_class(value, f"{module.__name__}:{path}")
        return FoundFunctions(module=module, owner=path, described=value, functions=methods)
    is_object = value is not None and not isinstance(value, ModuleType)
    if is_object and (methods := dict(_methods(value))):
        return FoundFunctions(module=module, owner=path, described=value, functions=methods)
    if is_object and callable(value):
        return FoundFunctions(module=module, owner=owner, described=holder, functions={name: value})
    names = ", ".join(name for name, _ in _functions(module)) or "none"
    of_type = "" if value is None else f": it is of type {type(value).__name__}"
    raise ToolgenError(f"{place} has no function {path!r}{of_type}", hint=f"its functions are {names}")


def _methods_of_class(class_: type, place: str) -> dict[str, Callable[..., object]]:
    """Return the public methods of a class if all can be called without an instance.

    Raises:
        ToolgenError: a method needs an instance, or there are no methods.
    """
    methods = dict(_methods(class_, class_))
    bound = (staticmethod, classmethod)
    needing = [name for name in methods if not isinstance(inspect.getattr_static(class_, name), bound)]
    if methods and not needing:
        return methods
    module, _, path = place.rpartition(":")
    name = snake(class_.__name__)
    what = f"its method {needing[0]!r} needs" if needing else "its methods need"
    raise ToolgenError(
        f"{place} is a class, and {what} an instance",
        hint=f"write {name} = {path}(…) in the module, and use {module}:{name}",
    )


def _functions(module: ModuleType) -> Iterator[tuple[str, Callable[..., object]]]:
    """Yield the public functions of a module."""
    listed = getattr(module, "__all__", None)
    names = listed if isinstance(listed, (list, tuple)) else None
    for name, value in vars(module).items():
        is_public = name in names if names is not None else not name.startswith("_")
        if is_public and _is_written(value) and (names is not None or _is_own(module, name, value)):
            yield name, value


def _is_own(module: ModuleType, name: str, value: Callable[..., object]) -> bool:
    """Return whether a module defines a function, and under this name."""
    if isinstance(value, partial):
        return True
    return value.__module__ == module.__name__ and value.__name__ == name


def _is_function(value: object) -> TypeGuard[Callable[..., object]]:
    """Return whether a value is a function or a method, including functions written in C."""
    return inspect.isroutine(value) or _is_written(value)


def _is_written(value: object) -> TypeGuard[Callable[..., object]]:
    """Return whether a value is a function written in Python: plain, partial or wrapped."""
    is_wrapped = callable(value) and hasattr(value, "__wrapped__") and not isinstance(value, type)
    return is_wrapped or inspect.isfunction(value) or isinstance(value, partial)


def _methods(owner: object, class_: type | None = None) -> Iterator[tuple[str, Callable[..., object]]]:
    """Yield the public methods of an object or a class, in the order of its MRO."""
    class_ = class_ or type(owner)
    names = dict.fromkeys(name for base in class_.__mro__[:-1] for name in vars(base))
    for name in names:
        attribute = inspect.getattr_static(class_, name)
        is_method = isinstance(attribute, (staticmethod, classmethod)) or _is_written(attribute)
        if is_method and not name.startswith("_"):
            yield name, getattr(owner, name)
