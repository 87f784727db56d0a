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


def lazy_attribute(package: str, name: str, module: str | None) -> object:
    """Return a name that a package re-exports from one of its modules; None for a name it does not have.

    Raises:
        AttributeError: the package has no such name.
    """
    if module is None:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    value = getattr(import_module(module, package), name)
    setattr(sys.modules[package], name, value)
    return value
