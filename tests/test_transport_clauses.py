"""Services with a transport: where each attribute goes, and what their clauses become in the tree."""

from __future__ import annotations

from typing import Any as Anything

import pytest

from tests.checked import bound, built
from toolgen.contract import transport
from toolgen.dsl import (
    DELETE,
    GET,
    HEAD,
    HTTP,
    OPTIONS,
    PATCH,
    POST,
    PUT,
    Annotations,
    APIKeySecurity,
    ArrayOf,
    Attribute,
    AuthorizationCodeFlow,
    BasicSecurity,
    BearerSecurity,
    BindTo,
    Body,
    BoundedResult,
    Bytes,
    ClientCredentialsFlow,
    Cookie,
    Error,
    File,
    Function,
    Functions,
    Header,
    Int,
    MapOf,
    Method,
    NoSecurity,
    OAuth2Security,
    Object,
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
    Tool,
    Toolset,
    Type,
    Variable,
)
from toolgen.dsl.services import ServiceChild
from toolgen.dsl.structure import MethodChild
from toolgen.dsl.transports import HTTPChild

SERVER = Server("https://books.example/v1")
BOOK = Type("Book", "A book.", Attribute("title", String, "Title.", required=True))
ID = Attribute("id", Int, "Number.", required=True)
KEY = APIKeySecurity("library_key", "Key of the library.", header="X-Api-Key")
KEY_SCHEME = transport.SecurityScheme(
    name="library_key", kind="api_key", description="Key of the library.", place="header", key="X-Api-Key"
)


def serving(*children: MethodChild, service: tuple[ServiceChild, ...] = ()) -> Service:
    return Service("Books", "Books.", SERVER, *service, Method("find", "Find.", *children))


def sent(*children: MethodChild, service: tuple[ServiceChild, ...] = ()) -> transport.HTTP:
    """Return the transport of the one method of a service."""
    found = built(serving(*children, service=service)).services[0].methods[0].transport
    assert isinstance(found, transport.HTTP)
    return found


def attributes(*names: str) -> Payload:
    return Payload(*(Attribute(name, String, "One.", required=True) for name in names))


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

    @pytest.mark.parametrize(
        ("body", "expected"),
        [
            (Body("book"), transport.Body(attribute="book")),
            (Body("book", media="form"), transport.Body(media="form", attribute="book")),
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


class TestServers:
    def test_the_first_is_the_preferred_one(self) -> None:
        servers = (
            Server("https://{region}.books.example/v1/", Variable("region", "eu", "us", default="eu")),
            Server("http://{host}:8080", Variable("host", default="localhost"), accepted=False),
        )
        design = built(Service("Books", "Books.", *servers, Method("find", "Find.", HTTP(GET("/")))))
        assert design.services[0].servers == (
            transport.Server(
                "https://{region}.books.example/v1/",
                (transport.Variable(name="region", default="eu", values=("eu", "us")),),
            ),
            transport.Server(
                "http://{host}:8080", (transport.Variable(name="host", default="localhost"),), False
            ),
        )


class TestSecurity:
    def test_a_method_has_the_security_of_its_service(self) -> None:
        found = sent(HTTP(GET("/")), service=(Security(KEY),))
        assert found.security == ((transport.Requirement(KEY_SCHEME),),)
        assert sent(HTTP(GET("/")), NoSecurity(), service=(Security(KEY),)).security == ()
        assert sent(HTTP(GET("/"))).security == ()

    def test_several_clauses_are_alternatives(self) -> None:
        """All schemes of one clause are needed at once; no credential may be an alternative too."""
        account = OAuth2Security(
            "account",
            "Account.",
            AuthorizationCodeFlow(
                authorize="https://a.example/auth",
                token="https://a.example/token",
                refresh="https://a.example/r",
            ),
            Scope("read", "Read."),
            Scope("write", "Write."),
        )
        found = sent(
            HTTP(GET("/")),
            Security(KEY, account, scopes=["read"]),
            Security(BasicSecurity("person", "Person.")),
            Security(BearerSecurity("token", "Token.")),
            NoSecurity(),
        )
        oauth = transport.SecurityScheme(
            name="account",
            kind="oauth2",
            description="Account.",
            flow=transport.OAuthFlow(
                kind="authorization_code",
                token="https://a.example/token",
                authorize="https://a.example/auth",
                refresh="https://a.example/r",
            ),
            scopes={"read": "Read.", "write": "Write."},
        )
        basic = transport.SecurityScheme(name="person", kind="basic", description="Person.")
        bearer = transport.SecurityScheme(name="token", kind="bearer", description="Token.")
        assert found.security == (
            (transport.Requirement(KEY_SCHEME), transport.Requirement(oauth, ("read",))),
            (transport.Requirement(basic),),
            (transport.Requirement(bearer),),
            (),
        )

    def test_metadata_has_the_addresses(self) -> None:
        flow = ClientCredentialsFlow(discovery="https://a.example/.well-known/oauth-authorization-server")
        found = sent(HTTP(GET("/")), Security(OAuth2Security("account", "Account.", flow)))
        assert found.security[0][0].scheme.flow == transport.OAuthFlow(
            kind="client_credentials", discovery="https://a.example/.well-known/oauth-authorization-server"
        )

    @pytest.mark.parametrize("place", ["header", "query", "cookie"])
    def test_a_key_stands_in_one_place(self, place: Anything) -> None:
        key: Anything = APIKeySecurity("k", "Key.", **{place: "Authorization"})
        scheme = sent(HTTP(GET("/")), Security(key)).security[0][0].scheme
        assert (scheme.place, scheme.key) == (place, "Authorization")


class TestFunctions:
    def test_methods_are_functions_of_a_module(self) -> None:
        design = built(
            Service(
                "Rooms",
                "Rooms.",
                SERVER,
                Functions("office.rooms"),
                Method("book_room", "Book."),
                Method("free_room", "Free.", Function("office.rooms:desk.release")),
                Method("find_room", "Find.", HTTP(GET("/rooms"))),
            )
        )
        book, free, find = (method.transport for method in design.services[0].methods)
        assert book == transport.Function("office.rooms:book_room")
        assert free == transport.Function("office.rooms:desk.release")
        assert isinstance(find, transport.HTTP)

    def test_a_method_without_a_transport_is_implemented(self) -> None:
        assert (
            built(Service("Rooms", "Rooms.", Method("book", "Book."))).services[0].methods[0].transport
            is None
        )


class TestBoundTools:
    @pytest.mark.parametrize(
        ("verb", "said", "expected"),
        [
            (GET, {}, {"read_only": True}),
            (HEAD, {"open_world": True}, {"open_world": True, "read_only": True}),
            (OPTIONS, {"destructive": False}, {"destructive": False, "read_only": True}),
            (GET, {"read_only": False}, {"read_only": False}),
            (GET, {"destructive": True}, {"destructive": True}),
            (PUT, {}, {"idempotent": True}),
            (DELETE, {"destructive": True}, {"destructive": True, "idempotent": True}),
            (PUT, {"idempotent": False}, {"idempotent": False}),
            (POST, {}, {}),
            (PATCH, {}, {}),
        ],
    )
    def test_a_verb_says_what_the_author_does_not(
        self, verb: type[GET], said: dict[str, bool], expected: dict[str, bool]
    ) -> None:
        tool = Tool("find", "Find.", BindTo("find"), Annotations(**said))
        service = Service(
            "Books",
            "Books.",
            SERVER,
            Method("find", "Find.", HTTP(verb("/"))),
            Toolset("tools", "Tools.", tool),
        )
        assert built(service).services[0].toolsets[0].tools[0].facts.annotations == expected

    def test_another_implementation_says_nothing(self) -> None:
        assert bound(Method("find", "Find."), Tool("go", "Go.", BindTo("find"))).facts.annotations == {}
