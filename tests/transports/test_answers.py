"""Answers: what a status means, which attributes it gives, and the pages of results."""

from __future__ import annotations

from typing import Any as Anything

import pytest

from tests.checked import built
from tests.transports.designs import (
    BOOK,
    SERVER,
    one,
    sent,
    serving,
    wrong,
)
from toolgen.contract import transport
from toolgen.dsl import (
    ArrayOf,
    Attribute,
    BindTo,
    BoundedResult,
    Bytes,
    Error,
    Int,
    Method,
    Payload,
    Result,
    Service,
    String,
    Tool,
    Toolset,
    Type,
)
from toolgen.dsl.http import GET, HEAD, HTTP, Body, File, Header, Paging, Param, Response


class TestAnswers:
    def test_each_status_means_one_thing(self) -> None:
        result = Result(
            Attribute("books", ArrayOf(BOOK), "Books.", required=True), Attribute("etag", String, "Version.")
        )
        found = sent(
            result,
            Error("gone", BOOK, "Gone."),
            HTTP(
                GET("/books"),
                Response(200, Body("books"), Header("etag", "ETag")),
                Response(410, "gone"),
                Response("4XX", "refused"),
                Response("default", "refused"),
            ),
            service=(Error("refused", description="Refused."),),
        )
        assert found.responses == (
            transport.Response(200, body="books", headers={"etag": "ETag"}),
            transport.Response(410, "gone"),
            transport.Response("4XX", "refused"),
            transport.Response("default", "refused"),
        )

    def test_every_success_is_the_result_where_nothing_else_is_said(self) -> None:
        found = sent(Error("gone", description="Gone."), HTTP(GET("/books"), Response(410, "gone")))
        assert found.responses == (transport.Response("2XX"), transport.Response(410, "gone"))
        found = sent(HTTP(GET("/books"), Response(304)))
        assert found.responses == (transport.Response("2XX"), transport.Response(304))
        assert sent(HTTP(GET("/books"), Response("default"))).responses == (transport.Response("default"),)

    def test_a_body_is_read_by_its_media(self) -> None:
        photo = Attribute("photo", Bytes, "Photo.", required=True)
        found = sent(Result(photo), HTTP(GET("/"), Response(200, Body("photo", media="bytes"))))
        assert found.responses == (transport.Response(200, body="photo", media="bytes"),)
        text = Result(Attribute("text", String, "Text.", required=True))
        found = sent(text, HTTP(GET("/"), Response(200, Body("text", media="text"))))
        assert found.responses == (transport.Response(200, body="text", media="text"),)
        found = sent(text, HTTP(GET("/"), Response(200, Body(media="form"))))
        assert found.responses == (transport.Response(200, media="form"),)

    def test_the_details_of_an_error_come_from_parts_of_the_answer(self) -> None:
        busy = Type(
            "Busy",
            "Busy.",
            Attribute("why", String, "Why."),
            Attribute("seconds", Int, "How long."),
        )
        response = Response(503, "busy", Body("why", media="text"), Header("seconds", "Retry-After"))
        found = sent(Error("busy", busy, "Busy."), HTTP(GET("/"), response))
        assert found.responses[1] == transport.Response(
            503, "busy", body="why", headers={"seconds": "Retry-After"}, media="text"
        )

    def test_errors_of_a_service_are_those_of_its_methods(self) -> None:
        """A method's own of the same name wins."""
        design = built(
            Service(
                "Books",
                "Books.",
                Error("gone", BOOK, "Gone."),
                Error("busy", description="Busy.", retryable=True),
                Method("find", "Find.", Error("busy", description="At work.")),
                Method("read", "Read."),
            )
        )
        find, read = design.services[0].methods
        assert [(error.name, error.description, error.type) for error in find.errors] == [
            ("busy", "At work.", None),
            ("gone", "Gone.", "Book"),
        ]
        assert [(error.name, error.is_retryable) for error in read.errors] == [
            ("gone", False),
            ("busy", True),
        ]


class TestRules:
    ERROR = Error("gone", description="Gone.")

    @pytest.mark.parametrize("status", [0, 99, 600, -1, "4xx", "404", "ok"])
    def test_a_status_is_one_of_http(self, status: Anything) -> None:
        found = wrong(HTTP(GET("/"), Response(status)))
        text = f"Response {status!r} of method 'find' is not an HTTP status"
        assert found[:2] == ("bad-response", text)

    def test_a_status_means_one_thing(self) -> None:
        found = wrong(self.ERROR, HTTP(GET("/"), Response(404), Response(404, "gone"), Response(410, "gone")))
        assert found[:2] == ("bad-response", "Response 404 of method 'find' is written twice")

    def test_an_error_is_declared(self) -> None:
        found = wrong(self.ERROR, HTTP(GET("/"), Response(404, "gon"), Response(410, "gone")))
        assert found == (
            "bad-response",
            "Response 404 of method 'find' is mapped to the error 'gon', which the method does not declare",
            "did you mean 'gone'?",
        )

    def test_an_error_of_the_method_has_a_status(self) -> None:
        """One of the service may be for other methods."""
        found = wrong(self.ERROR, HTTP(GET("/")))
        assert found[:2] == ("unanswered-error", "no Response of method 'find' is mapped to its error 'gone'")
        built(serving(HTTP(GET("/")), service=(self.ERROR,)))

    @pytest.mark.parametrize(
        ("response", "fault"),
        [
            (Response(204, Body("a")), "has a body, but responses with this status never have one"),
            (Response(200, Body(File("a"))), "has a body with several parts, which only requests can have"),
            (Response(200, Body("a", content_type="text/csv")), "has a content type"),
            (Response(200, Body(media="text")), "has media='text' but names no attribute"),
        ],
    )
    def test_a_body_is_one_that_answers_have(self, response: Response, fault: str) -> None:
        result = Result(Attribute("a", String, "One."))
        found = wrong(result, HTTP(GET("/"), response))
        assert found[:2] == ("bad-response", f"Response {response.status} of method 'find' {fault}")

    @pytest.mark.parametrize(
        "response", [Response(204), Response(200, Body("b")), Response("2XX", Body("b"))]
    )
    def test_an_answer_gives_what_the_result_always_has(self, response: Response) -> None:
        result = Result(Attribute("a", Int, "One.", required=True), Attribute("b", String, "Two."))
        found = wrong(result, HTTP(GET("/"), response))
        assert found == (
            "bad-response",
            f"Response {response.status!r} of method 'find' does not provide 'a', which the result requires",
            'write http.Header("a", "…"), or make it optional',
        )
        built(serving(result, HTTP(GET("/"), Response(response.status, Header("a", "X-A")))))

    def test_a_header_of_an_answer_has_no_style(self) -> None:
        result = Result(Attribute("a", Int, "One.", required=True))
        found = wrong(result, HTTP(GET("/"), Response(200, Header("a", "X-A", style="json"))))
        fault = "is only for requests, but this is a response header"
        assert found == ("bad-style", f"style 'json' of Header 'a' of method 'find' {fault}", "remove it")

    @pytest.mark.parametrize("explode", [True, False])
    def test_a_header_of_an_answer_is_not_exploded(self, explode: bool) -> None:
        result = Result(Attribute("a", Int, "One.", required=True))
        found = wrong(result, HTTP(GET("/"), Response(200, Header("a", "X-A", explode=explode))))
        fault = f"has explode={explode} in Header 'a', which is only for requests"
        assert found == ("bad-response", f"Response 200 of method 'find' {fault}", "remove it")

    def test_head_has_headers_alone(self) -> None:
        result = Result(Attribute("a", Int, "One.", required=True))
        assert wrong(result, HTTP(HEAD("/")))[0] == "bad-response"
        built(serving(result, HTTP(HEAD("/"), Response(200, Header("a", "X-A")))))


class TestPaging:
    RESULT = Result(
        Attribute("books", ArrayOf(BOOK), "Books.", required=True),
        Attribute("next", String, "Next page."),
        Attribute("total", Int, "All."),
    )
    PAYLOAD = Payload(Attribute("cursor", String, "Next page."), Attribute("limit", Int, "Most."))

    def test_a_cursor_is_sent_as_it_is(self) -> None:
        found = sent(self.PAYLOAD, self.RESULT, HTTP(GET("/"), Paging(cursor="cursor", next="next")))
        assert found.paging == transport.Paging(cursor="cursor", next="next")
        assert [parameter.attribute for parameter in found.parameters] == ["cursor", "limit"]

    @pytest.mark.parametrize(("style", "first"), [("offset", 0), ("page", 1)])
    def test_the_client_counts(self, style: Anything, first: int) -> None:
        """The cursor is its own, so that it stands in no request."""
        paging = Paging(style=style, cursor="cursor", next="next", size="limit", total="total", name="from")
        found = sent(self.PAYLOAD, self.RESULT, HTTP(GET("/"), paging))
        assert found.paging == transport.Paging(
            style=style,
            cursor="cursor",
            next="next",
            name="from",
            size="limit",
            items="books",
            total="total",
            first=first,
        )
        assert [parameter.attribute for parameter in found.parameters] == ["limit"]

    def test_a_link_and_a_pointer_lead_on(self) -> None:
        link = Paging(style="link", cursor="cursor", next="next")
        body = Response(200, Body("books"))
        assert sent(self.PAYLOAD, self.RESULT, HTTP(GET("/"), link, body)).paging == transport.Paging(
            style="link", cursor="cursor", next="next"
        )
        at = Paging(cursor="cursor", next="next", at="/meta/next")
        assert sent(self.PAYLOAD, self.RESULT, HTTP(GET("/"), at)).paging == transport.Paging(
            cursor="cursor", next="next", at="/meta/next"
        )

    def test_a_bounded_tool_has_the_pages(self) -> None:
        method = Method(
            "find", "Find.", self.PAYLOAD, self.RESULT, HTTP(GET("/"), Paging(cursor="cursor", next="next"))
        )
        tool = Tool("find", "Find.", BindTo("find"), BoundedResult(cursor="cursor", next_cursor="next"))
        design = built(Service("Books", "Books.", SERVER, method, Toolset("tools", "Tools.", tool)))
        window = design.services[0].toolsets[0].tools[0].bounded
        assert window is not None
        assert (window.cursor, window.next_cursor, window.items) == ("cursor", "next", "books")


class TestPagingRules:
    PAYLOAD = Payload(
        Attribute("cursor", String, "Next page."),
        Attribute("always", String, "Next page.", required=True),
        Attribute("first", String, "Next page.", default="1"),
        Attribute("limit", Int, "Most."),
    )
    RESULT = Result(
        Attribute("books", ArrayOf(BOOK), "Books."),
        Attribute("next", String, "Next page."),
        Attribute("total", Int, "All."),
    )

    @pytest.mark.parametrize(
        ("facts", "fault"),
        [
            ({"cursor": "curs"}, "has cursor='curs', which the payload does not have"),
            ({"cursor": ""}, "has no cursor"),
            ({"next": "nxt"}, "has next='nxt', which the result does not have"),
            ({"cursor": "limit"}, "has cursor='limit', which is optional Int, not an optional String"),
            ({"cursor": "always"}, "has cursor='always', which is required String, not an optional String"),
            (
                {"cursor": "first"},
                "has cursor='first', which is String with a default, not an optional String",
            ),
            ({"next": "books"}, "has next='books', which is optional ArrayOf(Book), not an optional String"),
            ({"size": "cursor"}, "has size='cursor', which is optional String, not Int"),
            ({"style": "page", "total": "next"}, "has total='next', which is optional String, not Int"),
            ({"style": "page", "items": "next"}, "has items='next', which is optional String, not a list"),
            ({"total": "total"}, "has total, which does not apply to style='cursor'"),
            ({"style": "link", "items": "books"}, "has items, which does not apply to style='link'"),
            ({"name": "page"}, "has name, which does not apply to style='cursor'"),
            ({"first": 1}, "has first, which does not apply to style='cursor'"),
            ({"style": "page", "at": "/next"}, "has at, which does not apply to style='page'"),
            ({"at": "meta.next"}, "has at='meta.next', which is not a JSON Pointer"),
        ],
    )
    def test_it_names_what_it_needs(self, facts: dict[str, Anything], fault: str) -> None:
        paging: Anything = Paging(**{"cursor": "cursor", "next": "next", **facts})
        found = wrong(self.PAYLOAD, self.RESULT, HTTP(GET("/"), paging))
        assert found[:2] == ("bad-paging", f"Paging of method 'find' {fault}")

    def test_the_next_cursor_comes_from_somewhere(self) -> None:
        paging = Paging(cursor="cursor", next="next")
        body = Body("books")
        found = wrong(self.PAYLOAD, self.RESULT, HTTP(GET("/"), paging, Response(200, body)))
        assert found[1] == "Paging of method 'find' has next='next', which no Response provides"
        response = Response(200, body, Header("next", "X-Next"))
        built(serving(self.PAYLOAD, self.RESULT, HTTP(GET("/"), paging, response)))

    def test_items_are_one_list(self) -> None:
        found = wrong(
            one(String, "cursor"),
            Result(Attribute("next", String, "Next page.")),
            HTTP(GET("/"), Paging(style="page", cursor="cursor", next="next")),
        )
        assert found[1] == "Paging of method 'find' does not name the list with the items of a page"

    def test_a_cursor_that_the_client_makes_is_not_sent(self) -> None:
        paging = Paging(style="link", cursor="cursor", next="next")
        found = wrong(self.PAYLOAD, self.RESULT, HTTP(GET("/"), paging, Param("cursor")))
        assert found[1] == "Paging of method 'find' has cursor='cursor', which Param sends"

    def test_a_method_has_one(self) -> None:
        paging = Paging(cursor="cursor", next="next")
        assert wrong(self.PAYLOAD, self.RESULT, HTTP(GET("/"), paging, paging))[0] == "duplicate-clause"
