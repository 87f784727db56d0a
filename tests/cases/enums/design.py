"""Enumerations: named and inline, of strings and of numbers, with defaults."""

from toolgen.dsl import (
    Args,
    ArrayOf,
    Attribute,
    BindTo,
    Design,
    Enum,
    Int,
    MapOf,
    Method,
    Nullable,
    Payload,
    Result,
    Return,
    Service,
    String,
    Tool,
    Toolset,
    Value,
)

State = Enum("State", 'Whether a device "answers".', "online", "offline", "it's complicated")
Level = Enum("Level", "How loud.", 1, 2, 10)
Tag = Enum(
    "Tag", "Tag of an article.", Value("6809637769959178254", "Backend"), Value("\\", 'A "slash"'), "other"
)

design = Design(
    "enums",
    "Enumerations.",
    Service(
        "states",
        "States.",
        Method(
            "set",
            "Set states.",
            Payload(
                Attribute("state", String, "A state.", required=True),
                Attribute("levels", ArrayOf(Int), "Levels."),
                Attribute("names", MapOf(String, String), "States by name.", required=True),
            ),
            Result(Attribute("state", State, "The state.", required=True)),
        ),
        Toolset(
            "states",
            "Set states.",
            Tool(
                "set",
                "Set states.",
                Args(
                    Attribute("state", State, "A state.", required=True),
                    Attribute("levels", ArrayOf(Level), "Levels."),
                    Attribute("names", MapOf(String, State), "States by name.", required=True),
                ),
                Return(Attribute("state", Nullable(State), "The state.", required=True)),
                BindTo("set"),
            ),
            Tool(
                "choose",
                "Choose.",
                Args(
                    Attribute("state", State, "A state.", default="online"),
                    Attribute("only", String, "There is no choice.", enum=("this",), default="this"),
                    Attribute("single", Int, "Nor here.", enum=(1,), default=1),
                    Attribute("level", Level, "A level.", default=2),
                    Attribute("inline", String(enum=["a", "b"]), "One of two.", default="b"),
                    Attribute("number", Int, "One of three.", enum=[1, 2, 3]),
                    Attribute("one", String(enum=["only"]), "No choice at all."),
                    Attribute("states", ArrayOf(State), "Several states.", default=["online", "offline"]),
                    Attribute("tag", Tag, "A tag.", default="6809637769959178254"),
                    Attribute("tags", ArrayOf(Nullable(Tag)), "Several tags."),
                    Attribute("size", Int, "A size.", enum=(Value(1, "Small"), Value(2, "Large"), 3)),
                ),
            ),
        ),
        Toolset(
            "more",
            "Other tools with the same names of things.",
            Tool("set", "Set a level.", Args(Attribute("level", Level, "A level.", required=True))),
        ),
    ),
)
