"""Services over HTTP: servers, credentials, places of attributes, bodies, pages, errors; one is half open."""

from toolgen.dsl import (
    Args,
    ArrayOf,
    Attribute,
    BindTo,
    BoundedResult,
    Bytes,
    Design,
    Error,
    Inject,
    Int,
    JSONSchema,
    Method,
    Payload,
    Result,
    Return,
    Service,
    String,
    Tool,
    Toolset,
    Type,
)
from toolgen.dsl.http import (
    DELETE,
    GET,
    HTTP,
    PATCH,
    POST,
    PUT,
    APIKeySecurity,
    AuthorizationCodeFlow,
    BasicSecurity,
    BearerSecurity,
    Body,
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

Book = Type(
    "Book",
    "A book of the library.",
    Attribute("id", Int, "Its number.", required=True),
    Attribute("title", String, "Its title.", required=True),
)
NotFound = Type("NotFound", "No such book.", Attribute("id", Int, "What was asked for.", required=True))

BOOK_ID = Attribute("id", Int, "Number of the book.", required=True)
CURSOR = Attribute("cursor", String, "Where to go on.")
NEXT = Attribute("next", String, "Where to go on the next time.")

library_key = APIKeySecurity("library_key", "Key of the library.", header="X-Api-Key")
visitor = APIKeySecurity("visitor", "Who has come.", cookie="VISITOR")
account = BasicSecurity("account", "Account of a librarian.")
get_book = BearerSecurity("get_book", "A token that is called like a method.")
office = OAuth2Security(
    "office",
    "Sign in at the office.",
    AuthorizationCodeFlow(authorize="https://office.example/auth", token="https://office.example/token"),
    Scope("books.write", "Change books."),
)

books = Service(
    "Books",
    "The catalog of the library.",
    Server("https://{region}.books.example/v1", Variable("region", "eu", "us", default="eu")),
    Server("http://books.internal", accepted=False),
    Security(library_key),
    Error("not_found", NotFound, "No book has the number."),
    Method(
        "list_books",
        "Find books.",
        Payload(
            Attribute("query", String, "Words of the title.", required=True),
            Attribute("tags", ArrayOf(String), "What they are about."),
            Attribute("limit", Int, "Most books of a page.", default=20),
            CURSOR,
        ),
        Result(
            Attribute("books", ArrayOf(Book), "What was found.", required=True),
            Attribute("total", Int, "How many there are."),
            NEXT,
        ),
        HTTP(
            GET("/books"),
            Param("query", "q"),
            Param("tags", style="form", explode=False),
            Paging(style="page", cursor="cursor", next="next", size="limit", items="books", total="total"),
        ),
        NoSecurity(),
    ),
    Method(
        "get_book",
        "Read a book.",
        Payload(
            BOOK_ID,
            Attribute("etag", String, "The version that is known."),
            Attribute("visitor", String, "Who has come."),
        ),
        Result(Book),
        HTTP(
            GET("/books/{id}"),
            Header("etag", "If-None-Match"),
            Cookie("visitor", "SEEN"),
            Response(200),
            Response(404, "not_found"),
        ),
        Security(get_book),
        Security(library_key, visitor),
    ),
    Method(
        "add_book",
        "Add a book.",
        Payload(Attribute("book", Book, "The book.", required=True)),
        Result(Attribute("etag", String, "Its version."), Attribute("book", Book, "As it is kept.")),
        Error("full", None, "The library is full.", retryable=True),
        HTTP(
            POST("/books"),
            Body("book"),
            Response(201, Body("book"), Header("etag", "ETag")),
            Response("4XX", "full"),
        ),
        Security(office, scopes=["books.write"]),
    ),
    Method(
        "put_cover",
        "Keep the cover of a book.",
        Payload(
            BOOK_ID,
            Attribute("cover", Bytes, "The image.", required=True),
            Attribute("caption", String, "What it shows."),
        ),
        Result(Attribute("done", String, "In one sentence.")),
        HTTP(PUT("/books/{id}/cover"), Body(File("cover")), Response(204)),
        Security(account),
    ),
    Method(
        "rate_book",
        "Rate a book.",
        Payload(BOOK_ID, Attribute("stars", Int, "From one to five.", required=True)),
        Result(Attribute("text", String, "What the library says.")),
        HTTP(PATCH("/books/{id}/rating"), Body(media="form"), Response(200, Body("text", media="text"))),
    ),
    Method(
        "describe",
        "Describe a book in the words of others.",
        Payload(
            Attribute("isbn", JSONSchema({"type": "string", "minLength": 10}), "Its number.", required=True)
        ),
        Result(
            JSONSchema(
                {
                    "type": "object",
                    "properties": {"pages": {"type": "integer"}, "more": {"type": "object"}},
                    "required": ["pages"],
                }
            )
        ),
        HTTP(GET("/descriptions")),
    ),
)

loans = Service(
    "Loans",
    "Loans, of which one method has no transport.",
    Server("https://loans.example"),
    Method(
        "give_back",
        "Give a book back.",
        Payload(BOOK_ID),
        Result(Attribute("fee", Int, "What it costs, in cents.")),
        HTTP(DELETE("/loans/{id}")),
    ),
    Method(
        "remind",
        "Remind of a book.",
        Payload(BOOK_ID),
        Result(Attribute("days", Int, "Until it is due.")),
    ),
)

catalog = Toolset(
    "catalog",
    "Books of the library.",
    Tool(
        "find_books",
        "Find books.",
        Args(Attribute("query", String, "Words of the title.", required=True), CURSOR),
        Return(Attribute("books", ArrayOf(Book), "What was found.", required=True), NEXT),
        BoundedResult(cursor="cursor", next_cursor="next"),
        BindTo("Books", "list_books"),
    ),
    Tool(
        "read_book",
        "Read a book.",
        Args(BOOK_ID),
        Return(
            Attribute("id", Int, "Its number.", required=True),
            Attribute("title", String, "Its title.", required=True),
        ),
        Inject("visitor"),
        BindTo("Books", "get_book"),
    ),
)
desk = Toolset(
    "desk",
    "What the desk does.",
    Tool(
        "give_back",
        "Give a book back.",
        Args(BOOK_ID),
        Return(Attribute("fee", Int, "In cents.")),
        BindTo("Loans", "give_back"),
    ),
    Tool(
        "remind",
        "Remind of a book.",
        Args(BOOK_ID),
        Return(Attribute("days", Int, "Until then.")),
        BindTo("Loans", "remind"),
    ),
    Tool(
        "rate",
        "Rate a book.",
        Args(BOOK_ID, Attribute("stars", Int, "From one to five.", required=True)),
        BindTo("Books", "rate_book"),
    ),
    Tool("open", "Open the desk."),
)

design = Design("http", "Services over HTTP.", books, loans, Service("assistant", "Tools.", catalog, desk))
