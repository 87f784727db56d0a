"""Types that hold themselves, directly and through each other, and inline objects inside them."""

from toolgen.dsl import (
    Args,
    ArrayOf,
    Attribute,
    Design,
    Example,
    Int,
    MapOf,
    Nullable,
    Object,
    Return,
    Sequential,
    Service,
    String,
    Tool,
    Toolset,
    Type,
)

Node = Type(
    "Node",
    "A section with its subsections.",
    Attribute("title", String, "Heading.", required=True),
    Attribute("children", ArrayOf("Node"), "Subsections.", default=[]),
    Attribute("by_name", MapOf(String, "Node"), "Subsections by name."),
    Attribute("parent", Nullable("Node"), "The section above."),
    Attribute("place", Object(Attribute("page", Int, "Page.", required=True)), "Where it stands."),
    Example({"title": "Wiring", "children": [{"title": "Fuses", "place": {"page": 3}}]}),
)
Person = Type("Person", "Somebody.", Attribute("team", "Team", "Their team."))
Team = Type(
    "Team", "Some people.", Attribute("members", ArrayOf(Person), "Who belongs to it.", required=True)
)

design = Design(
    "recursive",
    "Recursion.",
    Service(
        "library",
        "Documents.",
        Toolset(
            "documents",
            "Read documents.",
            Tool(
                "table_of_contents",
                "Return the sections of a document.",
                Args(
                    Attribute("document", String, "Which one.", required=True),
                    Attribute(
                        "filter",
                        Object(
                            Attribute("depth", Int(minimum=1), "Levels.", default=3),
                            Attribute(
                                "match", Object(Attribute("text", String, "What to find.")), "Which sections."
                            ),
                        ),
                        "Which sections to keep.",
                        default={"depth": 2},
                    ),
                ),
                Return(Attribute("root", Node, "The whole document.", required=True)),
                Sequential(by="document"),
            ),
            Tool("team", "Return a team.", Return(Team), Sequential(by="session")),
        ),
    ),
)
