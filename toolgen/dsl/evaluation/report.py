"""Collects what is wrong with a design."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from toolgen.expr.codes import IDENTIFIER_CLASH, Rule
from toolgen.expr.diagnostics import Diagnostic, Related
from toolgen.expr.source import Source

_LONGEST_VALUE = 60


class Report:
    """The diagnostics of one build; the same mistake, found twice, is kept once."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, tuple[str, int, int]], Diagnostic] = {}

    def add(self, rule: Rule, source: Source, *, related: Iterable[Related] = (), **facts: object) -> None:
        """Keep a diagnostic whose message and hint are the rule's templates with these facts."""
        message = rule.message.format(**facts)
        diagnostic = Diagnostic(
            code=rule.code,
            message=message,
            source=source,
            hint=rule.hint.format(**facts),
            related=tuple(related),
        )
        key = "" if rule is IDENTIFIER_CLASH else message  # one name becomes several identifiers
        self._found.setdefault((rule.code, key, source.place), diagnostic)

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Return everything that was found, by file, line and column."""
        return tuple(sorted(self._found.values(), key=lambda found: (*found.source.place, found.code)))


def shown(value: object) -> str:
    """Return the value as the author may have written it, shortened."""
    try:
        text = repr(value)
    except Exception:  # any class may stand in a design, and its repr may fail
        return f"a {type(value).__name__}"
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"


def suggestion(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return the hint for a name that is unknown: the closest one, or all there are."""
    names = list(known)
    close = difflib.get_close_matches(name, names, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    if otherwise:
        return otherwise
    return f"known are {listed(names)}" if names else "there are none"


def listed(values: Iterable[object]) -> str:
    return ", ".join(shown(value) for value in values)
