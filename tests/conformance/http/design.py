"""A library over HTTP: each place of an attribute, each body, each kind of page and of credential."""

from toolgen.dsl import (
    DELETE,
    GET,
    HEAD,
    HTTP,
    PATCH,
    POST,
    PUT,
    APIKeySecurity,
    Args,
    ArrayOf,
    Attribute,
    BasicSecurity,
    BearerSecurity,
    BindTo,
    Body,
    Boolean,
    BoundedResult,
    Bytes,
    Cookie,
    Date,
    DateTime,
    Design,
    Enum,
    Error,
    File,
    Float,
    Header,
    Int,
    MapOf,
    Method,
    NoSecurity,
    Paging,
    Param,
    Payload,
    Response,
    Result,
    Return,
    Security,
    Server,
    Service,
    String,
    Tool,
    Toolset,
    Type,
)

Book = Type(
    "Book",
    "A book.",
    Attribute("id", Int, "Its number.", required=True),
    Attribute("title", String, "Its title.", required=True),
    Attribute("price", Float, "What it costs."),
    Attribute("published", Date, "When it came out."),
)
NotFound = Type("NotFound", "What is not there.", Attribute("id", Int, "What was asked for.", required=True))
Color = Type("Color", "A color.", Attribute("R", Int, "Red.", required=True), Attribute("G", Int, "Green."))

ID = Attribute("id", Int, "Number of the book.", required=True)
CURSOR = Attribute("cursor", String, "Where to go on.")
NEXT = Attribute("next", String, "Where to go on the next time.")
BOOKS = Attribute("books", ArrayOf(Book), "Those of this page.", required=True)
TOTAL = Attribute("total", Int, "How many there are.")
LIMIT = Attribute("limit", Int, "Most of a page.", default=3)

header_key = APIKeySecurity("header_key", "In a header.", header="X-Api-Key")
query_key = APIKeySecurity("query_key", "In the query.", query="api key")
cookie_key = APIKeySecurity("cookie_key", "In a cookie.", cookie="KEY")
login = BasicSecurity("login", "A user.")
token = BearerSecurity("token", "A token.")


def secured(name: str, *security: Security | NoSecurity) -> Method:
    return Method(
        name,
        "Say who asks.",
        Payload(),
        Result(Attribute("who", String, "Who it is.", required=True)),
        HTTP(GET(f"/secured/{name}")),
        *security,
    )


def paged(paging: Paging, *clauses: Param) -> Method:
    return Method(
        f"by_{paging.style}",
        "List books page by page.",
        Payload(CURSOR, LIMIT),
        Result(BOOKS, NEXT, TOTAL),
        HTTP(GET(f"/pages/{paging.style}"), Param("limit"), *clauses, paging),
    )


TEXT = Attribute("text", String, "A scalar.", required=True)
LIST = Attribute("list", ArrayOf(String), "An array.", required=True)
COLOR = Attribute("color", Color, "An object.", required=True)


def styled(name: str, payload: Payload, *clauses: Param) -> Method:
    path = "" if COLOR in payload.children else "/{text}/{list}"
    return Method(
        name,
        "Send values in a style.",
        payload,
        Result(),
        HTTP(GET(f"/styles/{name}{path}"), *clauses, Response(204)),
    )


books = Service(
    "Library",
    "A library.",
    Server("http://library.test"),
    Error("not_found", NotFound, "No such book."),
    Method(
        "find",
        "Find books.",
        Payload(
            Attribute("shelf", String, "Which shelf.", required=True),
            Attribute("words", String, "Words.", required=True),
            Attribute("tags", ArrayOf(String), "Tags."),
            Attribute("most", Int, "Most books.", minimum=1),
            Attribute("cheap", Boolean, "Cheap ones alone."),
            Attribute("since", DateTime, "Newer than this."),
            Attribute("kind", Enum("Kind", "Kinds of books.", "novel", "atlas"), "Which kind."),
            Attribute("trace", String, "Of the request."),
            Attribute("visitor", String, "Who it is."),
        ),
        Result(Attribute("echo", MapOf(String, String), "What came.", required=True)),
        HTTP(
            GET("/shelves/{shelf}/books"),
            Param("words", "q"),
            Header("trace", "X-Trace"),
            Cookie("visitor", "VISITOR"),
        ),
    ),
    Method(
        "get_book",
        "Read a book.",
        Payload(ID),
        Result(Book),
        HTTP(GET("/books/{id}"), Response(200), Response(404, "not_found")),
    ),
    Method(
        "head_book",
        "Read the version of a book.",
        Payload(ID),
        Result(Attribute("etag", String, "Its version."), Attribute("pages", Int, "How many.")),
        HTTP(HEAD("/books/{id}"), Response(200, Header("etag", "ETag"), Header("pages", "X-Pages"))),
    ),
    Method(
        "add_book",
        "Add a book.",
        Payload(Attribute("book", Book, "It.", required=True)),
        Result(
            Attribute("book", Book, "As it is kept.", required=True), Attribute("place", String, "Where.")
        ),
        HTTP(POST("/books"), Body("book"), Response(201, Body("book"), Header("place", "Location"))),
    ),
    Method(
        "change_book",
        "Change a book.",
        Payload(ID, Attribute("title", String, "Its title."), Attribute("price", Float, "Its price.")),
        Result(Book),
        HTTP(PATCH("/books/{id}"), Response(200), Response(404, "not_found")),
    ),
    Method("drop_book", "Remove a book.", Payload(ID), Result(), HTTP(DELETE("/books/{id}"), Response(204))),
    Method(
        "rate_book",
        "Rate a book.",
        Payload(
            ID, Attribute("stars", Int, "1 to 5.", required=True), Attribute("words", ArrayOf(String), "Why.")
        ),
        Result(Attribute("echo", MapOf(String, String), "What came.", required=True)),
        HTTP(POST("/books/{id}/rating"), Body(media="form")),
    ),
    Method(
        "put_cover",
        "Keep a cover.",
        Payload(
            ID, Attribute("cover", Bytes, "The image.", required=True), Attribute("caption", String, "Text.")
        ),
        Result(Attribute("echo", MapOf(String, String), "What came.", required=True)),
        HTTP(PUT("/books/{id}/cover"), Body(File("cover"))),
    ),
    Method(
        "put_text",
        "Keep the text of a book.",
        Payload(ID, Attribute("text", String, "The text.", required=True)),
        Result(Attribute("text", String, "In capitals.", required=True)),
        HTTP(PUT("/books/{id}/text"), Body("text", media="text"), Response(200, Body("text", media="text"))),
    ),
    Method(
        "put_data",
        "Keep data of a book.",
        Payload(ID, Attribute("data", Bytes, "The data.", required=True)),
        Result(Attribute("data", Bytes, "Reversed.", required=True)),
        HTTP(
            PUT("/books/{id}/data"), Body("data", media="bytes"), Response(200, Body("data", media="bytes"))
        ),
    ),
    paged(Paging(cursor="cursor", next="next", at="/meta/next"), Param("cursor", "after")),
    paged(Paging(style="offset", cursor="cursor", next="next", size="limit", items="books", total="total")),
    paged(Paging(style="page", cursor="cursor", next="next", name="p", size="limit", items="books")),
    paged(Paging(style="link", cursor="cursor", next="next")),
    secured("by_header", Security(header_key)),
    secured("by_query", Security(query_key)),
    secured("by_cookie", Security(cookie_key)),
    secured("by_login", Security(login)),
    secured("by_token", Security(token)),
    secured("by_two", Security(header_key, token), Security(login)),
    secured("by_nobody", Security(header_key), NoSecurity()),
    styled("simple", Payload(TEXT, LIST)),
    styled("form", Payload(TEXT, LIST, COLOR), Param("list", explode=False), Param("color", explode=False)),
    styled(
        "space",
        Payload(TEXT, LIST, COLOR),
        Param("list", "spaced", style="spaceDelimited"),
        Param("color", style="deepObject"),
    ),
    styled(
        "pipe",
        Payload(TEXT, LIST, COLOR),
        Param("list", style="pipeDelimited"),
        Param("color", style="deepObject"),
    ),
)

PAGE = Return(BOOKS, NEXT, TOTAL)


def page_tool(style: str) -> Tool:
    return Tool(
        f"list_by_{style}",
        "List books page by page.",
        Args(CURSOR),
        PAGE,
        BindTo("Library", f"by_{style}"),
        BoundedResult(cursor="cursor", next_cursor="next"),
    )


library = Toolset(
    "library",
    "Tools of the library.",
    Tool("read_book", "Read a book.", Args(ID), Return(Book), BindTo("Library", "get_book")),
    Tool(
        "add_book",
        "Add a book.",
        Args(Attribute("book", Book, "It.", required=True)),
        Return(
            Attribute("book", Book, "As it is kept.", required=True), Attribute("place", String, "Where.")
        ),
        BindTo("Library", "add_book"),
    ),
    *map(page_tool, ("cursor", "offset", "page", "link")),
)

design = Design("library", "A library behind HTTP.", books, Service("desk", "Where people ask.", library))
