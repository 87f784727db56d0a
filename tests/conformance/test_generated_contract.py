"""Generated code: the schema accepts a document exactly when the codec does, and nothing is lost.

For each payload, result and artifact of the examples and of `tests/cases`, documents are drawn from
the schema, then broken in one place, and given to an independent validator and to the codec.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tests.conformance.agreement import hold
from tests.conformance.generated import codecs
from tests.selection import stride, volume

DOCUMENTS = volume(4, lab=100)
NAMES = stride(list(codecs()), 4)
seen: Counter[str] = Counter()


@pytest.mark.volume
@pytest.mark.parametrize("name", NAMES)
def test_codec_and_schema_agree(name: str) -> None:
    hold(codecs()[name], DOCUMENTS, seen)


@pytest.mark.volume
def test_enough_documents_of_each_kind_were_tried() -> None:
    """hypothesis-jsonschema draws nothing but `{}` when its hypothesis is too new."""
    count = len(NAMES)
    assert seen["valid and not empty"] > count, seen
    assert seen["invalid"] > count, seen
    assert seen["calendar"] < (seen["valid"] + seen["invalid"]) / 50, seen
