"""`toolgen explain`: the cause of a diagnostic, a design that causes it, and the fix.

The table of codes contains the causes, and the folder `explanations` one file with a design per code.
docs/diagnostics.md contains both, and the tests run each design before and after its fix. Codes of other
findings have only a text, in `problem_codes` and `importers/codes.py`.
"""

from __future__ import annotations

import difflib
import json
import re
import textwrap
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from toolgen.checks.compatibility import RULES as CHANGES
from toolgen.checks.linting import CODES as LINT
from toolgen.contract.errors import ToolgenError
from toolgen.contract.findings import Code
from toolgen.dsl.expr import RULES
from toolgen.importers.codes import IMPORTS

from .problem_codes import PROBLEMS

TEXTS: Final[Mapping[str, Code]] = MappingProxyType(
    {**PROBLEMS, **IMPORTS, **LINT, **{rule.code: Code(rule.code, rule.explanation) for rule in CHANGES}}
)
"""The codes that a text explains, without a design."""
EXPLANATIONS: Final = Path(__file__).with_name("explanations")

_BLOCK: Final = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_INTRODUCTIONS: Final = {
    "python": "A design that causes it:",
    "text": "What toolgen reports:",
    "diff": "The fix:",
}


def explain(code: str | None) -> str:
    """Return the explanation of a code; without a code, the list of all.

    Raises:
        ToolgenError: there is no such code.
    """
    if code is None:
        return "\n".join(_explanations())
    if code in TEXTS:
        return f"{code}\n\n{textwrap.fill(TEXTS[code].explanation, 100)}"
    if code not in RULES:
        codes = [*RULES, *TEXTS]
        hint = "run toolgen explain to see all codes"
        if near := difflib.get_close_matches(code, codes, n=1):
            hint = f"did you mean {near[0]}?"
        elif near := difflib.get_close_matches(code, codes, cutoff=0.4):
            hint = f"close codes are {', '.join(near)}; {hint}"
        raise ToolgenError(f"unknown code {code!r}", hint=hint)
    parts = [code, textwrap.fill(RULES[code].explanation, 100)]
    for language, block in blocks(code).items():
        parts += [_INTRODUCTIONS[language], textwrap.indent(block.rstrip("\n"), "    ")]
    return "\n\n".join(parts)


def explanation_records(code: str | None) -> str:
    """Return a line of JSON for a code, or for each: `code` and `explanation`.

    Raises:
        ToolgenError: there is no such code.
    """
    if code is not None:
        explain(code)
    chosen = _explanations() if code is None else {code: _explanations()[code]}
    return "\n".join(json.dumps({"code": name, "explanation": text}) for name, text in chosen.items())


def _explanations() -> dict[str, str]:
    return {code: rule.explanation for code, rule in RULES.items()} | {
        code: text.explanation for code, text in TEXTS.items()
    }


def blocks(code: str) -> dict[str, str]:
    """Return the broken design (`python`), its diagnostic (`text`) and its repair (`diff`)."""
    text = (EXPLANATIONS / f"{code}.md").read_text("utf-8")
    return {block[1]: block[2] for block in _BLOCK.finditer(text)}
