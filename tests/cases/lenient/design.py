"""A shop that somebody else owns: its answers may not fit."""

from toolgen.dsl import (
    ArrayOf,
    Artifact,
    Attribute,
    BindTo,
    BoundedResult,
    DateTime,
    Design,
    Int,
    MapOf,
    Method,
    OneOf,
    Payload,
    Result,
    ResultHint,
    ResultReminder,
    Return,
    Service,
    String,
    Tool,
    Toolset,
    Type,
)
from toolgen.dsl.http import GET, HTTP, POST, Body, Paging, Response, Server

Item = Type(
    "Item",
    "A part of an order.",
    Attribute("name", String, "Name.", required=True),
    Attribute("count", Int, "How many.", minimum=1, required=True),
)
Person = Type("Person", "A person.", Attribute("name", String, "Name.", required=True))
Company = Type("Company", "A company.", Attribute("number", Int, "Its number.", required=True))
Order = Type(
    "Order",
    "An order.",
    Attribute("id", Int, "Number.", required=True),
    Attribute("state", String, "State.", enum=("open", "paid"), required=True),
    Attribute("items", ArrayOf(Item), "Parts."),
    Attribute("buyer", OneOf("kind", "Buyer", person=Person, company=Company), "Who buys."),
    Attribute("counts", MapOf(String, Int), "How many by name."),
    Attribute("note", String, "Words."),
    Attribute("at", DateTime, "When."),
)
number = Attribute("id", Int, "Number.", required=True)
cursor = Attribute("cursor", String, "Where to go on.")
following = Attribute("next", String, "Where to go on; absent at the end.")

shop = Service(
    "Shop",
    "A shop.",
    Server("https://shop.example"),
    Method("get_order", "Read an order.", Payload(number), Result(Order), HTTP(GET("/orders/{id}"))),
    Method("send_order", "Send an order.", Payload(number), Result(Order), HTTP(POST("/orders/{id}"))),
    Method(
        "list_orders",
        "List orders.",
        Payload(cursor),
        Result(Attribute("orders", ArrayOf(Order), "Orders.", required=True), following),
        HTTP(GET("/orders"), Paging(cursor="cursor", next="next")),
    ),
    Method(
        "list_links",
        "List links.",
        Payload(cursor),
        Result(Attribute("links", ArrayOf(String), "Links.", required=True), following),
        HTTP(GET("/links"), Response(200, Body("links")), Paging(style="link", cursor="cursor", next="next")),
    ),
    Method(
        "get_customer",
        "Read a customer.",
        Payload(number),
        Result(
            Attribute("email", String, "Address.", sensitive=True),
            Attribute("tags", ArrayOf(String), "Words."),
            Attribute("cards", MapOf(String, Int), "Cards."),
        ),
        HTTP(GET("/customers/{id}")),
    ),
    Method(
        "get_owner",
        "Read who owns.",
        Payload(number),
        Result(Attribute("email", String, "Address.", sensitive=True, required=True)),
        HTTP(GET("/owners/{id}")),
    ),
    Method(
        "get_tags",
        "Read the tags of a customer.",
        Payload(number),
        Result(
            Attribute("email", String, "Address.", sensitive=True),
            Attribute("tags", ArrayOf(String), "Words.", required=True),
        ),
        HTTP(GET("/customers/{id}")),
    ),
    Method(
        "get_whole_order",
        "Read an order and what it is.",
        Payload(number),
        Result(number, Attribute("order", Order, "The order.", required=True)),
        HTTP(GET("/whole/{id}")),
    ),
    answers="lenient",
)
orders = Toolset(
    "orders",
    "Orders.",
    Tool(
        "get_order",
        "Read an order.",
        ResultHint("Order {id}"),
        ResultReminder("Say the state."),
        BindTo("Shop", "get_order"),
    ),
    Tool("send_order", "Send an order.", BindTo("Shop", "send_order")),
    Tool("list_orders", "List orders.", BoundedResult("cursor", "next"), BindTo("Shop", "list_orders")),
    Tool("list_links", "List links.", BindTo("Shop", "list_links")),
    Tool("get_customer", "Read a customer.", BindTo("Shop", "get_customer")),
    Tool("get_owner", "Read who owns.", BindTo("Shop", "get_owner")),
    Tool(
        "get_state",
        "Read the state of an order.",
        Return(Attribute("state", String, "State.", required=True), Attribute("at", DateTime, "When.")),
        BindTo("Shop", "get_order"),
    ),
    Tool(
        "get_buyer",
        "Read who buys.",
        Artifact("buyer", "Order", "The order."),
        Return(number),
        BindTo("Shop", "get_whole_order", rename={"order": "buyer"}),
    ),
    Tool(
        "get_tags",
        "Read the tags of a customer.",
        Return(Attribute("tags", ArrayOf(String), "Words.", required=True)),
        BindTo("Shop", "get_tags"),
    ),
)
design = Design("shop", "A shop.", shop, Service("assistant", "Tools for the model.", orders))
