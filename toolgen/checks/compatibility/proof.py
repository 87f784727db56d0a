"""Proves that one schema contains another one, by pairs of places; gaps prevent a proof.

Each keyword of the larger schema is proved from the keywords of the smaller one. If a proof needs its own
pair again for a value one level deeper, that pair counts as proved, because documents are finite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from toolgen.contract.record import frozen_record

from .conjunctions import NUMBERS, Conjunction, Emptiness, Flat, UnionKey, flatten
from .documents import SchemaNode, accepts, lone
from .samples import Samples

MOST_STEPS: Final = 20_000
"""Maximum number of pairs of schemas to compare."""
_DEEPEST: Final = 110
_MOST_WITNESSES: Final = 4
_NOTHING_CHOSEN: Final[frozenset[UnionKey]] = frozenset()


@frozen_record
class Gap:
    """A place at which the smaller schema was not proved to be within the larger one."""

    path: tuple[str, ...]
    """The keys to the value in a document; `*` is any item or any key that is not named."""
    small: str
    large: str
    """JSON Pointers into the two schemas."""
    keyword: str
    """The keyword of the larger schema that is not proved."""
    reason: str
    """Reason, as a sentence without its subject."""
    name: str = ""
    """Key that is required, or not accepted."""
    witnesses: tuple[Any, ...] = ()
    """Documents for the whole schema: the smaller one accepts them and the larger one does not."""

    @property
    def is_undecided(self) -> bool:
        """Whether no document was found that the smaller schema accepts and the larger one refuses."""
        return not self.witnesses


class _StoppedError(Exception):
    """The proof exceeds its limit of steps or depth."""


@dataclass(slots=True)
class Case:
    """A pair to prove: the conjunction of the smaller side, and a schema of the larger side."""

    proof: Proof
    conjunction: Conjunction
    chosen: frozenset[UnionKey]
    large: SchemaNode
    level: int
    """Depth of the value in the document."""
    depth: int
    flat: Flat = field(init=False)

    def __post_init__(self) -> None:
        self.flat = flatten(self.conjunction, self.chosen)

    def gap(
        self,
        keyword: str,
        reason: str,
        *,
        name: str = "",
        only: Mapping[str, Any] | None = None,
        by_schema: bool = False,
    ) -> Gap:
        """Return a gap with documents that the keyword refuses, or `only`, or the schema if `by_schema`."""
        other = self.large
        if not by_schema:
            other = lone({keyword: self.large.schema[keyword]} if only is None else only)
        return Gap(
            path=(),
            small=self.conjunction[0].pointer if self.conjunction else "",
            large=self.large.pointer,
            keyword=keyword,
            reason=reason,
            name=name,
            witnesses=tuple(self.proof.samples.of(self.conjunction, other, _MOST_WITNESSES, self.chosen)),
        )

    def within(
        self, large: SchemaNode, *, more: Conjunction = (), union: UnionKey | None = None
    ) -> list[Gap]:
        """Return the gaps between this conjunction, extended by `more`, and another schema."""
        chosen = self.chosen | ({union} if union else set())
        return self.proof.fits((*self.conjunction, *more), chosen, large, self.level, self.depth + 1)

    def below(
        self, conjunction: Conjunction, large: SchemaNode, step: str, wrapped: Callable[[Any], Iterable[Any]]
    ) -> list[Gap]:
        """Return the gaps of a nested value; `wrapped` yields documents that contain a value."""
        gaps = self.proof.fits(conjunction, _NOTHING_CHOSEN, large, self.level + 1, self.depth + 1)
        wider = []
        for gap in gaps:
            documents = [document for part in gap.witnesses for document in wrapped(part)][:_MOST_WITNESSES]
            small = gap.small or (conjunction[0].pointer if conjunction else "")
            wider.append(replace(gap, path=(step, *gap.path), witnesses=tuple(documents), small=small))
        return wider

    def is_apart(self, other: SchemaNode) -> bool:
        """Return whether no value fits both this side and the other schema."""
        return self.proof.emptiness.of((*self.conjunction, other), self.chosen)

    def is_same(self, first: SchemaNode, other: SchemaNode) -> bool:
        """Return whether two schemas of the same value are equivalent, independent of further schemas."""
        return not any(
            self.proof.fits((small,), _NOTHING_CHOSEN, large, self.level, self.depth + 1)
            for small, large in ((first, other), (other, first))
        )

    def has_same_keywords(self, *keywords: str) -> bool:
        """Return whether the smaller side has these keywords with the same values as the larger one."""
        expected = _text_of(self.large, keywords)
        return any(_text_of(node, keywords) == expected for node in self.flat.nodes) if expected else False


def _text_of(node: SchemaNode, keywords: Iterable[str]) -> str:
    """Return a text that is equal for the same keywords; "" if it has references."""
    part = {keyword: node.schema[keyword] for keyword in keywords if keyword in node.schema}
    return SchemaNode(node.document, f"{node.pointer}#{','.join(keywords)}", part).text()


Rule: TypeAlias = Callable[[Case], list[Gap]]


class Proof:
    """One comparison: its remaining steps, and the pairs that are proved."""

    def __init__(self, prove: Rule, most_steps: int = MOST_STEPS) -> None:
        """Create a proof with the function that finds the gaps of a pair by keyword."""
        self._prove = prove
        self.samples = Samples()
        self.emptiness = Emptiness()
        self._remaining_steps = most_steps
        self._open: dict[object, int] = {}
        self._proved: set[object] = set()
        self._trail: list[object] = []
        """Proved pairs, in order. If a pair has a gap, the pairs proved within it are removed again."""

    def gaps(self, small: SchemaNode, large: SchemaNode) -> list[Gap]:
        """Return the gaps between two schemas, with witnesses that were validated by both."""
        try:
            gaps = self.fits((small,), _NOTHING_CHOSEN, large, 0, 0)
        except (_StoppedError, RecursionError) as error:
            reason = str(error) if isinstance(error, _StoppedError) else "is nested too deeply"
            witnesses = tuple(self.samples.of((small,), large, _MOST_WITNESSES))
            gaps = [Gap(path=(), small="", large="", keyword="", reason=reason, witnesses=witnesses)]
        checked = []
        for gap in gaps:
            confirmed = [
                each for each in gap.witnesses if accepts((small,), each) and not accepts((large,), each)
            ]
            checked.append(replace(gap, witnesses=tuple(confirmed[:1])))
        return checked

    def fits(
        self, conjunction: Conjunction, chosen: frozenset[UnionKey], large: SchemaNode, level: int, depth: int
    ) -> list[Gap]:
        """Return the gaps between a conjunction and a schema; empty if it was proved to be within it."""
        if large.schema is True or (not large.schema and large.schema is not False):
            return []
        key = frozenset(node.key for node in conjunction), chosen, large.key
        if key in self._proved or self._open.get(key, level) < level:
            return []
        self._remaining_steps -= 1
        if self._remaining_steps < 0:
            raise _StoppedError("needs more steps than the limit of a comparison")
        if depth > _DEEPEST or key in self._open:
            raise _StoppedError("is nested too deeply")
        self._open[key] = level
        proved_before = len(self._trail)
        try:
            gaps = self._gaps_of(Case(self, conjunction, chosen, large, level, depth))
        finally:
            del self._open[key]
        if gaps:
            self._proved.difference_update(self._trail[proved_before:])
            del self._trail[proved_before:]
        else:
            self._proved.add(key)
            self._trail.append(key)
        return gaps

    def _gaps_of(self, case: Case) -> list[Gap]:
        flat, large = case.flat, case.large
        if self.emptiness.of(case.conjunction, case.chosen):
            return []
        text = large.text()
        if text and any(node.text() == text for node in flat.nodes):
            return []
        if large.schema is False:
            return [case.gap("not", "accepts no value here", by_schema=True)]
        if flat.values is not None:
            return _listed(case)
        for union, branches in flat.unions[:1]:
            return _unique(
                [gap for branch in branches for gap in case.within(large, more=(branch,), union=union)]
            )
        return self._prove(case)


def _listed(case: Case) -> list[Gap]:
    """Return the gap of listed values, each of which is checked."""
    assert case.flat.values is not None
    refused = [value for value in case.flat.values.values() if not accepts((case.large,), value)]
    if not refused:
        return []
    gap = case.gap("enum", f"does not accept {', '.join(map(repr, refused[:3]))}", by_schema=True)
    return [replace(gap, witnesses=tuple(refused[:_MOST_WITNESSES]))]


def _unique(gaps: Iterable[Gap]) -> list[Gap]:
    """Return one gap for each keyword and place, if possible one with a witness."""
    by_place: dict[object, Gap] = {}
    for gap in gaps:
        key = gap.path, gap.large, gap.keyword, gap.name
        if key not in by_place or (by_place[key].is_undecided and not gap.is_undecided):
            by_place[key] = gap
    return list(by_place.values())


def kind_groups(flat: Flat) -> list[SchemaNode]:
    """Return a schema for each kind of value that `flat` accepts; all numbers are one kind."""
    names = [kind for kind in sorted(flat.kinds) if kind not in NUMBERS]
    names += ["number"] if flat.kinds & NUMBERS else []
    return [lone({"type": name}) for name in names]
