"""docs/diagnostics.md is the table of codes with their explanations; `UPDATE=1` rewrites it."""

import os
from pathlib import Path

from tests.test_dsl_doc import CAUSES
from toolgen.cli.explain import EXPLANATIONS
from toolgen.dsl.expr import RULES

DOCUMENT = Path(__file__).parent.parent / "docs" / "diagnostics.md"

HEAD = """\
# Diagnostics

`toolgen gen` checks the whole design and reports all mistakes at once, ordered by file and line. If there
is an error, it generates nothing and exits with 1. Warnings do not stop it.

Each section explains one code, such as `[bad-name]` at the end of a line: why it is a mistake, a small design
with it, what toolgen prints, and how to fix it. `toolgen explain CODE` prints the same text. Codes are
stable.
`toolgen explain` without a code also lists the codes of other commands, such as `toolgen lint`.

In a program, use `toolgen gen --format json`, which prints one JSON object per line
([commands](commands.md)). In GitHub Actions, use `--format github`, so that GitHub shows the diagnostics next
to the lines of the pull request.
"""


def section(code: str) -> str:
    """Return the part of the document about one code."""
    shown = (EXPLANATIONS / f"{code}.md").read_text(encoding="utf-8")
    links = ", ".join(f"[`{word}`](dsl.md#{word.lower()})" for word in CAUSES.get(code, ()))
    clauses = f"Clauses: {links}.\n\n" if links else ""
    return f"## {code}\n\n{RULES[code].explanation}\n\n{clauses}{shown}"


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
