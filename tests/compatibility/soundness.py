"""Counts verdicts over pairs of schemas, and tries documents where one is said to contain the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from random import Random
from typing import Any

from tests.compatibility.pairs import Pair
from tests.fuzz.documents import changed, document
from tests.schema_reader.random_schemas import Draws
from toolgen.checks.compatibility import SchemaDocument, contains


class Figures:
    """What was counted."""

    def __init__(self) -> None:
        self.verdicts: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.instances = 0

    def text(self) -> str:
        """Return the counts in a line, and why so many pairs could not be told."""
        pairs = self.verdicts.total()
        share = self.verdicts["cannot tell"] / max(pairs, 1)
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(self.verdicts.items()))
        why = "; ".join(f"{count} {reason}" for reason, count in self.reasons.most_common(12))
        return f"{pairs} pairs: {kinds}; cannot tell {share:.1%}; {self.instances} instances. {why}"


def check(pairs: Iterable[Pair], seed: int, each: int) -> Figures:
    """Compare pairs in both directions, and try `each` documents of the smaller schema that was proved.

    Raises:
        AssertionError: a document contradicts a verdict.
    """
    figures, chance, draws = Figures(), Random(seed), Draws(seed)
    for one, two in pairs:
        first, second = SchemaDocument(one, noted=None), SchemaDocument(two, noted=None)
        if first.fault or second.fault:
            figures.verdicts["no schema"] += 1
            continue
        for small, large in ((first, second), (second, first)):
            found = contains(large, small)
            witnesses = [each for gap in found for each in gap.witnesses][:1]
            verdict = "contained" if not found else "not contained" if witnesses else "cannot tell"
            figures.verdicts[verdict] += 1
            for witness in witnesses:
                assert small.accepts((small.root,), witness), (small.schema, large.schema, witness)
                assert not large.accepts((large.root,), witness), (small.schema, large.schema, witness)
            if verdict == "cannot tell":
                figures.reasons[", ".join(sorted({gap.keyword or gap.reason for gap in found}))] += 1
            if not found:
                _try(small, large, chance, draws, each, figures)
    return figures


def _try(
    small: SchemaDocument, large: SchemaDocument, chance: Random, draws: Draws, each: int, figures: Figures
) -> None:
    accepted_by_small = small.validator(("",))
    accepted_by_large = large.validator(("",))
    for number in range(each):
        value: Any
        match number % 3:
            case 0:
                value = document(small.schema, chance)
            case 1:
                value = changed(document(large.schema, chance), chance)
            case _:
                value = changed(document(small.schema, chance), chance) if number % 2 else draws.value()
        figures.instances += 1
        try:
            is_wrong = accepted_by_small(value) and not accepted_by_large(value)
        except ValueError:  # no JSON
            continue
        assert not is_wrong, (small.schema, large.schema, value)
