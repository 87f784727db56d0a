"""Import statements of a TypeScript file, collected from the types that it prints."""

from __future__ import annotations

from collections import defaultdict

from .text import WIDTH


class TypeImports:
    """The types that one file imports, by the specifier of the file that has them."""

    def __init__(self) -> None:
        self._names: defaultdict[str, set[str]] = defaultdict(set)

    def name(self, specifier: str, name: str) -> str:
        """Import the name and return it."""
        self._names[specifier].add(name)
        return name

    def text(self) -> str:
        """Return the statements, sorted by specifier, outer folders first; "" if there are none."""
        return "\n".join(
            _statement(specifier, sorted(names, key=lambda name: (name.lower(), name)))
            for specifier, names in sorted(self._names.items())
        )


def _statement(specifier: str, names: list[str]) -> str:
    line = f'import type {{ {", ".join(names)} }} from "{specifier}";'
    if len(line) <= WIDTH:
        return line
    body = "".join(f"  {name},\n" for name in names)
    return f'import type {{\n{body}}} from "{specifier}";'
