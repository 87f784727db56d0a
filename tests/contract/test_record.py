"""Records: what they share is what `dataclasses` would make, and a copy is one by `dataclasses.replace`."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgen.contract.record import changed, record


@record
class Ours:
    name: str
    parts: tuple[Any, ...] = ()
    hidden: object = field(default=None, repr=False, compare=False)


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class Theirs:
    name: str
    parts: tuple[Any, ...] = ()
    hidden: object = field(default=None, repr=False, compare=False)


@record
class Inner(Ours):
    more: int = 0


@record
class Own:
    name: str

    def __repr__(self) -> str:
        return f"<{self.name}>"


VALUES: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "name": st.sampled_from(["a", "b", ""]),
        "parts": st.tuples(st.integers(0, 1)),
        "hidden": st.sampled_from([None, "x"]),
    }
)


@pytest.mark.exhaustive
@given(VALUES, VALUES)
def test_records_are_equal_and_shown_as_dataclasses_are(
    first: dict[str, Any], second: dict[str, Any]
) -> None:
    ours, theirs = [Ours(**first), Ours(**second)], [Theirs(**first), Theirs(**second)]
    assert (ours[0] == ours[1]) == (theirs[0] == theirs[1])
    assert hash(ours[0]) == hash(theirs[0])
    assert repr(ours[0]) == repr(theirs[0]).replace("Theirs", "Ours")
    assert changed(ours[0], name="c") == replace(ours[0], name="c")


def test_a_record_is_no_other_class() -> None:
    assert Ours(name="a") != Inner(name="a")
    other: object = "a"
    assert Ours(name="a") != other
    assert Inner(name="a", more=1) == changed(Inner(name="a"), more=1)
    assert repr(Own(name="a")) == "<a>"
    with pytest.raises(TypeError):
        changed(Ours(name="a"), nam="b")  # pyright: ignore[reportCallIssue]  # what is refused


def test_a_record_that_holds_itself_can_be_shown() -> None:
    held: list[object] = []
    one = Ours(name="a", parts=(held,))
    held.append(one)
    assert repr(one) == "Ours(name='a', parts=([...],))"


def test_a_record_can_be_copied_and_pickled() -> None:
    one = Inner(name="a", parts=(1,), more=2)
    assert copy.deepcopy(one) == pickle.loads(pickle.dumps(one)) == one
