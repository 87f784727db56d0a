"""A service over HTTP in which almost everything is wrong."""

from toolgen.dsl import (
    ArrayOf,
    Attribute,
    Design,
    Error,
    Function,
    Functions,
    Int,
    Method,
    Object,
    Payload,
    Result,
    Service,
    String,
)
from toolgen.dsl.http import (
    DELETE,
    GET,
    HTTP,
    POST,
    PUT,
    APIKeySecurity,
    Body,
    Cookie,
    File,
    Header,
    NoSecurity,
    Paging,
    Param,
    Response,
    Security,
    Server,
    Variable,
)

key = APIKeySecurity("library_key", "Key of the library.")

books = Service(
    "Books",
    "The catalog of the library.",
    Server("https://{region}.books.example/v1?lang=en", Variable("region", "eu", "us", default="as")),
    Security(key, scopes=["read"]),
    Method(
        "list_books",
        "Find books.",
        Payload(
            Attribute("query", String, "Words.", required=True),
            Attribute("shelf", Object(Attribute("rows", ArrayOf(Int), "Rows.")), "Shelf."),
            Attribute("cursor", Int, "Next page."),
        ),
        Result(
            Attribute("books", ArrayOf(String), "Titles.", required=True),
            Attribute("count", Int, "How many.", required=True),
        ),
        HTTP(
            GET("books"),
            Param("query", "q", style="simple"),
            Param("cursor", "q"),
            Header("qurey", "Content-Length"),
            Response(200, Body("books")),
            Response(200, "gone"),
            Response(700),
            Paging(cursor="cursor", next="next"),
        ),
    ),
    Method(
        "add_book",
        "Add a book.",
        Payload(Attribute("title", String, "Title."), Attribute("pages", Int, "Pages.")),
        Error("exists", description="There is such a book."),
        HTTP(POST("/books/{shelf}"), Body(File("pages"), media="form"), Body("title")),
    ),
    Method(
        "remove_book",
        "Remove a book.",
        Payload(Attribute("id", String, "Number.")),
        HTTP(DELETE("/books/{id}"), Cookie("id")),
        Function("remove"),
    ),
    Method("ask", "Ask somebody.", NoSecurity()),
)

rooms = Service(
    "Rooms",
    "Rooms of the office.",
    Functions("office:rooms"),
    Method("close", "Close all rooms.", Payload(open=True), HTTP(PUT("/rooms"))),
)

desk = Service("Desk", "People.", Method("ask", "Ask somebody."), answers="lenient")

design = Design("library", "A library.", books, rooms, desk)
