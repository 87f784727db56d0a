"""Lazy imports, so that a catalog of 1,000 tools imports quickly."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


class LazyModule:
    """Placeholder for a module that is imported at the first access to one of its names."""

    def __init__(self, name: str, package: str | None) -> None:
        self._import = (name, package)

    def __getattr__(self, name: str) -> object:
        value = getattr(import_module(*self._import), name)
        setattr(self, name, value)
        return value


def lazy_attribute(package: str, name: str, module: str | None) -> object:
    """Return a name that a package re-exports from one of its modules; `module` is None for unknown names.

    Raises:
        AttributeError: the package has no such name.
    """
    if module is None:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    value = getattr(import_module(module, package), name)
    setattr(sys.modules[package], name, value)
    return value


def lazy_exports(
    package: str, exports: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package that imports some names at their first use.

    Args:
        package: Its `__name__`.
        exports: The names that the package re-exports, by module, separated by spaces.
    """
    modules = {name: module for module, names in exports.items() for name in names.split()}

    def get(name: str) -> object:
        return lazy_attribute(package, name, modules.get(name))

    def names() -> list[str]:
        own = vars(sys.modules[package])
        return sorted({*own, *own["__all__"]})

    return get, names
