"""Tagged unions: alone, optional, nullable, in arrays and maps, in shared types, with defaults."""

from toolgen.dsl import (
    Args,
    ArrayOf,
    Attribute,
    Design,
    Float,
    Int,
    MapOf,
    Nullable,
    Object,
    OneOf,
    Return,
    Service,
    String,
    Tool,
    Toolset,
    Type,
)

Circle = Type(
    "Circle", "A circle.", Attribute("radius", Float(exclusive_minimum=0), "Radius.", required=True)
)
Square = Type("Square", "A square.", Attribute("side", Float, "Side.", required=True))
Drawing = Type(
    "Drawing",
    "Shapes in layers.",
    Attribute(
        "layers",
        MapOf(String, ArrayOf(OneOf("shape", circle=Circle, square=Square))),
        "By name.",
        required=True,
    ),
)

design = Design(
    "unions",
    "Unions.",
    Service(
        "art",
        "Drawing.",
        Toolset(
            "shapes",
            "Draw shapes.",
            Tool(
                "draw",
                "Draw one shape.",
                Args(
                    Attribute(
                        "main", OneOf("shape", circle=Circle, square=Square), "The shape.", required=True
                    ),
                    Attribute("second", OneOf("shape", circle=Circle, square=Square), "Another one."),
                    Attribute(
                        "third", Nullable(OneOf("shape", circle=Circle, square=Square)), "One, or none."
                    ),
                    Attribute(
                        "frame",
                        OneOf(
                            "@type", line=Object(Attribute("width", Int, "Width.", default=1)), none=Object()
                        ),
                        "What is around it; its tag is no identifier.",
                        default={"@type": "line", "width": 2},
                    ),
                    Attribute("only", OneOf("shape", circle=Circle), "A union of one."),
                ),
                Return(Attribute("drawing", Drawing, "All shapes.", required=True)),
            ),
        ),
    ),
)
