"""docs/diagnostics.md is the table of codes with their broken designs; `UPDATE=1` rewrites it."""

import os
from pathlib import Path

from toolgen.expr import RULES

ROOT = Path(__file__).parent.parent
DOCUMENT = ROOT / "docs" / "diagnostics.md"
BROKEN = ROOT / "tests" / "broken"

HEAD = """\
# Diagnostics

`toolgen gen` reports every mistake of a design at once, in the order of the file, and exits with 1.
Codes are stable. Each stands here with why it is a mistake, a small design that has it, and what
toolgen says about that. This page is written from the table in `toolgen/expr/codes.py`
(`UPDATE=1 make test`).
"""


def section(code: str) -> str:
    """Return the part of the document about one code."""
    design = (BROKEN / f"{code}.py").read_text(encoding="utf-8").strip()
    output = (BROKEN / f"{code}.txt").read_text(encoding="utf-8").strip()
    explanation = RULES[code].explanation
    return f"## {code}\n\n{explanation}\n\n```python\n{design}\n```\n\n```text\n{output}\n```\n"


def test_the_document_is_the_table() -> None:
    """Each code has its section, in the order of the table."""
    text = "\n".join([HEAD, *(section(code) for code in RULES)])
    if os.environ.get("UPDATE"):
        DOCUMENT.parent.mkdir(exist_ok=True)
        DOCUMENT.write_text(text, encoding="utf-8")
    assert DOCUMENT.read_text(encoding="utf-8") == text


def test_every_rule_explains_itself() -> None:
    """A sentence ends in a full stop; a message and a hint do not."""
    for rule in RULES.values():
        assert rule.explanation.endswith(".")
        assert rule.message[-1] != "."
        assert rule.hint
        assert rule.hint[-1] != "."
