"""Containment of schemas: the result is a proof, a document that shows the difference, or neither."""

from __future__ import annotations

from .documents import SchemaDocument
from .keywords import prove
from .proof import MOST_STEPS, Gap, Proof


def contains(large: SchemaDocument, small: SchemaDocument, most_steps: int = MOST_STEPS) -> tuple[Gap, ...]:
    """Return the gaps: values of the smaller schema that the larger one does not accept.

    Without gaps, the larger schema contains the smaller one. If a gap has a witness, it does not. Otherwise
    the result is undecided.
    """
    for document in (small, large):
        if document.fault and small.written != large.written:
            whose = "it" if document is large else "the other one"
            reason = f"cannot be compared, because {whose} has an error: {document.fault}"
            return (Gap(path=(), small="", large="", keyword="", reason=reason),)
    return tuple(Proof(prove, most_steps).gaps(small.root, large.root))
