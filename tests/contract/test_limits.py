"""The limits of a document: exact, whatever stands in its strings, and free where it is small."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgen.contract.limits import DEFAULT_LIMITS, UNLIMITED, Limits, exceeded_limit

TEXTS = st.text(alphabet='\\"{}[],: ab\n\té😀', max_size=8)
DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=30,
)


def measured(value: Any) -> tuple[int, int]:
    """Return how deep a value is, and how many keys and items it has."""
    parts = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else None
    if parts is None:
        return 0, 0
    inner = [measured(part) for part in parts]
    return 1 + max((depth for depth, _ in inner), default=0), len(parts) + sum(keys for _, keys in inner)


@pytest.mark.exhaustive
@given(DOCUMENTS, st.booleans(), st.sampled_from([None, 1]), st.booleans(), st.sampled_from([0, 5_000]))
def test_a_document_at_a_limit_is_taken_and_one_above_is_not(
    value: Any, is_ascii: bool, indent: int | None, is_bytes: bool, spaces: int
) -> None:
    text = json.dumps(value, ensure_ascii=is_ascii, indent=indent) + " " * spaces
    size = len(text.encode())
    data = text.encode() if is_bytes else text
    depth, keys = measured(value)
    at = Limits(bytes=size, depth=max(1, depth), keys=max(1, keys))
    assert exceeded_limit(data, at) is None
    for name, actual in (("bytes", size), ("depth", depth), ("keys", keys)):
        if actual > 1:
            excess = exceeded_limit(data, dataclasses.replace(at, **{name: actual - 1}))
            assert excess is not None
            assert excess.limit == actual - 1


@pytest.mark.exhaustive
@given(DOCUMENTS, st.integers(1, 20), st.integers(1, 60))
def test_a_small_document_is_within_all_limits(value: Any, depth: int, keys: int) -> None:
    data = json.dumps(value).encode()
    limits = Limits(depth=depth, keys=keys)
    if len(data) <= limits.small_bytes:
        assert exceeded_limit(data, limits) is None


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'"' + b"x" * 99 + b'"', "must have at most 100 bytes of JSON, not 101"),
        ('"' + "é" * 50 + '"', "must have at most 100 bytes of JSON, not 102"),
        (b"[" * 6 + b"]" * 6, "must have at most 5 arrays and objects inside one another"),
        (b"[0,0,0,0,0,0,0,0]", "must have at most 7 keys and items in all, not 8"),
        (b'{"a":[0,0,0],"b":{"c":0,"d":[[]]}}', "must have at most 7 keys and items in all, not 8"),
    ],
)
def test_what_is_exceeded_is_said(data: bytes | str, message: str) -> None:
    excess = exceeded_limit(data, Limits(bytes=100, depth=5, keys=7))
    assert excess is not None
    assert excess.message == message


@pytest.mark.parametrize(
    "data", [b"[" * 200, b'{"a":' * 100, b'{"text":"' + b"[" * 200, b"]" * 200, b'"' * 199]
)
def test_a_document_that_was_cut_off_is_no_deep_one(data: bytes) -> None:
    """It is no JSON, which its decoder says."""
    assert exceeded_limit(data, Limits()) is None


@pytest.mark.parametrize("name", ["bytes", "depth", "keys", "issues", "result_bytes"])
def test_a_limit_that_allows_nothing_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=rf"Limits\({name}=0\); it must be at least"):
        Limits(**{name: 0})


def test_what_an_executor_made_has_no_limit() -> None:
    assert exceeded_limit(b"[" * 100_000, UNLIMITED) is None
    assert Limits() == DEFAULT_LIMITS
