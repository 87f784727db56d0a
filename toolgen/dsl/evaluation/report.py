"""Collects the diagnostics of a design."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Final

from toolgen.contract.findings import Finding, Related
from toolgen.contract.record import frozen_record

from ..expr.codes import IDENTIFIER_CLASH, Rule
from ..expr.source import Source
from ..words import code_spelling

MOST_DIGITS: Final = sys.int_info.default_max_str_digits
"""Maximum number of digits of an integer that Python prints and reads."""
_LONGEST_VALUE = 60
_MOST_USERS = 3
_MOST_NAMES = 8
_MOST_ALIKE = 5
"""Maximum number of findings with one code at one place; more are merged.

They come from a helper or a loop that creates many clauses.
"""


@frozen_record
class RelatedSource:
    """Another place that concerns a mistake; its line is looked up only when a finding is reported."""

    message: str
    source: Source

    def located(self) -> Related:
        return Related(message=self.message, place=self.source.located())


class Report:
    """The diagnostics of one build; a mistake that is found twice is stored once."""

    def __init__(self) -> None:
        self._findings: dict[tuple[str, str, tuple[str, int, int]], tuple[Source, Finding]] = {}
        self._users: dict[int, dict[str, Source]] = {}
        self.files: set[Path] = set()
        """Files that clauses refer to, and that were read."""

    def add(
        self, rule: Rule, source: Source, *, related: Iterable[RelatedSource] = (), **facts: object
    ) -> None:
        """Add a diagnostic; its message and hint are the rule's templates with these facts."""
        message = rule.message.format(**facts)
        finding = Finding(
            code=rule.code,
            message=message,
            severity="warning" if rule.is_warning else "error",
            place=source.located(),
            hint=code_spelling(rule.hint.format(**facts)),
            related=tuple(place.located() for place in related),
            is_suppressible=rule.is_warning,
        )
        key = "" if rule is IDENTIFIER_CLASH else message  # one name becomes several identifiers
        self._findings.setdefault((rule.code, key, source.place), (source, finding))

    @property
    def is_empty(self) -> bool:
        return not self._findings

    def has(self, rule: Rule) -> bool:
        """Return whether a diagnostic of the rule was added."""
        return any(code == rule.code for code, _, _ in self._findings)

    def record_use(self, source: Source, owner: str, place: Source) -> None:
        """Record where a shared clause is used, for diagnostics about the clause."""
        self._users.setdefault(id(source), {})[owner] = place

    def diagnostics(self) -> tuple[Finding, ...]:
        """Return all findings, by file, line and column; many at one place are merged."""
        entries = sorted(self._findings.values(), key=lambda entries: (*entries[0].place, entries[1].code))
        findings = (self._with_users(finding, source) for source, finding in entries)
        of_places = groupby(findings, key=lambda finding: (finding.place, finding.code))
        return tuple(finding for _, alike in of_places for finding in _merged(list(alike)))

    def _with_users(self, finding: Finding, source: Source) -> Finding:
        """Return the diagnostic with the users of its clause: the users in its message, or the first ones."""
        users = self._users.get(id(source), {})
        elsewhere = {owner: place for owner, place in users.items() if not place.encloses(source)}
        named = [owner for owner in elsewhere if owner.partition(" ")[2] in finding.message]
        related = [
            Related(message=f"it is used here, in {owner}", place=elsewhere[owner].located())
            for owner in (named or list(elsewhere))[:_MOST_USERS]
        ]
        return replace(finding, related=finding.related or tuple(related))


def _merged(alike: list[Finding]) -> list[Finding]:
    """Return the findings of one code at one place; many are merged into one with their related places."""
    if len(alike) <= _MOST_ALIKE:
        return alike
    first, more = alike[0], len(alike) - 1
    related = dict.fromkeys(place for finding in alike for place in finding.related)
    message = f"{first.message}; {more} more created here have the same mistake"
    return [replace(first, message=message, related=tuple(related)[:_MOST_NAMES])]


def source_text(value: object) -> str:
    """Return the value as the author might have written it, shortened."""
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - any class may stand in a design, and its repr may fail
        return f"a number of more than {MOST_DIGITS} digits" if type(value) is int else kind_of(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"


def kind_of(value: object) -> str:
    """Return the class of a value with an article: `an int`."""
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIO' else 'a'} {name}"


def closest(name: str, names: Iterable[str]) -> str | None:
    """Return the name closest to a wrong one, regardless of case."""
    by_lowercase = {each.lower(): each for each in names}
    matches = difflib.get_close_matches(name.lower(), by_lowercase, n=1)
    return by_lowercase[matches[0]] if matches else None


def suggestion(name: str, choices: Iterable[str], otherwise: str) -> str:
    """Return the hint for an unknown name: the closest name, otherwise `otherwise` and all known names."""
    names = list(choices)
    close = closest(name, names)
    if close is not None:
        return f"did you mean {close!r}?"
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"{otherwise}; known are {listed(names[:_MOST_NAMES])}{more}" if names else otherwise


def listed(values: Iterable[object]) -> str:
    return ", ".join(source_text(value) for value in values)
