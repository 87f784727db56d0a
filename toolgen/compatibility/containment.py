"""Whether one schema accepts all that another accepts: a proof, a document of the difference, or neither."""

from __future__ import annotations

from typing import Any

from toolgen.contract.record import frozen_record

from .documents import Document
from .keywords import prove
from .proof import MOST_STEPS, Gap, Proof


@frozen_record
class Containment:
    """What was found out: contained without a gap; not contained with a witness; else undecided."""

    gaps: tuple[Gap, ...] = ()

    @property
    def is_proved(self) -> bool:
        """Whether the larger schema accepts whatever the smaller one accepts."""
        return not self.gaps

    @property
    def witness(self) -> list[Any]:
        """A document that the smaller schema accepts and the larger one refuses; empty without one."""
        return [document for gap in self.gaps for document in gap.witnesses][:1]


def contains(large: Document, small: Document, most_steps: int = MOST_STEPS) -> Containment:
    """Return whether the larger schema accepts whatever the smaller one accepts."""
    for document in (small, large):
        if document.fault and small.written != large.written:
            whose = "it" if document is large else "the other one"
            reason = f"cannot be compared, for {whose} is wrong: {document.fault}"
            gap = Gap(path=(), small="", large="", keyword="", reason=reason)
            return Containment(gaps=(gap,))
    return Containment(gaps=tuple(Proof(prove, most_steps).gaps(small.root, large.root)))
