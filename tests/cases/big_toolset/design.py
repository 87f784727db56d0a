"""21 tools in one toolset: their types are a package with one module a tool."""

from toolgen.dsl import (
    Args,
    Artifact,
    Attribute,
    BindTo,
    Design,
    Int,
    Method,
    Object,
    Payload,
    Result,
    Return,
    Service,
    String,
    Tool,
    Toolset,
    Type,
)

Item = Type("Item", "Something.", Attribute("name", String, "Its name.", required=True))
ITEM = Attribute("item", Object(Attribute("name", String, "Its name.", required=True)), "It.", required=True)
COUNT = Attribute("count", Int, "How many there are.", required=True)

design = Design(
    "big_toolset",
    "Many tools.",
    Service(
        "store",
        "A store.",
        Method("put", "Put something.", Payload(ITEM), Result(COUNT)),
        Toolset(
            "many",
            "Many tools.",
            *(Tool(f"get_{number}", f"Get item {number}.") for number in range(1, 18)),
            Tool("get", "Return an item.", Return(Attribute("item", Item, "It.", required=True))),
            Tool("put", "Put something.", Args(ITEM), Return(COUNT), BindTo("put")),
            Tool(
                "list",
                "Called as a builtin.",
                Artifact("all", Object(Attribute("count", Int, "How many.")), "All."),
            ),
            Tool("import", "Called as a keyword.", Args(Attribute("item", Item, "It."))),
        ),
    ),
)
