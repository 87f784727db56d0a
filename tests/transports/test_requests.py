"""Requests: where each attribute of a payload goes, by its clause, by a name in the path, or by the verb."""

from __future__ import annotations

import pytest

from tests.checked import built
from tests.transports.designs import (
    BOOK,
    ID,
    KEY,
    attributes,
    one,
    sent,
    serving,
    wrong,
)
from toolgen.contract import transport
from toolgen.dsl import (
    Any,
    ArrayOf,
    Attribute,
    Bytes,
    Error,
    Int,
    MapOf,
    Nullable,
    Object,
    Payload,
    Result,
    String,
)
from toolgen.dsl.http import (
    DELETE,
    GET,
    HEAD,
    HTTP,
    OPTIONS,
    PATCH,
    POST,
    PUT,
    Accept,
    APIKeySecurity,
    Body,
    Cookie,
    File,
    Header,
    HTTPChild,
    Param,
    Response,
    Security,
)


class TestPlaces:
    """What is not named goes where Goa puts it."""

    @pytest.mark.parametrize("verb", [GET, HEAD, OPTIONS, DELETE])
    def test_the_rest_goes_into_the_query(self, verb: type[GET]) -> None:
        found = sent(attributes("id", "words"), HTTP(verb("/books/{id}")))
        assert found == transport.HTTP(
            verb=verb.__name__,  # type: ignore[arg-type]  # the clauses have the names of the verbs
            path="/books/{id}",
            parameters=(transport.Parameter("id", "path"), transport.Parameter("words", "query")),
            responses=(transport.Response("2XX"),),
        )

    @pytest.mark.parametrize("verb", [PUT, POST, PATCH])
    def test_the_rest_goes_into_the_body(self, verb: type[PUT]) -> None:
        found = sent(attributes("id", "title", "author"), HTTP(verb("/books/{id}")))
        assert found.parameters == (transport.Parameter("id", "path"),)
        assert found.body == transport.Body(attributes=("title", "author"))

    def test_a_request_without_more_has_no_body(self) -> None:
        assert sent(attributes("id"), HTTP(POST("/books/{id}/open"))).body is None
        assert sent(HTTP(POST("/books"), Body())).body == transport.Body()

    def test_clauses_name_places(self) -> None:
        found = sent(
            attributes("id", "etag", "visitor", "words"),
            HTTP(
                GET("/books/{number}"),
                Param("words", "q"),
                Cookie("visitor", "VISITOR", explode=False),
                Header("etag", "If-None-Match"),
                Param("id", "number", style="matrix"),
            ),
        )
        assert found.parameters == (
            transport.Parameter("id", "path", "number", "matrix"),
            transport.Parameter("etag", "header", "If-None-Match"),
            transport.Parameter("visitor", "cookie", "VISITOR", None, False),
            transport.Parameter("words", "query", "q"),
        )

    def test_a_list_and_an_object_stand_in_the_query(self) -> None:
        payload = Payload(
            Attribute("tags", ArrayOf(String), "Tags."),
            Attribute("filter", Object(Attribute("author", String, "Who.")), "Which."),
            Attribute("more", MapOf(String, Int), "More."),
        )
        clauses: tuple[HTTPChild, ...] = (
            Param("tags", style="pipeDelimited", explode=False),
            Param("filter", style="deepObject"),
        )
        assert sent(payload, HTTP(GET("/books"), *clauses)).parameters == (
            transport.Parameter("tags", "query", "", "pipeDelimited", False),
            transport.Parameter("filter", "query", "", "deepObject"),
            transport.Parameter("more", "query"),
        )

    def test_a_value_of_any_type_stands_everywhere_as_json(self) -> None:
        names = ("id", "filter", "tags", "visitor")
        payload = Payload(*(Attribute(name, ArrayOf(Any), "What.", required=True) for name in names))
        clauses: tuple[HTTPChild, ...] = (
            Param("id", style="json"),
            Param("filter", style="json"),
            Header("tags", "X-Tags", style="json"),
            Cookie("visitor", style="json"),
        )
        assert sent(payload, HTTP(GET("/{id}"), *clauses)).parameters == (
            transport.Parameter("id", "path", "", "json"),
            transport.Parameter("filter", "query", "", "json"),
            transport.Parameter("tags", "header", "X-Tags", "json"),
            transport.Parameter("visitor", "cookie", "", "json"),
        )

    @pytest.mark.parametrize(
        ("body", "expected"),
        [
            (Body("book"), transport.Body(attribute="book")),
            (Body("book", media="form"), transport.Body(media="form", attribute="book")),
            (
                Body("book", media="form", style="deepObject"),
                transport.Body(media="form", attribute="book", style="deepObject"),
            ),
            (Body("text", media="text"), transport.Body(media="text", attribute="text")),
            (Body("cover", media="bytes"), transport.Body(media="bytes", attribute="cover")),
            (
                Body("book", content_type="application/merge-patch+json"),
                transport.Body(attribute="book", content_type="application/merge-patch+json"),
            ),
        ],
    )
    def test_a_body_is_one_attribute(self, body: Body, expected: transport.Body) -> None:
        """What stands beside it goes into the query."""
        payload = Payload(
            ID,
            Attribute("book", Object(Attribute("title", String, "Title.")), "Book."),
            Attribute("text", String, "Text."),
            Attribute("cover", Bytes, "Cover."),
        )
        found = sent(payload, HTTP(PATCH("/books/{id}"), body))
        assert found.body == expected
        names = [parameter.attribute for parameter in found.parameters]
        assert sorted((*names, expected.attribute)) == ["book", "cover", "id", "text"]

    def test_a_body_has_files(self) -> None:
        payload = Payload(
            Attribute("title", String, "Title."),
            Attribute("cover", Bytes, "Cover."),
            Attribute("scan", String, "URI of the artifact."),
        )
        found = sent(payload, HTTP(POST("/books"), Body(File("cover"), File("scan"))))
        assert found.body == transport.Body(
            media="multipart", attributes=("title", "cover", "scan"), files=("cover", "scan")
        )

    def test_a_form_has_fields(self) -> None:
        found = sent(attributes("name", "tags"), HTTP(POST("/books"), Body(media="form"), Param("tags")))
        assert found.body == transport.Body(media="form", attributes=("name",))

    def test_a_body_of_a_delete_takes_the_rest(self) -> None:
        assert sent(attributes("why"), HTTP(DELETE("/books"), Body())).body == transport.Body(
            attributes=("why",)
        )


class TestPaths:
    @pytest.mark.parametrize(
        ("path", "fault"),
        [
            ("", "does not begin with a slash"),
            ("books", "does not begin with a slash"),
            ("/books/{id", "has an unpaired brace"),
            ("/books/{}", "has braces without a name"),
            ("/books/{id}/{id}", "names 'id' twice"),
            ("/books?all", "has a query or a fragment"),
            ("/books#top", "has a query or a fragment"),
            ("/my books", "has characters that are not allowed in paths, or dot segments"),
            ("/../books", "has characters that are not allowed in paths, or dot segments"),
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
        fault = "attribute 'id' is sent elsewhere, and no other attribute fills"
        assert found[1] == f"{fault} the path variable 'id' of method 'find'"

    def test_a_variable_is_always_there(self) -> None:
        found = wrong(one(String), HTTP(GET("/{a}")))
        assert found == (
            "unfilled-variable",
            "attribute 'a', which can be absent, fills the path variable 'a' of method 'find'",
            "add required=True or a default to 'a'",
        )
        built(serving(one(String, default="x"), HTTP(GET("/{a}"))))
        found = wrong(one(Nullable(String), required=True), HTTP(GET("/{a}")))
        assert found[1] == "attribute 'a', which can be null, fills the path variable 'a' of method 'find'"


class TestNames:
    @pytest.mark.parametrize(
        "clause",
        [Param("authr"), Header("authr", "X-A"), Cookie("authr"), Body("authr"), Body(File("authr"))],
    )
    def test_a_clause_names_an_attribute(self, clause: HTTPChild) -> None:
        found = wrong(one(String, "author"), HTTP(POST("/"), clause))
        kind = "File" if isinstance(clause, Body) and clause.children else type(clause).__name__
        text = f"{kind} of method 'find' names 'authr', which is not an attribute of its payload"
        assert found == ("unknown-attribute", text, "did you mean 'author'?")

    @pytest.mark.parametrize("clause", [Body("authr"), Header("authr", "X-A")])
    def test_a_response_names_an_attribute_of_what_it_gives(self, clause: Body | Header) -> None:
        result = Result(Attribute("author", String, "Author."))
        found = wrong(result, HTTP(GET("/"), Response(200, clause)))
        assert found[0] == "unknown-attribute"
        assert found[1].endswith("names 'authr', which is not an attribute of its result")
        found = wrong(Error("gone", BOOK, "Gone."), HTTP(GET("/"), Response(410, "gone", clause)))
        assert found[1].endswith("names 'authr', which is not an attribute of its error 'gone'")

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
            ("Host", "the client sends itself"),
            ("content-length", "the client sends itself"),
            ("Transfer-Encoding", "the client sends itself"),
            ("Cookie", "the client sends itself"),
            ("Content-Type", "the client sends itself"),
            ("Authorization", "the client sends itself"),
            ("X Id", "has characters that are not allowed in headers"),
            ("X-Id:", "has characters that are not allowed in headers"),
            ("", "has characters that are not allowed in headers"),
            ("Ünique", "has characters that are not allowed in headers"),
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

    def test_media_types_are_asked_for_in_their_order(self) -> None:
        found = sent(HTTP(GET("/"), Accept("application/vnd.books+json;v=2", "application/json")))
        assert found.accept == ("application/vnd.books+json;v=2", "application/json")
        assert sent(HTTP(GET("/"))).accept == ()

    @pytest.mark.parametrize("name", ["json", "", "text/*", "*/*", "a/b, c/d", "a/b\r\nX-Evil: 1", "a/b;q"])
    def test_a_media_type_is_written_whole(self, name: str) -> None:
        found = wrong(HTTP(GET("/"), Accept("application/json", name)))
        assert found[:2] == (
            "bad-parameter",
            f"Accept of method 'find' has the name {name!r}, which is not a media type",
        )

    def test_media_types_stand_in_one_clause(self) -> None:
        assert wrong(HTTP(GET("/"), Accept("a/b"), Accept("a/c")))[0] == "duplicate-clause"
        assert wrong(HTTP(GET("/"), Accept()))[0] == "bad-parameter"

    def test_a_key_of_a_scheme_is_no_parameter(self) -> None:
        key = Security(APIKeySecurity("key", "Key.", query="key"))
        found = wrong(attributes("key"), key, HTTP(GET("/")))
        assert found[:2] == (
            "bad-parameter",
            "Param of method 'find' has the name 'key', which is used by the security scheme 'key'",
        )
        found = wrong(attributes("a"), Security(KEY), HTTP(GET("/"), Header("a", "x-api-key")))
        assert found[0] == "bad-parameter"
