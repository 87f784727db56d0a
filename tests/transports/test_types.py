"""What can be sent in which place and in which body, and read from which part of an answer."""

from __future__ import annotations

from typing import Any as Anything

import pytest

from tests.checked import built
from tests.transports.designs import (
    BOOK,
    FLAT,
    ID,
    LINE,
    attributes,
    one,
    serving,
    wrong,
)
from toolgen.dsl import (
    Any,
    ArrayOf,
    Attribute,
    Boolean,
    Bytes,
    Enum,
    Int,
    JSONSchema,
    MapOf,
    Nullable,
    Object,
    OneOf,
    Payload,
    Result,
    String,
    Uuid,
)
from toolgen.dsl.http import GET, HEAD, HTTP, POST, Body, Cookie, File, Header, HTTPChild, Param, Response


class TestTypes:
    @pytest.mark.parametrize(
        ("type_", "place"),
        [
            (BOOK, "path"),
            (MapOf(String, Int), "path"),
            (ArrayOf(ArrayOf(Int)), "path"),
            (Any, "path"),
            (OneOf("kind", small=Object(), large=Object()), "path"),
            (LINE, "query"),
            (ArrayOf(BOOK), "query"),
            (MapOf(String, ArrayOf(Int)), "query"),
            (Object(open=True), "query"),
            (OneOf("kind", small=LINE), "query"),
            (FLAT, "header"),
            (MapOf(String, Int), "header"),
            (Nullable(BOOK), "cookie"),
        ],
    )
    def test_what_stands_outside_the_body_has_a_text(self, type_: Anything, place: str) -> None:
        clauses: dict[str, tuple[HTTPChild, ...]] = {
            "header": (Header("a", "X-A"),),
            "cookie": (Cookie("a"),),
        }
        path = "/{a}" if place == "path" else "/"
        found = wrong(one(type_, required=True), HTTP(GET(path), *clauses.get(place, ())))
        assert found[0] == "unsendable-type"
        where = place if place in ("path", "query") else f"a {place}"
        assert found[1].endswith(f"which cannot be sent in {where if where[0] == 'a' else f'the {where}'}")

    @pytest.mark.parametrize(
        "type_",
        [
            String,
            Nullable(Int),
            Boolean,
            Uuid,
            Bytes,
            Enum("Size", "Size.", "small", "large"),
            ArrayOf(Int),
            JSONSchema({"type": ["string", "integer"]}),
        ],
    )
    def test_values_and_lists_stand_everywhere(self, type_: Anything) -> None:
        for path, clauses in (("/{a}", ()), ("/", ()), ("/", (Header("a", "X-A"),)), ("/", (Cookie("a"),))):
            children: Anything = clauses
            if not (isinstance(type_, Nullable) and path == "/{a}"):
                built(serving(one(type_, required=True), HTTP(GET(path), *children)))

    @pytest.mark.parametrize(
        ("type_", "body"),
        [
            (BOOK, Body("a", media="text")),
            (ArrayOf(String), Body("a", media="text")),
            (Int, Body("a", media="bytes")),
            (String, Body("a", media="form")),
            (ArrayOf(BOOK), Body("a", media="multipart")),
            (Int, Body(File("a"))),
            (ArrayOf(Int), Body(File("a"))),
        ],
    )
    def test_a_body_is_of_a_type_that_its_media_has(self, type_: Anything, body: Body) -> None:
        assert wrong(one(type_), HTTP(POST("/"), body))[0] == "unsendable-type"

    @pytest.mark.parametrize(
        ("type_", "body"),
        [
            (Int, Body("a", media="text")),
            (String, Body("a", media="bytes")),
            (Any, Body("a", media="form")),
            (MapOf(String, BOOK), Body("a", media="multipart")),
            (ArrayOf(Bytes), Body(File("a"))),
            (LINE, Body(media="form")),
            (JSONSchema({"type": "string"}), Body("a", media="text")),
        ],
    )
    def test_another_body_can_be_sent(self, type_: Anything, body: Body) -> None:
        built(serving(one(type_), HTTP(POST("/"), body)))

    @pytest.mark.parametrize(
        ("type_", "clause"),
        [
            (BOOK, Header("a", "X-A")),
            (ArrayOf(Int), Header("a", "X-A")),
            (Bytes, Header("a", "X-A")),
            (Int, Body("a", media="text")),
            (String, Body("a", media="bytes")),
            (Int, Body("a", media="form")),
        ],
    )
    def test_an_answer_is_of_a_type_that_can_be_read(self, type_: Anything, clause: Body | Header) -> None:
        result = Result(Attribute("a", type_, "One."))
        assert wrong(result, HTTP(GET("/"), Response(200, clause)))[0] == "unsendable-type"

    @pytest.mark.parametrize("kind", ["open", "foreign"])
    def test_keys_that_nobody_knows_have_no_place(self, kind: str) -> None:
        payload = Payload(JSONSchema({"type": "object"})) if kind == "foreign" else Payload(ID, open=True)
        found = wrong(payload, HTTP(POST("/")))
        text = "open" if kind == "open" else "a JSONSchema"
        assert found[:2] == (
            "unknown-keys",
            f"the payload of method 'find' is {text}, but HTTP sends only attributes",
        )

    @pytest.mark.parametrize(
        ("type_", "style", "fault"),
        [
            (String, "matrix", "is not allowed in the query"),
            (ArrayOf(Int), "deepObject", "does not apply to ArrayOf(Int)"),
            (Int, "pipeDelimited", "does not apply to Int"),
        ],
    )
    def test_a_style_is_for_a_place_and_a_type(self, type_: Anything, style: Anything, fault: str) -> None:
        found = wrong(one(type_), HTTP(GET("/"), Param("a", style=style)))
        assert found[:2] == ("bad-style", f"style {style!r} of Param 'a' of method 'find' {fault}")


class TestBodies:
    @pytest.mark.parametrize("verb", [GET, HEAD])
    def test_some_verbs_have_none(self, verb: type[GET]) -> None:
        found = wrong(attributes("a"), HTTP(verb("/"), Body()))
        assert found[:2] == ("bad-body", f"Body of method 'find' is not allowed with {verb.__name__}")

    def test_a_request_has_one(self) -> None:
        assert wrong(attributes("a", "b"), HTTP(POST("/"), Body("a"), Body("b")))[0] == "duplicate-clause"

    @pytest.mark.parametrize(
        ("body", "fault"),
        [
            (Body(File("a"), media="form"), "has files, but media='form'"),
            (Body("b", File("a")), "names an attribute and has files"),
            (Body(media="text"), "has media='text' but names no attribute"),
            (Body(media="bytes"), "has media='bytes' but names no attribute"),
            (Body(style="deepObject"), "has media='json' and the style 'deepObject'"),
            (Body(content_type="json"), "has the content type 'json'"),
            (Body(File("a"), content_type="multipart/mixed"), "is multipart and has a content type"),
        ],
    )
    def test_its_parts_go_together(self, body: Body, fault: str) -> None:
        payload = Payload(Attribute("a", Bytes, "A."), Attribute("b", FLAT, "B."))
        assert wrong(payload, HTTP(POST("/"), body))[:2] == ("bad-body", f"Body of method 'find' {fault}")
