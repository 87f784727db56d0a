"""Import lines as data: collected from the names that a module prints, sorted as isort sorts them."""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import Final

_WIDTH: Final = 88
"""Maximum columns of an import statement: the default of the tools that check import order."""

_MOST_NAMES: Final = 16_384
"""Maximum number of cached sort keys; many modules import the same names."""


class Imports:
    """The imports of one module. A name that the module defines itself is imported under an alias."""

    def __init__(self, taken: Collection[str] = ()) -> None:
        self._taken = taken
        self._modules: dict[str, str] = {}
        self._names = defaultdict[str, set[str]](set)

    def module(self, name: str, alias: str) -> str:
        """Return the name under which a whole module is imported."""
        self._modules[name] = alias
        return alias

    def name(self, module: str, name: str, alias: str = "") -> str:
        """Return the name under which one name of a module is imported."""
        alias = alias or (f"_{name}" if name in self._taken else name)
        self._names[module].add(name if alias == name else f"{name} as {alias}")
        return alias

    def names(self) -> set[str]:
        """Return the names that the imports bind in the module."""
        return {name.rpartition(" ")[2] for names in self._names.values() for name in names}

    def text(self, indent: int = 0) -> str:
        """Return the statements in sections; all lines except the first are indented by `indent` spaces."""
        lines: dict[int, list[str]] = {}
        for module, alias in sorted(self._modules.items()):
            lines.setdefault(_section(module), []).append(f"import {module} as {alias}")
        for module, names in sorted(self._names.items(), key=lambda item: _module_key(item[0])):
            plain = sorted((name for name in names if " as " not in name), key=_member_key)
            members = [[name] for name in names.difference(plain)] + ([plain] if plain else [])
            lines.setdefault(_section(module), []).extend(
                _statement(module, group, indent)
                for group in sorted(members, key=lambda group: _member_key(group[0]))
            )
        margin = " " * indent
        return f"\n\n{margin}".join(f"\n{margin}".join(lines[section]) for section in sorted(lines))


def _statement(module: str, names: list[str], indent: int) -> str:
    line = f"from {module} import {', '.join(names)}"
    if indent + len(line) <= _WIDTH:
        return line
    return f"from {module} import ({', '.join(names)},)"  # formatters keep one name per line


def sorted_names(names: Iterable[str]) -> list[str]:
    """Return the names as `__all__` lists them: constants, classes, then the rest (ruff RUF022)."""
    return sorted(names, key=lambda name: (_kind(name), _natural(name)))


def _section(module: str) -> int:
    if module == "__future__":
        return 0
    if module.startswith("."):
        return 3
    return 1 if module.split(".")[0] in sys.stdlib_module_names else 2


def _module_key(module: str) -> tuple[object, ...]:
    """Return the sort key among `from` imports; relative imports from outer packages come first."""
    name = module.lstrip(".")
    return (len(name) - len(module), _natural(name.lower()), _natural(name))


def _member_key(name: str) -> tuple[object, ...]:
    return (_kind(name), _natural(name.lower()), _natural(name))


def _kind(name: str) -> int:
    if len(name) > 1 and name.isupper():
        return 0
    return 1 if name[:1].isupper() else 2


@lru_cache(_MOST_NAMES)
def _natural(name: str) -> tuple[object, ...]:
    """Return a sort key that puts `Part2` before `Part10`."""
    return tuple(int(part) if part.isdigit() else part for part in re.split(r"([0-9]+)", name))
