"""Entry point for languages other than Python; each generates its own tree from a checked design.

A language is a package here with one pure function, `generate`, from a design to final texts by path. It has
a layout (where files are), a spelling (how types are written), views and templates. Like the Python
generator, it reads `dsl/expr` and the field tree.
"""

from __future__ import annotations

from toolgen.contract.names import Language
from toolgen.dsl.expr.tree import Design


def generate_language(language: Language, design: Design, *, module: str) -> dict[str, str]:
    """Return the final text of every file by its path; `module` is the design's module, for headers."""
    match language:
        case "typescript":
            from .typescript import generate  # imported only for projects that use it
    return generate(design, module=module)
