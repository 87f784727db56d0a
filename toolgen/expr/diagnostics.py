"""What is wrong with a design: values that are collected and shown together."""

from __future__ import annotations

import os.path
from dataclasses import dataclass

from .source import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """Another place that has to do with a diagnostic."""

    message: str
    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One mistake of the author."""

    code: str
    """Stable, a key of `codes.RULES`."""
    message: str
    source: Source
    hint: str = ""
    """An action; may be empty."""
    related: tuple[Related, ...] = ()

    def render(self, root: str) -> str:
        """Return the diagnostic as text, with paths relative to the root where they are below it."""
        lines = [f"{_place(self.source, root)}: error: {self.message} [{self.code}]"]
        lines += self.source.excerpt().splitlines()
        lines += [f"  {_place(related.source, root)}: {related.message}" for related in self.related]
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return "\n".join(lines)


def _place(source: Source, root: str) -> str:
    file, line, column = source.place
    path = os.path.relpath(file, root) if os.path.isabs(file) else file
    return f"{file if path.startswith(os.pardir) else path}:{line}:{column}"
