"""Words in the place of one another: a class of Python, the words of a method, the sides of a binding."""

from decimal import Decimal

from toolgen.dsl import (
    Args,
    Attribute,
    BindTo,
    Design,
    Int,
    Method,
    Payload,
    Result,
    Return,
    Service,
    String,
    Tool,
    Toolset,
)

count = Return(Attribute("count", Int, "How many there are.", required=True))
shop = Toolset(
    "shop",
    "Things.",
    Tool("weigh", "Weigh.", Args(Attribute("weight", Decimal, "Of all.")), count),
    Tool("pick", "Pick.", Payload(Attribute("name", String, "Which one.")), count),
    Tool("find", "Find.", Args(Attribute("word", String, "A word.")), count, BindTo("search", "store")),
    Tool("seek", "Seek.", Args(Attribute("text", String, "A word.")), count, BindTo("search", "Stores")),
    Tool(
        "look",
        "Look.",
        Args(Attribute("word", String, "A word.")),
        count,
        BindTo("store", "search", rename={"word": "text"}),
    ),
)
design = Design(
    "shop",
    "A shop.",
    Service("tools", "Tools.", shop),
    Service(
        "store",
        "Keeps things.",
        Method(
            "search",
            "Search.",
            Payload(Attribute("text", String, "A word.")),
            Result(Attribute("count", Int, "How many there are.", required=True)),
        ),
    ),
)
