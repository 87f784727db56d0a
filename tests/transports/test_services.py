"""Servers, credentials and functions of services, and the tools that are bound to their methods."""

from __future__ import annotations

from typing import Any as Anything

import pytest

from tests.checked import bound, built, codes, only
from tests.transports.designs import (
    FLAT,
    KEY,
    KEY_SCHEME,
    SERVER,
    sent,
    serving,
    wrong,
)
from toolgen.contract import transport
from toolgen.dsl import Annotations, BindTo, Error, Function, Functions, Method, Service, Tool, Toolset
from toolgen.dsl.http import (
    DELETE,
    GET,
    HEAD,
    HTTP,
    OPTIONS,
    PATCH,
    POST,
    PUT,
    APIKeySecurity,
    AuthorizationCodeFlow,
    BasicSecurity,
    BearerSecurity,
    ClientCredentialsFlow,
    NoSecurity,
    OAuth2Security,
    Param,
    Response,
    Scope,
    Security,
    Server,
    Variable,
)
from toolgen.dsl.security import Scheme


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


class TestAddresses:
    @pytest.mark.parametrize(
        ("url", "fault"),
        [
            ("books.example/v1", "is not an absolute http or https URL"),
            ("//books.example/v1", "is not an absolute http or https URL"),
            ("/v1?key=1", "has a query or a fragment"),
            ("/v 1", "is not an absolute http or https URL"),
            ("", "is not an absolute http or https URL"),
            ("ftp://books.example", "is not an absolute http or https URL"),
            ("https://", "is not an absolute http or https URL"),
            ("https://books.example:x", "is not an absolute http or https URL"),
            ("https://books example", "is not an absolute http or https URL"),
            ("https://[books", "is not an absolute http or https URL"),
            ("https://books.example/v1?lang=en", "has a query or a fragment"),
            ("https://books.example/v1#top", "has a query or a fragment"),
            ("https://books.example/v1?", "has a query or a fragment"),
            ("https://me:secret@books.example", "has a user or a password"),
            ("https://books.example/{v1", "has an unpaired brace"),
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
                "names 'regin', but has no such Variable",
                "did you mean 'region'?",
            ),
            (
                Server("https://books.example", Variable("region", default="eu")),
                "does not use its Variable 'region'",
                "write {region} in the URL, or remove it",
            ),
            (
                Server("https://{r}.books.example", Variable("r", "eu", "us", default="as")),
                "has the default 'as' for 'r', which is not one of its values",
                "write one of 'eu', 'us'",
            ),
            (
                Server("{s}://books.example", Variable("s", "https", "ftp", default="https")),
                "is not an absolute http or https URL",
                'write a URL such as "https://api.example.org/v1"',
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
        assert (found.code, found.hint) == ("no-server", 'add http.Server("https://…") to the service')


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


class TestSchemes:
    FLOW = ClientCredentialsFlow(token="https://a.example/token")

    @pytest.mark.parametrize(
        ("scheme", "fault"),
        [
            (APIKeySecurity("key", "Key."), "has no place"),
            (APIKeySecurity("key", "Key.", header="X-Key", query="key"), "has 2 places"),
            (
                APIKeySecurity("key", "Key.", header="X Key"),
                "has the header 'X Key', which has characters that are not allowed in headers",
            ),
            (
                APIKeySecurity("key", "Key.", header="Host"),
                "has the header 'Host', which the client sends itself",
            ),
            (APIKeySecurity("key", "Key.", query=""), "has the query '', which is empty"),
            (OAuth2Security("key", "Key.", ClientCredentialsFlow()), "has no URL to get a token"),
            (
                OAuth2Security("key", "Key.", AuthorizationCodeFlow(token="https://a.example")),
                "has no URL to sign in",
            ),
            (
                OAuth2Security("key", "Key.", AuthorizationCodeFlow(authorize="https://a.example")),
                "has no URL to get a token",
            ),
            (
                OAuth2Security("key", "Key.", ClientCredentialsFlow(token="a.example/token")),
                "has token='a.example/token', which is not an absolute http or https URL",
            ),
            (
                OAuth2Security("key", "Key.", ClientCredentialsFlow(discovery="https://u:p@a.example")),
                "has discovery='https://u:p@a.example', which is not an absolute http or https URL",
            ),
        ],
    )
    def test_a_scheme_says_what_a_client_needs(self, scheme: Scheme, fault: str) -> None:
        found = wrong(Security(scheme), HTTP(GET("/")))
        assert found[:2] == ("bad-security", f"security scheme 'key' {fault}")

    def test_two_schemes_have_two_places(self) -> None:
        both = Security(BasicSecurity("person", "Person."), BearerSecurity("token", "Token."))
        found = wrong(both, HTTP(GET("/")))
        text = "security scheme 'token' and 'person' use the same place, but are required together"
        assert found[:2] == ("bad-security", text)
        keys = [APIKeySecurity(f"key_{n}", "Key.", header=name) for n, name in enumerate(("X-Key", "x-key"))]
        assert wrong(Security(*keys), HTTP(GET("/")))[0] == "bad-security"

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
            "Security names the scope 'red', which is not a scope of 'account' and 'library_key'",
            "did you mean 'read'?",
        )
        twice = OAuth2Security("account", "Account.", self.FLOW, Scope("r", "Read."), Scope("r", "Write."))
        assert wrong(Security(twice), HTTP(GET("/")))[0] == "duplicate-name"

    @pytest.mark.parametrize("clause", [Security(KEY), NoSecurity()])
    def test_a_method_without_requests_sends_none(self, clause: Security | NoSecurity) -> None:
        for function in ([], [Function("rooms:find")]):
            assert wrong(clause, *function)[0] == "unused-security"


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


class TestTargets:
    @pytest.mark.parametrize(
        "target", ["", "rooms", "rooms:", ":book", "rooms:book room", "my-rooms:x", "a:b:c"]
    )
    def test_a_function_is_one_of_a_module(self, target: str) -> None:
        found = wrong(Function(target))
        text = f"Function names {target!r}, which does not have the form package.module:function"
        assert found[:2] == ("bad-function", text)

    @pytest.mark.parametrize("module", ["", "rooms:book", "my rooms", "office.", "class"])
    def test_functions_are_of_a_module(self, module: str) -> None:
        found = wrong(service=(Functions(module),))
        assert found[:2] == (
            "bad-function",
            f"Functions names {module!r}, which does not have the form package.module",
        )

    def test_a_method_is_reached_in_one_way(self) -> None:
        found = wrong(HTTP(GET("/")), Function("rooms:find"))
        assert found[:2] == ("two-transports", "method 'find' has both HTTP and Function")
        assert wrong(HTTP(GET("/")), HTTP(DELETE("/")))[0] == "duplicate-clause"
        assert wrong(Function("a:b"), Function("a:c"))[0] == "duplicate-clause"


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


def test_a_wrong_argument_makes_nothing_else_wrong() -> None:
    number: Anything = 5.5
    method = Method("find", "Find.", Error("gone", description="G."), HTTP(GET("/"), Response(410, "gone")))
    assert codes(Service("Books", "Books.", Server(number), method)) == ["wrong-argument"]
    found = wrong(Error("gone", description="Gone."), HTTP(GET("/"), Response(number, "gone")))
    assert found[:2] == ("wrong-argument", 'status of Response is 5.5, not a status such as 404 or "4XX"')


def test_a_word_has_its_place() -> None:
    misplaced: Anything = Param("a")
    found = only(Service("Books", "Books.", SERVER, Method("find", "Find.", misplaced)))
    assert (found.code, found.hint) == ("misplaced-clause", "put it into HTTP")
    no_verb: Anything = Param("a")
    found = only(serving(HTTP(no_verb)))
    assert found.code == "wrong-argument"
    assert found.message.startswith("request of HTTP is Param, not a GET or a HEAD or")


def test_an_error_of_a_service_has_a_named_type() -> None:
    found = only(Service("Books", "Books.", Error("gone", FLAT, "Gone.")))
    assert (found.code, found.message) == (
        "unnamed-error",
        "error 'gone' of service 'Books' is an unnamed object",
    )
    twice = Error("gone", description="Gone."), Error("gone", description="Gone.")
    assert codes(Service("Books", "Books.", *twice)) == ["duplicate-name"]
