"""Many documents of each codec of the examples and the cases: the schema accepts one when the codec does."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.conformance.agreement import hold
from tests.conformance.generated import codecs


@pytest.mark.parametrize("name", codecs())
def test_codec_and_schema_agree(name: str) -> None:
    hold(codecs()[name], 100, Counter())
