"""What is wrong with transports of services: each mistake has its code, its place and a hint."""

from __future__ import annotations

from typing import Any as Anything

import pytest

from tests.checked import built, codes, only
from tests.test_transport_clauses import BOOK, ID, KEY, SERVER, attributes, serving
from toolgen.dsl import (
    DELETE,
    GET,
    HEAD,
    HTTP,
    POST,
    PUT,
    Any,
    APIKeySecurity,
    ArrayOf,
    Attribute,
    AuthorizationCodeFlow,
    BasicSecurity,
    BearerSecurity,
    Body,
    Boolean,
    Bytes,
    ClientCredentialsFlow,
    Cookie,
    Enum,
    Error,
    File,
    Function,
    Functions,
    Header,
    Int,
    JSONSchema,
    MapOf,
    Method,
    NoSecurity,
    Nullable,
    OAuth2Security,
    Object,
    OneOf,
    Paging,
    Param,
    Payload,
    Response,
    Result,
    Scope,
    Security,
    Server,
    Service,
    String,
    Uuid,
    Variable,
)
from toolgen.dsl.security import Scheme
from toolgen.dsl.services import ServiceChild
from toolgen.dsl.structure import MethodChild
from toolgen.dsl.transports import HTTPChild

LINE = Object(Attribute("line", ArrayOf(Int), "Numbers."))
FLAT = Object(Attribute("low", Int, "From."), Attribute("high", Int, "To."))


def wrong(*children: MethodChild, service: tuple[ServiceChild, ...] = ()) -> tuple[str, str, str]:
    """Return code, message and hint of the one thing that is wrong with the method `find`."""
    found = only(serving(*children, service=service))
    return found.code, found.message, found.hint


def one(type_: Anything, name: str = "a", **facts: Anything) -> Payload:
    return Payload(Attribute(name, type_, "One.", **facts))


class TestServers:
    @pytest.mark.parametrize(
        ("url", "fault"),
        [
            ("books.example/v1", "is no absolute address of http or https"),
            ("/v1", "is no absolute address of http or https"),
            ("", "is no absolute address of http or https"),
            ("ftp://books.example", "is no absolute address of http or https"),
            ("https://", "is no absolute address of http or https"),
            ("https://books.example:x", "is no absolute address of http or https"),
            ("https://books example", "is no absolute address of http or https"),
            ("https://[books", "is no absolute address of http or https"),
            ("https://books.example/v1?lang=en", "has a query or a fragment"),
            ("https://books.example/v1#top", "has a query or a fragment"),
            ("https://books.example/v1?", "has a query or a fragment"),
            ("https://me:secret@books.example", "has a user or a password"),
            ("https://books.example/{v1", "has a lone brace"),
        ],
    )
    def test_a_server_is_an_address(self, url: str, fault: str) -> None:
        service = Service("Books", "Books.", Server(url), Method("find", "Find.", HTTP(GET("/"))))
        found = only(service)
        assert (found.code, found.message) == ("bad-server", f"Server {url!r} of service 'Books' {fault}")

    @pytest.mark.parametrize(
        ("server", "fault", "hint"),
        [
            (
                Server("https://{regin}.books.example", Variable("region", default="eu")),
                "names 'regin', which is no Variable of it",
                "did you mean 'region'?",
            ),
            (
                Server("https://books.example", Variable("region", default="eu")),
                "does not name its Variable 'region'",
                "write {region} into the address, or remove it",
            ),
            (
                Server("https://{r}.books.example", Variable("r", "eu", "us", default="as")),
                "has a default of 'r', 'as', that is none of its values",
                "write one of 'eu', 'us'",
            ),
            (
                Server("{s}://books.example", Variable("s", "https", "ftp", default="https")),
                "is no absolute address of http or https",
                'write an address such as "https://api.example.org/v1"',
            ),
        ],
    )
    def test_variables_fit_the_address(self, server: Server, fault: str, hint: str) -> None:
        found = only(Service("Books", "Books.", server))
        text = f"Server {server.url!r} of service 'Books' {fault}"
        assert (found.code, found.message, found.hint) == ("bad-server", text, hint)

    def test_a_variable_stands_once(self) -> None:
        twice = Variable("r", default="a"), Variable("r", default="b")
        assert codes(Service("Books", "Books.", Server("https://{r}.example", *twice))) == ["duplicate-name"]

    def test_a_request_needs_a_server(self) -> None:
        found = only(Service("Books", "Books.", Method("find", "Find.", HTTP(GET("/")))))
        assert (found.code, found.hint) == ("no-server", 'add Server("https://…") to the service')


class TestPaths:
    @pytest.mark.parametrize(
        ("path", "fault"),
        [
            ("", "does not begin with a slash"),
            ("books", "does not begin with a slash"),
            ("/books/{id", "has a lone brace"),
            ("/books/{}", "has braces without a name"),
            ("/books/{id}/{id}", "names 'id' twice"),
            ("/books?all", "has a query or a fragment"),
            ("/books#top", "has a query or a fragment"),
            ("/my books", "has characters that no path has, or dots for another one"),
            ("/../books", "has characters that no path has, or dots for another one"),
        ],
    )
    def test_a_path_goes_on_from_the_server(self, path: str, fault: str) -> None:
        found = wrong(*([attributes("id")] if "id}" in path else []), HTTP(GET(path)))
        assert found[:2] == ("bad-path", f"path {path!r} of method 'find' {fault}")

    def test_a_variable_is_filled(self) -> None:
        for payload in ([], [attributes("number")]):
            found = wrong(*payload, HTTP(GET("/{id}")))
            assert found[0] == "unfilled-variable"
            assert found[1] == "no attribute fills the path variable 'id' of method 'find'"
        found = wrong(attributes("id"), HTTP(GET("/{id}"), Header("id", "X-Id")))
        fault = "attribute 'id' stands elsewhere, and no other one fills"
        assert found[1] == f"{fault} the path variable 'id' of method 'find'"

    def test_a_variable_is_always_there(self) -> None:
        found = wrong(one(String), HTTP(GET("/{a}")))
        assert found == (
            "unfilled-variable",
            "attribute 'a', which may be absent, fills the path variable 'a' of method 'find'",
            "add required=True or a default to 'a'",
        )
        built(serving(one(String, default="x"), HTTP(GET("/{a}"))))
        found = wrong(one(Nullable(String), required=True), HTTP(GET("/{a}")))
        assert found[1] == "attribute 'a', which may be null, fills the path variable 'a' of method 'find'"


class TestNames:
    @pytest.mark.parametrize(
        "clause",
        [Param("authr"), Header("authr", "X-A"), Cookie("authr"), Body("authr"), Body(File("authr"))],
    )
    def test_a_clause_names_an_attribute(self, clause: HTTPChild) -> None:
        found = wrong(one(String, "author"), HTTP(POST("/"), clause))
        kind = "File" if isinstance(clause, Body) and clause.children else type(clause).__name__
        text = f"{kind} of method 'find' names 'authr', which is no attribute of its payload"
        assert found == ("unknown-attribute", text, "did you mean 'author'?")

    @pytest.mark.parametrize("clause", [Body("authr"), Header("authr", "X-A")])
    def test_a_response_names_an_attribute_of_what_it_gives(self, clause: Body | Header) -> None:
        result = Result(Attribute("author", String, "Author."))
        found = wrong(result, HTTP(GET("/"), Response(200, clause)))
        assert found[0] == "unknown-attribute"
        assert found[1].endswith("names 'authr', which is no attribute of its result")
        found = wrong(Error("gone", BOOK, "Gone."), HTTP(GET("/"), Response(410, "gone", clause)))
        assert found[1].endswith("names 'authr', which is no attribute of its error 'gone'")

    def test_one_cause_gives_one_diagnostic(self) -> None:
        """What is wrong with the payload itself, or with a name, makes nothing else wrong."""
        assert wrong(attributes("number"), HTTP(GET("/{id}"), Param("nmber", "id")))[0] == "unknown-attribute"
        assert wrong(one(BOOK, "book"), HTTP(PUT("/"), Body("bok")))[0] == "unknown-attribute"
        assert wrong(Payload("Nothing"), HTTP(PUT("/{id}"), Param("a"), Body("b")))[0] == "unknown-type"
        assert wrong(Result("Nothing"), HTTP(GET("/"), Response(200, Body("b"))))[0] == "unknown-type"

    def test_an_attribute_stands_in_one_place(self) -> None:
        for clauses in (
            (Param("a"), Header("a", "X-A")),
            (Param("a"), Param("a", "b")),
            (Cookie("a"), Body("a")),
            (Param("a"), Body(File("a"))),
        ):
            assert wrong(attributes("a"), HTTP(POST("/"), *clauses))[:2] == (
                "sent-twice",
                "method 'find' sends attribute 'a' twice",
            )

    def test_two_attributes_have_two_names(self) -> None:
        found = wrong(attributes("a", "b"), HTTP(GET("/"), Param("a", "b")))
        assert found[:2] == ("sent-twice", "method 'find' sends 'b' of the query twice")
        found = wrong(attributes("a", "b"), HTTP(GET("/"), Header("a", "X-Id"), Header("b", "x-id")))
        assert found[:2] == ("sent-twice", "method 'find' sends 'x-id' of a header twice")

    @pytest.mark.parametrize(
        ("name", "fault"),
        [
            ("Host", "the client itself sends"),
            ("content-length", "the client itself sends"),
            ("Transfer-Encoding", "the client itself sends"),
            ("Cookie", "the client itself sends"),
            ("Content-Type", "the client itself sends"),
            ("Authorization", "the client itself sends"),
            ("X Id", "has characters that no header has"),
            ("X-Id:", "has characters that no header has"),
            ("", "has characters that no header has"),
            ("Ünique", "has characters that no header has"),
        ],
    )
    def test_a_header_has_a_name_of_its_own(self, name: str, fault: str) -> None:
        found = wrong(attributes("a"), HTTP(GET("/"), Header("a", name)))
        assert found[:2] == ("bad-parameter", f"Header of method 'find' has the name {name!r}, which {fault}")

    def test_other_names_are_checked_too(self) -> None:
        assert wrong(attributes("a"), HTTP(GET("/"), Cookie("a", "my cookie")))[0] == "bad-parameter"
        assert wrong(attributes("a"), HTTP(GET("/"), Param("a", "")))[0] == "bad-parameter"
        result = Result(Attribute("a", String, "A."))
        assert wrong(result, HTTP(GET("/"), Response(200, Header("a", "X A"))))[0] == "bad-parameter"
        built(serving(attributes("a"), HTTP(GET("/"), Header("a", "Accept"))))

    def test_a_key_of_a_scheme_is_no_parameter(self) -> None:
        key = Security(APIKeySecurity("key", "Key.", query="key"))
        found = wrong(attributes("key"), key, HTTP(GET("/")))
        assert found[:2] == (
            "bad-parameter",
            "Param of method 'find' has the name 'key', which is that of the security scheme 'key'",
        )
        found = wrong(attributes("a"), Security(KEY), HTTP(GET("/"), Header("a", "x-api-key")))
        assert found[0] == "bad-parameter"


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
        assert found[1].endswith(f"which cannot stand in {where if where[0] == 'a' else f'the {where}'}")

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
            f"the payload of method 'find' is {text}, and HTTP sends only attributes",
        )

    @pytest.mark.parametrize(
        ("type_", "style", "fault"),
        [
            (String, "matrix", "does not stand in the query"),
            (ArrayOf(Int), "deepObject", "is not for ArrayOf(Int)"),
            (Int, "pipeDelimited", "is not for Int"),
        ],
    )
    def test_a_style_is_for_a_place_and_a_type(self, type_: Anything, style: Anything, fault: str) -> None:
        found = wrong(one(type_), HTTP(GET("/"), Param("a", style=style)))
        assert found[:2] == ("bad-style", f"style {style!r} of Param 'a' of method 'find' {fault}")


class TestBodies:
    @pytest.mark.parametrize("verb", [GET, HEAD])
    def test_some_verbs_have_none(self, verb: type[GET]) -> None:
        found = wrong(attributes("a"), HTTP(verb("/"), Body()))
        assert found[:2] == ("bad-body", f"Body of method 'find' does not go with {verb.__name__}")

    def test_a_request_has_one(self) -> None:
        assert wrong(attributes("a", "b"), HTTP(POST("/"), Body("a"), Body("b")))[0] == "duplicate-clause"

    @pytest.mark.parametrize(
        ("body", "fault"),
        [
            (Body(File("a"), media="form"), "has files, and media='form'"),
            (Body("b", File("a")), "is one attribute, and has files"),
            (Body(media="text"), "is text, and names no attribute"),
            (Body(media="bytes"), "is bytes, and names no attribute"),
            (Body(content_type="json"), "has the content type 'json'"),
            (Body(File("a"), content_type="multipart/mixed"), "is multipart, and has a content type"),
        ],
    )
    def test_its_parts_go_together(self, body: Body, fault: str) -> None:
        payload = Payload(Attribute("a", Bytes, "A."), Attribute("b", FLAT, "B."))
        assert wrong(payload, HTTP(POST("/"), body))[:2] == ("bad-body", f"Body of method 'find' {fault}")


class TestAnswers:
    ERROR = Error("gone", description="Gone.")

    @pytest.mark.parametrize("status", [0, 99, 600, -1, "4xx", "404", "ok"])
    def test_a_status_is_one_of_http(self, status: Anything) -> None:
        found = wrong(HTTP(GET("/"), Response(status)))
        text = f"Response {status!r} of method 'find' is no status of HTTP"
        assert found[:2] == ("bad-response", text)

    def test_a_status_means_one_thing(self) -> None:
        found = wrong(self.ERROR, HTTP(GET("/"), Response(404), Response(404, "gone"), Response(410, "gone")))
        assert found[:2] == ("bad-response", "Response 404 of method 'find' stands twice")

    def test_an_error_is_declared(self) -> None:
        found = wrong(self.ERROR, HTTP(GET("/"), Response(404, "gon"), Response(410, "gone")))
        assert found == (
            "bad-response",
            "Response 404 of method 'find' means the error 'gon', which the method does not declare",
            "did you mean 'gone'?",
        )

    def test_an_error_of_the_method_has_a_status(self) -> None:
        """One of the service may be for other methods."""
        found = wrong(self.ERROR, HTTP(GET("/")))
        assert found[:2] == ("unanswered-error", "no Response of method 'find' means its error 'gone'")
        built(serving(HTTP(GET("/")), service=(self.ERROR,)))

    @pytest.mark.parametrize(
        ("response", "fault"),
        [
            (Response(204, Body("a")), "has a body, which this status never has"),
            (Response(200, Body(File("a"))), "has a body of several parts, which only requests have"),
            (Response(200, Body("a", content_type="text/csv")), "has a content type"),
            (Response(200, Body(media="text")), "is text, and names no attribute"),
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
            f"Response {response.status!r} of method 'find' does not give 'a', which the result always has",
            'write Header("a", "…"), or make it optional',
        )
        built(serving(result, HTTP(GET("/"), Response(response.status, Header("a", "X-A")))))

    def test_head_has_headers_alone(self) -> None:
        result = Result(Attribute("a", Int, "One.", required=True))
        assert wrong(result, HTTP(HEAD("/")))[0] == "bad-response"
        built(serving(result, HTTP(HEAD("/"), Response(200, Header("a", "X-A")))))


class TestPaging:
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
            ({"total": "total"}, "has total, and style='cursor'"),
            ({"style": "link", "items": "books"}, "has items, and style='link'"),
            ({"name": "page"}, "has name, and style='cursor'"),
            ({"first": 1}, "has first, and style='cursor'"),
            ({"style": "page", "at": "/next"}, "has at, and style='page'"),
            ({"at": "meta.next"}, "has at='meta.next', which is no JSON Pointer"),
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
        assert found[1] == "Paging of method 'find' has next='next', which no Response gives"
        response = Response(200, body, Header("next", "X-Next"))
        built(serving(self.PAYLOAD, self.RESULT, HTTP(GET("/"), paging, response)))

    def test_items_are_one_list(self) -> None:
        found = wrong(
            one(String, "cursor"),
            Result(Attribute("next", String, "Next page.")),
            HTTP(GET("/"), Paging(style="page", cursor="cursor", next="next")),
        )
        assert found[1] == "Paging of method 'find' does not say which list has the items of a page"

    def test_a_cursor_that_the_client_makes_is_not_sent(self) -> None:
        paging = Paging(style="link", cursor="cursor", next="next")
        found = wrong(self.PAYLOAD, self.RESULT, HTTP(GET("/"), paging, Param("cursor")))
        assert found[1] == "Paging of method 'find' has cursor='cursor', which Param sends"

    def test_a_method_has_one(self) -> None:
        paging = Paging(cursor="cursor", next="next")
        assert wrong(self.PAYLOAD, self.RESULT, HTTP(GET("/"), paging, paging))[0] == "duplicate-clause"


class TestSecurity:
    FLOW = ClientCredentialsFlow(token="https://a.example/token")

    @pytest.mark.parametrize(
        ("scheme", "fault"),
        [
            (APIKeySecurity("key", "Key."), "has no place"),
            (APIKeySecurity("key", "Key.", header="X-Key", query="key"), "has 2 places"),
            (
                APIKeySecurity("key", "Key.", header="X Key"),
                "has the header 'X Key', which has characters that no header has",
            ),
            (
                APIKeySecurity("key", "Key.", header="Host"),
                "has the header 'Host', which the client itself sends",
            ),
            (APIKeySecurity("key", "Key.", query=""), "has the query '', which is empty"),
            (OAuth2Security("key", "Key.", ClientCredentialsFlow()), "does not say where to get a token"),
            (
                OAuth2Security("key", "Key.", AuthorizationCodeFlow(token="https://a.example")),
                "does not say where to sign in",
            ),
            (
                OAuth2Security("key", "Key.", AuthorizationCodeFlow(authorize="https://a.example")),
                "does not say where to get a token",
            ),
            (
                OAuth2Security("key", "Key.", ClientCredentialsFlow(token="a.example/token")),
                "has token='a.example/token', which is no absolute address of http or https",
            ),
            (
                OAuth2Security("key", "Key.", ClientCredentialsFlow(discovery="https://u:p@a.example")),
                "has discovery='https://u:p@a.example', which is no absolute address of http or https",
            ),
        ],
    )
    def test_a_scheme_says_what_a_client_needs(self, scheme: Scheme, fault: str) -> None:
        found = wrong(Security(scheme), HTTP(GET("/")))
        assert found[:2] == ("bad-security", f"security scheme 'key' {fault}")

    def test_two_schemes_have_two_places(self) -> None:
        both = Security(BasicSecurity("person", "Person."), BearerSecurity("token", "Token."))
        found = wrong(both, HTTP(GET("/")))
        text = "security scheme 'token' and 'person' stand in one place, and are needed at once"
        assert found[:2] == ("bad-security", text)

    def test_two_schemes_have_two_names(self) -> None:
        """The same one may stand in several places, and be written twice."""
        again = APIKeySecurity("library_key", "Key of the library.", header="X-Api-Key")
        built(serving(Security(KEY), Security(again), Security(KEY), HTTP(GET("/"))))
        other = BearerSecurity("library_key", "Token.")
        assert wrong(Security(KEY), Security(other), HTTP(GET("/")))[0] == "duplicate-name"
        assert wrong(Security(BearerSecurity("My Key", "Key.")), HTTP(GET("/")))[0] == "bad-name"
        assert wrong(Security(BearerSecurity("key", "")), HTTP(GET("/")))[0] == "missing-description"

    def test_scopes_are_those_of_a_scheme(self) -> None:
        account = OAuth2Security("account", "Account.", self.FLOW, Scope("read", "Read."))
        found = wrong(Security(account, KEY, scopes=["red"]), HTTP(GET("/")))
        assert found == (
            "unknown-scope",
            "Security names the scope 'red', which is no scope of 'account' and 'library_key'",
            "did you mean 'read'?",
        )
        twice = OAuth2Security("account", "Account.", self.FLOW, Scope("r", "Read."), Scope("r", "Write."))
        assert wrong(Security(twice), HTTP(GET("/")))[0] == "duplicate-name"

    @pytest.mark.parametrize("clause", [Security(KEY), NoSecurity()])
    def test_a_method_without_requests_sends_none(self, clause: Security | NoSecurity) -> None:
        for transport in ([], [Function("rooms:find")]):
            assert wrong(clause, *transport)[0] == "unused-security"


class TestFunctions:
    @pytest.mark.parametrize(
        "target", ["", "rooms", "rooms:", ":book", "rooms:book room", "my-rooms:x", "a:b:c"]
    )
    def test_a_function_is_one_of_a_module(self, target: str) -> None:
        found = wrong(Function(target))
        text = f"Function names {target!r}, which is not written package.module:function"
        assert found[:2] == ("bad-function", text)

    @pytest.mark.parametrize("module", ["", "rooms:book", "my rooms", "office.", "class"])
    def test_functions_are_of_a_module(self, module: str) -> None:
        found = wrong(service=(Functions(module),))
        assert found[:2] == (
            "bad-function",
            f"Functions names {module!r}, which is not written package.module",
        )

    def test_a_method_is_reached_in_one_way(self) -> None:
        found = wrong(HTTP(GET("/")), Function("rooms:find"))
        assert found[:2] == ("two-transports", "method 'find' has HTTP and Function")
        assert wrong(HTTP(GET("/")), HTTP(DELETE("/")))[0] == "duplicate-clause"
        assert wrong(Function("a:b"), Function("a:c"))[0] == "duplicate-clause"


def test_a_wrong_argument_makes_nothing_else_wrong() -> None:
    number: Anything = 5.5
    method = Method("find", "Find.", Error("gone", description="G."), HTTP(GET("/"), Response(410, "gone")))
    assert codes(Service("Books", "Books.", Server(number), method)) == ["wrong-argument"]
    found = wrong(Error("gone", description="Gone."), HTTP(GET("/"), Response(number, "gone")))
    assert found[:2] == ("wrong-argument", 'status of Response is 5.5, not a status such as 404 or "4XX"')


def test_a_word_has_its_place() -> None:
    misplaced: Anything = Param("a")
    found = only(Service("Books", "Books.", SERVER, Method("find", "Find.", misplaced)))
    assert (found.code, found.hint) == ("misplaced-word", "put it into HTTP")
    no_verb: Anything = Param("a")
    found = only(serving(HTTP(no_verb)))
    assert found.code == "wrong-argument"
    assert found.message.startswith("request of HTTP is Param, not a GET or a HEAD or")


def test_an_error_of_a_service_has_a_named_type() -> None:
    found = only(Service("Books", "Books.", Error("gone", FLAT, "Gone.")))
    assert (found.code, found.message) == (
        "unnamed-error",
        "error 'gone' of service 'Books' is an object without a name",
    )
    twice = Error("gone", description="Gone."), Error("gone", description="Gone.")
    assert codes(Service("Books", "Books.", *twice)) == ["duplicate-name"]
