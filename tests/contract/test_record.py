"""Records: what they share is what `dataclasses` would make, and a copy is one by `dataclasses.replace`."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, dataclass, field, replace
from functools import cached_property
from typing import Any, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgen.contract.record import frozen_record, record, sparse_record


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


@sparse_record
class Sparse:
    name: str
    parts: tuple[Any, ...] = ()


@record
class Own:
    name: str

    def __repr__(self) -> str:
        return f"<{self.name}>"


@frozen_record(kw_only=False)
class OurFrozen:
    place: str
    name: str = field(default="a", kw_only=True)
    parts: list[int] = field(default_factory=list)
    told: str = field(init=False)
    count: int = field(default=3, init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "told", self.name * 2)


@dataclass(frozen=True, slots=True)
class TheirFrozen:
    place: str
    name: str = field(default="a", kw_only=True)
    parts: list[int] = field(default_factory=list)
    told: str = field(init=False)
    count: int = field(default=3, init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "told", self.name * 2)


@frozen_record
class Bare:
    pass


@frozen_record
class Cold(Bare):
    """A frozen record extends one."""

    name: str
    more: int = 0


@dataclass(frozen=True)
class Extended(Bare):
    """A dataclass that is no record extends one."""

    name: str


@frozen_record
class Named:
    name: str


@frozen_record(eq=False)
class FrozenAlone:
    name: str


@frozen_record(slots=False)
class Keeping(Named):
    """Has the slots of a record, and a dict."""

    more: str = ""

    @cached_property
    def found(self) -> str:
        return self.name + self.more


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


def test_a_record_is_no_other_class() -> None:
    assert Ours(name="a") != Inner(name="a")
    other: object = "a"
    assert Ours(name="a") != other
    assert Inner(name="a", more=1) == replace(Inner(name="a"), more=1)
    assert repr(Own(name="a")) == "<a>"
    with pytest.raises(TypeError):
        replace(Ours(name="a"), nam="b")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]  # what is refused


def test_a_record_that_holds_itself_can_be_shown() -> None:
    held: list[object] = []
    one = Ours(name="a", parts=(held,))
    held.append(one)
    assert repr(one) == "Ours(name='a', parts=([...],))"


def test_a_record_can_be_copied_and_pickled() -> None:
    one = Inner(name="a", parts=(1,), more=2)
    assert copy.deepcopy(one) == pickle.loads(pickle.dumps(one)) == one


def test_a_frozen_record_is_made_and_shown_as_a_dataclass() -> None:
    ours, theirs = OurFrozen("p", [1], name="b"), TheirFrozen("p", [1], name="b")
    assert repr(ours) == repr(theirs).replace("Theirs", "Ours").replace("TheirFrozen", "OurFrozen")
    assert OurFrozen("p").parts is not OurFrozen("p").parts
    assert str(inspect.signature(OurFrozen)) == str(inspect.signature(TheirFrozen))
    assert get_type_hints(OurFrozen.__init__) == get_type_hints(TheirFrozen.__init__)
    assert OurFrozen.__match_args__ == TheirFrozen.__match_args__
    assert Bare() == Bare()
    for cls in (OurFrozen, TheirFrozen):
        with pytest.raises(
            TypeError, match=r"Frozen.__init__\(\) missing 1 required positional argument: 'place'$"
        ):
            cls()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]  # what is refused


def test_a_frozen_record_refuses_changes_and_can_be_copied_and_pickled() -> None:
    ours, extended = OurFrozen("p", [1], name="b"), Extended("a")
    for refused in (ours, extended):
        with pytest.raises(FrozenInstanceError, match="cannot assign to field 'name'"):
            refused.name = "c"  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
        with pytest.raises(FrozenInstanceError, match="cannot delete field 'name'"):
            del refused.name  # pyright: ignore[reportAttributeAccessIssue]
        assert copy.deepcopy(refused) == pickle.loads(pickle.dumps(refused)) == refused
    assert replace(Inner(name="a"), more=1) == Inner(name="a", more=1)


def test_a_sparse_record_is_like_others() -> None:
    one = object.__new__(Sparse)
    vars(one)["name"] = "a"
    assert one == Sparse(name="a")
    assert (hash(one), repr(one)) == (hash(Sparse(name="a")), "Sparse(name='a', parts=())")
    assert copy.deepcopy(one) == pickle.loads(pickle.dumps(one)) == one
    assert replace(one, parts=(1,)) == Sparse(name="a", parts=(1,)) != one


def test_a_frozen_record_is_copied_with_other_values() -> None:
    one = Cold(name="a", more=1)
    assert replace(one, more=2) == Cold(name="a", more=2) != one


@frozen_record
class Holding:
    name: str
    parts: Mapping[str, int] = field(default_factory=dict[str, int])
    value: Any = None


def test_a_record_that_holds_a_mapping_is_a_key() -> None:
    one, same, other = (Holding(name=name, parts={"a": 1}, value=[1]) for name in ("a", "a", "b"))
    assert {one: 1, other: 2}[same] == 1
    assert one != Holding(name="a", parts={"a": 2}, value=[1])


def test_a_record_may_be_equal_to_itself_alone() -> None:
    one = FrozenAlone(name="a")
    assert one != FrozenAlone(name="a")
    assert {one: 1}[one] == 1


def test_a_frozen_record_may_keep_what_is_found_of_it() -> None:
    one = Keeping(name="a", more="b")
    assert (one.found, vars(one)) == ("ab", {"more": "b", "found": "ab"})
    assert replace(one, name="c") == Keeping(name="c", more="b") != one
    assert copy.copy(one) == pickle.loads(pickle.dumps(one)) == one
    with pytest.raises(FrozenInstanceError):
        one.more = "c"  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]  # what is refused
