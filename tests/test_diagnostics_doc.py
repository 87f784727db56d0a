"""docs/diagnostics.md is the table of codes with their explanations; `UPDATE=1` rewrites it."""

import os
from pathlib import Path

from toolgen.cli.explain import EXPLANATIONS
from toolgen.dsl.expr import RULES

DOCUMENT = Path(__file__).parent.parent / "docs" / "diagnostics.md"

HEAD = """\
# Diagnostics

`toolgen gen` reports every mistake of a design at once, in the order of the file, and exits with 1.
Codes are stable. Each stands here with why it is a mistake, a small design that has it, what toolgen
says about that, and what repairs it; `toolgen explain CODE` prints the same. This page is written from
the table in `toolgen/dsl/expr/codes.py` and from `toolgen/cli/explanations` (`UPDATE=1 make test`).

`toolgen gen --format json` prints one object a line, in the form that [commands.md](commands.md) describes.
`--format github` prints workflow commands, which GitHub shows beside the lines of a pull request.
"""


def section(code: str) -> str:
    """Return the part of the document about one code."""
    shown = (EXPLANATIONS / f"{code}.md").read_text(encoding="utf-8")
    return f"## {code}\n\n{RULES[code].explanation}\n\n{shown}"


def test_the_document_is_the_table() -> None:
    """Each code has its section, in the order of the table."""
    text = "\n".join([HEAD, *(section(code) for code in RULES)])
    if os.environ.get("UPDATE"):
        DOCUMENT.write_text(text, encoding="utf-8")
    assert DOCUMENT.read_text(encoding="utf-8") == text


def test_every_rule_explains_itself() -> None:
    """A sentence ends in a full stop; a message and a hint do not."""
    for rule in RULES.values():
        assert rule.explanation.endswith(".")
        assert rule.message[-1] != "."
        assert rule.hint
        assert rule.hint[-1] != "."
