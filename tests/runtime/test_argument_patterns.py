"""Patterns of arguments cover what they say, and no spelling of a value gets around them."""

from __future__ import annotations

import json
import ntpath
import posixpath
import re
import unicodedata
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolgen.calls.argument_patterns import ArgumentPattern, PatternError
from toolgen.contract.printable import visible

BELOW = ArgumentPattern.from_json({"/path": {"path_prefix": "/srv/data"}})
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.0, 1.0, -1.0, 0.5, "", "1", "é"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab~/"), inner, max_size=3),
    max_leaves=8,
)
PARTS = st.sampled_from(
    [
        *r"/ / \ .. . ... %2e %2F %252f %00 ~ $HOME * : ; srv data database etc x SRV C: a.b é".split(),
        *"\uff0f \uff0e \u2025 \u2024 \u2215 \u2044 \uff3c \uff41 \u017f \u212a e\u0301 \ud800".split(),
        *"\u200b \u202e \u034f \u115f \u3164 \ufe0f".split(),
        *(" ", "a b", "\n", "\x00", "\u2028"),
    ]
)


def test_a_path_prefix_covers_whole_segments() -> None:
    for path in ("/srv/data", "/srv/data/x", "/srv/data/a.b/.git/x y-1_(2)", "/srv/data/Größe/数/"):
        assert BELOW.matches({"path": path}), path
    others: list[Any] = [
        "/srv/database",
        "/srv",
        "/srv/data//",
        "srv/data",
        "/SRV/data",
        "/srv/data x",
        "/",
        "",
        1,
    ]
    for path in others:
        assert not BELOW.matches({"path": path}), path
    assert not BELOW.matches({})
    relative = ArgumentPattern.from_json({"/path": {"path_prefix": "notes"}})
    assert relative.matches({"path": "notes/today.md"})
    assert not relative.matches({"path": "/notes/today.md"})


@pytest.mark.parametrize(
    "rest",
    [
        *r"/../etc /x/../../etc /.. /. //etc /./x /... /x./y /~root /%2e%2e/etc /%2E%2E%2fetc".split(),
        *r"/%252e%252e \..\etc /..\etc /..;/etc /..;x/etc /x:stream /$HOME /* /`id` /x?y /x#y /{a,b}".split(),
        *"/\uff0e\uff0e/etc /\u2025/etc \uff0f..\uff0fetc /\uff41 /e\u0301 /\ud800 /.\u200b./etc".split(),
        *"/.\u034f./etc /\u115f..\u115f/etc /\u115f.\u115f.\u115f/etc".split(),
        *("/x /y", "/.. /etc", "/x\n", "/x\r", "/x\x00/../../etc"),
    ],
)
def test_what_a_file_system_or_a_decoder_may_read_otherwise_is_not_covered(rest: str) -> None:
    assert not BELOW.matches({"path": f"/srv/data{rest}"})


def readings(path: str) -> set[str]:
    """Return what file systems, shells and decoders make of a path, one after the other, in any order."""
    readers = (
        unquote,
        lambda text: unicodedata.normalize("NFKC", text),
        lambda text: unicodedata.normalize("NFD", text),
        lambda text: text.replace("\\", "/"),
        lambda text: text.partition("\x00")[0],
        lambda text: "".join(char for char in text if char.isprintable()),
        lambda text: re.sub("[\u034f\u115f\u1160\ufe0f]", "", text),
        lambda text: re.sub("[;:][^/]*", "", text),
        lambda text: "/".join(segment.rstrip(" .") or segment for segment in text.split("/")),
        lambda text: "/".join(segment.strip() for segment in text.split("/")),
        posixpath.normpath,
        lambda text: ntpath.normpath(text).replace("\\", "/"),
    )
    seen = {path}
    fresh = {path}
    for _ in range(4):
        fresh = {reader(text) for text in fresh for reader in readers} - seen
        seen |= fresh
    return seen


@given(st.lists(PARTS, max_size=6).map("".join), st.booleans())
@example("/..%5cetc", True)
def test_no_reading_of_a_covered_path_leaves_the_prefix(rest: str, is_below: bool) -> None:
    path = f"/srv/data/{rest}" if is_below else f"/srv/data{rest}"
    if BELOW.matches({"path": path}):
        for reading in readings(path):
            assert reading == "/srv/data" or reading.startswith("/srv/data/"), (path, reading)


def equal(one: Any, other: Any) -> bool:
    """Return whether two values are equal by JSON Schema 2020-12, section 4.2.2."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    return (type(one) in (int, float) and type(other) in (int, float) and one == other) or (
        type(one) is type(other) and one == other
    )


@given(VALUES, st.lists(VALUES, min_size=1, max_size=3))
@example(1, [True])
@example([1.0], [[1]])
def test_values_are_equal_as_json_schema_says(value: Any, values: list[Any]) -> None:
    one = ArgumentPattern.from_json({"/a": {"equal": values[0]}})
    any_of = ArgumentPattern.from_json({"/a": {"one_of": values}, "/b/0": {"equal": None}})
    assert one.matches({"a": value, "c": 1}) == equal(value, values[0])
    assert any_of.matches({"a": value, "b": [None]}) == any(equal(value, each) for each in values)
    assert not any_of.matches({"a": value})


@given(st.dictionaries(st.sampled_from(["", "/a", "/a~1b/~0", "/x y"]), VALUES, min_size=1))
def test_it_is_the_same_after_json_and_cannot_be_changed(values: dict[str, Any]) -> None:
    document = {place: {"equal": value} for place, value in values.items()}
    pattern = ArgumentPattern.from_json(document)
    text = json.dumps(pattern.to_json())
    assert ArgumentPattern.from_json(json.loads(text)) == pattern
    assert hash(ArgumentPattern.from_json(pattern.to_json())) == hash(pattern)
    for condition in pattern.to_json().values():
        condition["equal"] = "changed"  # type: ignore[index, call-overload]  # it is an object
    for value in values.values():
        if isinstance(value, list):
            value.append("changed")
    assert json.dumps(pattern.to_json()) == text
    assert set(pattern.places) == document.keys()


def test_a_sentence_shows_people_every_value_whole() -> None:
    pattern = ArgumentPattern.from_json(
        {
            "/path": {"path_prefix": "/srv/data"},
            "/level": {"one_of": [1, "two\u202e"]},
            "/filter/owner": {"equal": "x" * 300},
            "": {"equal": {}},
        }
    )
    assert pattern.describe() == (
        f'the entire arguments object is {{}}, and "/filter/owner" is "{"x" * 300}", '
        r'and level is one of 1, "two\u202e", and path is "/srv/data" or a path below it'
    )


@given(st.text(max_size=8), st.text(max_size=8))
def test_no_two_patterns_have_one_sentence(one: str, other: str) -> None:
    sentences = {
        ArgumentPattern.from_json({f"/{place}": {kind: value}}).describe()
        for place in ("a", "b c")
        for text in {one, other}
        for kind, value in (("equal", text), ("one_of", [text]), ("one_of", [text, text]))
    }
    assert len(sentences) == 6 * len({one, other})
    assert all(sentence == visible(sentence) for sentence in sentences)


@pytest.mark.parametrize(
    ("document", "problems"),
    [
        ({}, ["write an object with a condition for at least one place"]),
        ([], ["write an object with a condition for at least one place"]),
        (
            {"path": {"equal": 1}, "/a": {"prefix": "/x"}, "/b~": {}, 7: {"equal": 1}},
            [
                '"path": write the place as a JSON Pointer, such as "/path"',
                '"/a": "prefix" is not a condition; write one of "equal", "one_of", "path_prefix"',
                '"/b~": write the place as a JSON Pointer',
                '"/b~": write an object with one condition',
                '"7": write the place as',
            ],
        ),
        (
            {"/a": {"equal": float("nan")}, "/b": {"equal": (1,)}},
            ['"/a": "equal" takes', '"/b": "equal" takes'],
        ),
        ({"/a": {"one_of": []}, "/b": {"one_of": "ab"}}, ['"/a": "one_of" takes', '"/b": "one_of" takes']),
        (
            {"/a": {"one_of": [object()]}, "/b": {"equal": {1: 1}}},
            ['"/a": "one_of" takes', '"/b": "equal" takes'],
        ),
        (
            {"/a": {"equal": 1, "one_of": [1]}, "/b": {"equal": []}},
            ['"/a": write an object with one condition'],
        ),
        *(
            ({"/a": {"path_prefix": path}}, ['"/a": "path_prefix" takes a normalized path'])
            for path in (
                "",
                "/",
                "/srv/",
                "/srv/../x",
                "//srv",
                ".",
                "/srv\\x",
                "/%73rv",
                "C:/x",
                "/\uff53rv",
                1,
            )
        ),
    ],
)
def test_a_mistake_names_its_place_and_the_way_out(document: object, problems: list[str]) -> None:
    with pytest.raises(PatternError) as caught:
        ArgumentPattern.from_json(document, "rule 2")
    assert len(caught.value.problems) == len(problems)
    for found, expected in zip(caught.value.problems, problems, strict=True):
        assert found.startswith(f"rule 2: {expected}"), found


def test_arguments_of_any_depth_are_no_failure() -> None:
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    assert not ArgumentPattern.from_json({"/a": {"equal": [1]}}).matches({"a": deep})
    with pytest.raises(PatternError):
        ArgumentPattern.from_json({"/a": {"equal": deep}})
    while isinstance(deep, list):  # so that its end needs no recursion
        deep = deep.pop()
