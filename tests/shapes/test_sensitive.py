"""Where documents have sensitive values, and documents and texts without them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cases.sensitive.gen.bank.toolsets import payments
from toolgen.catalog import load_catalog
from toolgen.contract.logs import logger
from toolgen.contract.secrets import HIDDEN, Secrets, current, hiding, scrubbed, scrubbed_json
from toolgen.shapes.fields import ArrayType, Field, MapType, ObjectType, RefType, StringType, UnionType
from toolgen.shapes.sensitive import (
    MARKER,
    pointers_at,
    pointers_of,
    redacted,
    sensitive_places,
    values_at,
)


def field(name: str, type_: object = None, *, sensitive: bool = False) -> Field:
    given = StringType() if type_ is None else type_
    return Field(name=name, type=given, description="", title="", sensitive=sensitive)  # type: ignore[arg-type]  # of a test


def object_(name: str, *fields: Field) -> ObjectType:
    return ObjectType(name=name, description="", fields=fields)


def test_places_are_pointers_with_stars_and_escapes() -> None:
    inner = object_("Inner", field("a/b", sensitive=True), field("c~d", sensitive=True), field("e"))
    listed = ArrayType(items=MapType(values=RefType(name="Inner")))
    root = object_("Root", field("x", listed), field("y", RefType(name="Inner"), sensitive=True))
    assert sensitive_places(root, {"Inner": inner, "Root": root}) == ("/x/*/*/a~1b", "/x/*/*/c~0d", "/y")


def test_a_recursive_type_has_the_same_places_at_each_level() -> None:
    node = object_("Node", field("key", sensitive=True), field("next", RefType(name="Node")), field("id"))
    places = sensitive_places(node, {"Node": node})
    assert places == ("/key", "/next/~^1")
    value = {"id": "1", "key": "a", "next": {"id": "2", "key": "b", "next": {"key": "c", "next": None}}}
    assert redacted(value, places, "?") == {
        "id": "1",
        "key": "?",
        "next": {"id": "2", "key": "?", "next": {"key": "?", "next": None}},
    }
    assert list(values_at(value, places)) == ["a", "b", "c"]
    assert pointers_at(value, places) == ("/key", "/next/key", "/next/next/key")
    assert pointers_of(places) == ("/key", "/next")
    plain = object_("Plain", field("key"), field("next", RefType(name="Plain")))
    assert sensitive_places(plain, {"Plain": plain}) == ()


def test_types_that_are_inside_each_other() -> None:
    person = object_("Person", field("name"), field("owns", ArrayType(items=RefType(name="House"))))
    house = object_(
        "House", field("door", sensitive=True), field("by-name", MapType(values=RefType(name="Person")))
    )
    places = sensitive_places(person, {"Person": person, "House": house})
    assert places == ("/owns/*/door", "/owns/*/by-name/*/~^4")
    inner = {"name": "b", "owns": [{"door": 2}, {"by-name": {"*": {"name": "c", "owns": [{"door": 3}]}}}]}
    value = {"name": "a", "owns": [{"door": 1, "by-name": {"x": inner}}]}
    assert list(values_at(value, places)) == [1, 2, 3]
    assert '"name": "c"' in json.dumps(redacted(value, places))


def test_a_branch_of_a_union_hides_its_own_fields_alone() -> None:
    card = object_("Card", field("id", sensitive=True), field("of", RefType(name="Card")))
    cash = object_("Cash", field("id"), field("a/~b", sensitive=True))
    either = UnionType(tag="kind", branches=(("card", RefType(name="Card")), ("~c/", RefType(name="Cash"))))
    root = object_("Root", field("from", either))
    places = sensitive_places(root, {"Root": root, "Card": card, "Cash": cash})
    assert places == (
        *("/from/~!kind~!~0c~1/id", "/from/~!kind~!~0c~1/of/~^1"),
        "/from/~!kind~!card/a~1~0b",
    )
    assert pointers_of(places) == ("/from/id", "/from/of", "/from/a~1~0b")

    def shown(**value: object) -> object:
        return redacted({"from": value}, places, "?")["from"]

    assert shown(kind="card", id=1, of={"id": 2}) == {"kind": "card", "id": "?", "of": {"id": "?"}}
    assert shown(kind="~c/", id=1, **{"a/~b": 2}) == {"kind": "~c/", "id": 1, "a/~b": "?"}
    for unknown in ({"kind": "other"}, {"kind": 1}, {"kind": None}, {"kind": ["card"]}, {}):
        assert shown(id=1, **unknown, **{"a/~b": 2}) == {"id": "?", **unknown, "a/~b": "?"}


def test_deep_values_are_redacted() -> None:
    node = object_("Node", field("key", sensitive=True), field("next", ArrayType(items=RefType(name="Node"))))
    places = sensitive_places(node, {"Node": node})
    value: Any = None
    for _ in range(120):
        value = {"key": 1, "next": [value]}
    assert len(list(values_at(value, places))) == 120
    assert json.dumps(redacted(value, places, "?")).count("?") == 120


def test_what_is_absent_or_null_stays_so() -> None:
    value = {"a": None, "b": [{"k": 1}, {}], "c": {"x": {"k": 2}}}
    places = ("/a", "/b/*/k", "/c/*/k", "/d/e")
    assert redacted(value, places) == {
        "a": None,
        "b": [{"k": dict(MARKER)}, {}],
        "c": {"x": {"k": dict(MARKER)}},
    }
    assert redacted(value, places, "?")["c"] == {"x": {"k": "?"}}
    assert list(values_at(value, places)) == [1, 2]
    assert redacted(value, ()) is value


def secrets(*values: object) -> Secrets:
    made = Secrets()
    made.add(values)
    return made


@pytest.mark.parametrize(
    "text",
    [
        'it\'s "one"\nof\tmany é',
        "-----BEGIN KEY-----\nabc\\def\n-----END KEY-----",
        "12345",
        "sk_live_51H8x2e",
    ],
    ids=["quotes", "lines", "digits", "key"],
)
def test_a_value_is_found_however_it_is_escaped(text: str) -> None:
    forms = [text, repr(text), json.dumps(text), json.dumps(text, ensure_ascii=False), repr([text])]
    forms += [repr(repr(text)), json.dumps(json.dumps(text)), repr({"a": json.dumps({"b": text})})]
    with hiding(secrets(text)):
        for form in forms:
            shown = scrubbed(f"before {form} after")
            assert HIDDEN in shown
            assert not any(part in shown for part in ("many", "BEGIN", "12345", "sk_live")), shown


def test_short_values_are_words() -> None:
    with hiding(secrets("123", 45678, True, "ab", "")):
        assert scrubbed("123 of 1234 and ab, true, 45678") == f"{HIDDEN} of 1234 and ab, true, {HIDDEN}"
        assert scrubbed_json({"a": [45678, True, "123"], "123": 1.5}) == {
            "a": [HIDDEN, True, HIDDEN],
            HIDDEN: 1.5,
        }


def test_a_piece_of_a_long_value_is_hidden() -> None:
    key = "".join(f"<{number}>" for number in range(40))
    with hiding(secrets(key)):
        assert scrubbed(f"{key[:30]}…{key[-20:]} {key[:9]}") == f"{HIDDEN}…{HIDDEN} {key[:9]}"


def test_values_are_hidden_inside_the_block_alone() -> None:
    outer = secrets("outer-value")
    with hiding(outer):
        inner = Secrets()
        inner.add(["inner-value"])
        with hiding(inner):
            assert scrubbed("outer-value inner-value") == f"{HIDDEN} {HIDDEN}"
        assert scrubbed("outer-value inner-value") == f"{HIDDEN} inner-value"
    assert scrubbed("outer-value") == "outer-value"
    assert current() is None


def test_a_record_has_no_exception_that_a_handler_could_quote(caplog: pytest.LogCaptureFixture) -> None:
    log = logger("toolgen.test_secrets")
    with hiding(secrets("some-value")):
        try:
            raise ValueError("with some-value")
        except ValueError:
            log.exception("it failed with %s", "some-value")
    (record,) = caplog.records
    assert record.exc_info is None
    assert "some-value" not in caplog.text
    assert f"ValueError: with {HIDDEN}" in caplog.text


def test_the_codec_and_the_catalog_say_the_same() -> None:
    catalog = load_catalog(Path(payments.__path__[0], "tool_schemas.json"))
    entries = {tool["id"]: tool for tool in catalog.tools}
    for spec in payments.SPECS:
        entry = entries[spec.id]
        assert tuple(entry["payload"].get("sensitive", ())) == pointers_of(spec.payload.sensitive) != ()
        assert tuple(entry["result"].get("sensitive", ())) == pointers_of(spec.result.sensitive)
    (statement,) = entries["bank.payments.pay"]["artifacts"]
    assert tuple(statement["sensitive"]) == pointers_of(payments.PAY_STATEMENT.codec.sensitive)
