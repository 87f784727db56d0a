"""25 tools in one toolset: their types are a package with one module a tool."""

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


def get(number: int) -> Tool:
    return Tool(
        f"get_{number}",
        f"Return item {number}.",
        Args(Attribute("id", String, "Which one.", required=True)),
        Return(Attribute("item", Item, "It.", required=True)),
    )


design = Design(
    "big_toolset",
    "Many tools.",
    Service(
        "store",
        "A store.",
        Method(
            "put",
            "Put something.",
            Payload(
                Attribute(
                    "item",
                    Object(Attribute("name", String, "Its name.", required=True)),
                    "It.",
                    required=True,
                )
            ),
            Result(Attribute("count", Int, "How many there are.", required=True)),
        ),
        Toolset(
            "many",
            "Many tools.",
            *(get(number) for number in range(1, 23)),
            Tool(
                "put",
                "Put something.",
                Args(
                    Attribute(
                        "item",
                        Object(Attribute("name", String, "Its name.", required=True)),
                        "It.",
                        required=True,
                    )
                ),
                Return(Attribute("count", Int, "How many there are.", required=True)),
                BindTo("put"),
            ),
            Tool(
                "list",
                "Called as a builtin.",
                Artifact("all", Object(Attribute("count", Int, "How many.")), "All."),
            ),
            Tool("import", "Called as a keyword.", Args(Attribute("item", Item, "It."))),
        ),
    ),
)
