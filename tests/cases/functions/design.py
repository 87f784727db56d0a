"""Services of functions: those of a module, one by its own name; and a service with requests beside them."""

from toolgen.dsl import (
    Agent,
    Args,
    Attribute,
    BindTo,
    Design,
    Error,
    Function,
    Functions,
    Method,
    Payload,
    Result,
    Return,
    Service,
    String,
    Tool,
    Toolset,
    Type,
    Use,
)
from toolgen.dsl.http import GET, HTTP, Response, Server

Operation = Type(
    "Operation", "A type that is called like a class of clients.", Attribute("state", String, "How far.")
)
ROOM = Attribute("room", String, "Which room.", required=True)

rooms = Service(
    "Rooms",
    "Rooms of the office.",
    Functions("office.rooms"),
    Method(
        "book_room",
        "Book a room.",
        Payload(ROOM, Attribute("for", String, "Whom it is for.")),
        Result(Attribute("number", String, "Number of the booking.", required=True)),
        Error("taken", None, "Somebody else has it."),
    ),
    Method(
        "cancel",
        "Cancel a booking.",
        Payload(Attribute("number", String, "Number of the booking.", required=True)),
        Function("office.rooms:bookings.cancel"),
    ),
    Method("send", "Send a booking to its guests; clients have a method of this name."),
)
doors = Service(
    "Doors",
    "Doors, by requests and functions.",
    Server("https://doors.example"),
    Method(
        "open",
        "Open a door.",
        Payload(ROOM),
        Error("stuck", Operation, "It does not move."),
        HTTP(GET("/open/{room}"), Response(409, "stuck")),
    ),
    Method("close", "Close a door.", Payload(ROOM), Function("office.doors:close")),
)
tools = Toolset(
    "rooms",
    "Rooms of the office.",
    Tool(
        "book",
        "Book a room.",
        Args(ROOM),
        Return(Attribute("number", String, "Number of the booking.", required=True)),
        BindTo("Rooms", "book_room"),
    ),
    Tool("send", "Send a booking.", BindTo("Rooms", "send")),
    Tool(
        "cancel",
        "Cancel a booking.",
        Args(Attribute("number", String, "Which.", required=True)),
        BindTo("Rooms", "cancel"),
    ),
)

assistant = Service("assistant", "Tools.", Agent("clerk", "Books rooms.", Use(tools)))

design = Design("functions", "Services of functions.", rooms, doors, assistant)
