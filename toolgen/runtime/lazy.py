"""Imports that wait until somebody needs them, so that a catalogue of 1,000 tools imports in no time."""

from __future__ import annotations

import sys
from importlib import import_module


class LazyModule:
    """Stands for a module that is imported at the first access to one of its names."""

    def __init__(self, name: str, package: str | None) -> None:
        self._import = (name, package)

    def __getattr__(self, name: str) -> object:
        value = getattr(import_module(*self._import), name)
        setattr(self, name, value)
        return value


def lazy_attribute(package: str, name: str, modules: tuple[str, ...]) -> object:
    """Return a name that a package re-exports, from the first of its modules that has it.

    Raises:
        AttributeError: none of them has it.
    """
    if name in modules:
        return import_module(f".{name}", package)
    if not name.startswith("__"):
        for module in modules:
            found = vars(import_module(f".{module}", package))
            if name in found:
                setattr(sys.modules[package], name, found[name])
                return found[name]
    raise AttributeError(f"module {package!r} has no attribute {name!r}")
