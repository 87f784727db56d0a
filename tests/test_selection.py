"""What a run of every n-th exhaustive value leaves out."""

from __future__ import annotations

import pytest

from tests import selection
from tests.selection import first, left_out, stride

RUNS = range(4)


@pytest.mark.parametrize("value", first(range(10)))
def test_ten_values(value: int) -> None:
    assert value in range(10)


@pytest.mark.parametrize("value", first(range(3)))
def test_three_values(value: int) -> None:
    assert value in range(3)


def test_each_run_has_some_values_of_each_test_and_all_together_have_each(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The items are those of this module, and their likes that are run by `make conformance` alone."""
    ten, three = (collected(request, test) for test in (test_ten_values, test_three_values))
    seen = set[pytest.Item]()
    for seed in RUNS:
        monkeypatch.setattr(selection, "SEED", seed)
        kept = {*ten, *three} - left_out([*ten, *three], len(RUNS))
        assert {ten[0], three[0]} <= kept, "they are not exhaustive"
        assert (len(kept & set(ten[1:])), len(kept & set(three[1:]))) in {(3, 1), (2, 1)}
        seen |= kept
    assert seen == {*ten, *three}
    assert left_out([*ten, *three], 1) == set()


@pytest.mark.parametrize("value", range(7))
@pytest.mark.costly
def test_costly_values(value: int) -> None:
    assert value in range(7)


@pytest.mark.parametrize("value", range(4))
@pytest.mark.costly(whole=True)
def test_values_that_share_what_is_dear(value: int) -> None:
    assert value in range(4)


def test_each_run_has_a_part_of_what_is_costly_and_all_together_have_each(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    costly, whole = (
        collected(request, test) for test in (test_costly_values, test_values_that_share_what_is_dear)
    )
    assert left_out([*costly, *whole], 1) == set()
    seen = set[pytest.Item]()
    for seed in range(selection.COSTLY):
        monkeypatch.setattr(selection, "SEED", seed)
        kept = {*costly, *whole} - left_out([*costly, *whole], 8)
        assert kept & set(whole) in (set(), set(whole))
        assert len(kept & set(costly)) + (not kept.isdisjoint(whole)) == 1  # seven tests and one file
        seen |= kept
    assert seen == {*costly, *whole}


def test_a_stride_begins_at_the_seed_and_is_never_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "SEED", 20261127)
    assert list(stride(range(10), 4)) == [3, 7]
    assert list(stride(range(2), 4)) == [1]
    assert list(stride([], 4)) == []
    monkeypatch.setattr(selection, "IS_LAB", True)
    assert list(stride(range(5), 4)) == [*range(5)]


def collected(request: pytest.FixtureRequest, test: object) -> list[pytest.Item]:
    """Return the items that pytest makes of a test, with those that the command line does not select."""
    module = request.node.getparent(pytest.Module)
    assert module is not None
    return [item for item in module.collect() if isinstance(item, pytest.Function) and item.obj is test]
