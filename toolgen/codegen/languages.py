"""The seam for languages beside Python: each makes a tree of its own from a checked design.

A language is a package here with one function, `generate`: pure, from a design to final texts by path. It has
a layout (where things stand), a spelling (how types are written), views and templates; what it reads is
`dsl/expr` and the field tree, as Python does.
"""

from __future__ import annotations

from toolgen.contract.names import Language
from toolgen.dsl.expr.tree import Design


def generate_language(language: Language, design: Design, *, module: str) -> dict[str, str]:
    """Return the final text of every file of a tree by its path; `module` is the design's, for headers."""
    match language:
        case "typescript":
            from .typescript import generate  # only projects that ask for it pay for it
    return generate(design, module=module)
