"""What type checkers accept of transports of services, and what they refuse: the lines that are marked."""

from toolgen.dsl import Error, Function, Functions, Method, Service, Tool
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
    AuthorizationCodeFlow,
    BasicSecurity,
    BearerSecurity,
    Body,
    ClientCredentialsFlow,
    Cookie,
    File,
    Header,
    NoSecurity,
    OAuth2Security,
    Paging,
    Param,
    Response,
    Scope,
    Security,
    Server,
    Variable,
)

key = APIKeySecurity("key", "Key.", header="X-Api-Key")
account = OAuth2Security(
    "account",
    "Account.",
    AuthorizationCodeFlow(authorize="https://a.example/auth", token="https://a.example/token"),
    Scope("read", "Read."),
)
books = Service(
    "Books",
    "Books.",
    Server("https://{region}.books.example", Variable("region", "eu", "us", default="eu"), accepted=False),
    Server("https://books.example"),
    Security(key, account, scopes=["read"]),
    Security(BasicSecurity("person", "Person."), scopes=("read",)),
    Security(BearerSecurity("token", "Token.")),
    Error("gone", description="Gone."),
    Functions("books"),
    Method("m", "Do it.", HTTP(GET("/"))),
    Method("m", "Do it.", HTTP(HEAD("/"))),
    Method("m", "Do it.", HTTP(OPTIONS("/"))),
    Method("m", "Do it.", HTTP(PUT("/"))),
    Method("m", "Do it.", HTTP(DELETE("/"))),
    Method("m", "Do it.", HTTP(PATCH("/"))),
    Method(
        "find",
        "Find.",
        NoSecurity(),
        HTTP(
            POST("/{id}"),
            Param("a", "b", style="form", explode=False),
            Header("c", "C"),
            Header("d"),
            Cookie("e", explode=False),
            Body(File("f"), File("g"), media="multipart"),
            Accept("text/csv", "text/plain"),
            Response(200, Body("h", media="text"), Header("i", "I")),
            Response("4XX", "gone", Body("j")),
            Response("default", "gone"),
            Response(204),
            Paging(style="offset", cursor="k", next="l", size="m", total="n", items="o", first=1, name="p"),
        ),
    ),
    Method("read", "Read.", Function("books:read")),
)
OAuth2Security("account", "Account.", ClientCredentialsFlow(discovery="https://a.example"))
Body("a", content_type="application/merge-patch+json")
Body()

# A clause in the wrong word
HTTP(Param("a"))  # wrong
HTTP("GET", "/")  # wrong
HTTP(GET("/"), GET("/"))  # wrong
HTTP(GET("/"), File("a"))  # wrong
HTTP(GET("/"), Security(key))  # wrong
Method("m", "Do it.", GET("/"))  # wrong
Method("m", "Do it.", Param("a"))  # wrong
Method("m", "Do it.", Server("https://books.example"))  # wrong
Method("m", "Do it.", Functions("books"))  # wrong
Service("S", "Serves.", HTTP(GET("/")))  # wrong
Service("S", "Serves.", Function("books:find"))  # wrong
Service("S", "Serves.", key)  # wrong
Tool("t", "Do it.", HTTP(GET("/")))  # wrong
Server("https://books.example", "eu")  # wrong
Response(200, Param("a"))  # wrong
Response(200, "gone", "gone")  # wrong
Body("a", "b")  # wrong
Accept(1)  # wrong
Security("key")  # wrong
Security(Scope("read", "Read."))  # wrong
OAuth2Security("account", "Account.", Scope("read", "Read."))  # wrong

# A missing argument, or a wrong one
GET()  # wrong
Server()  # wrong
Variable("region", "eu")  # wrong
Security()  # wrong
APIKeySecurity("key", "Key.", "X-Api-Key")  # wrong
BearerSecurity("token")  # wrong
OAuth2Security("account", "Account.")  # wrong
Scope("read")  # wrong
Param("a", style="csv")  # wrong
Param("a", "b", "form")  # wrong
Body("a", media="xml")  # wrong
Response("404")  # wrong
Response(404, error="gone")  # wrong
Paging(cursor="a")  # wrong
Paging(style="pages", cursor="a", next="b")  # wrong
NoSecurity(key)  # wrong
