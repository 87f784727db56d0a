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
Paint = OneOf(
    "kind",
    "Paint",
    plain=Object(Attribute("color", String, "Its color.", required=True)),
    layered=Object(
        Attribute("under", "Paint", "What is below.", required=True),
        Attribute("over", "Paint", "What is above."),
    ),
)
Drawing = Type(
    "Drawing",
    "Shapes in layers.",
    Attribute("ground", Paint, "Behind all shapes."),
    Attribute("paints", MapOf(String, Paint), "Of shapes, by name."),
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
                    Attribute(
                        "paint",
                        Paint,
                        "A union with a name is the same one wherever it is used.",
                        default={"kind": "plain", "color": "red"},
                    ),
                    Attribute("spare", Nullable(Paint), "Another one, or none."),
                ),
                Return(Attribute("drawing", Drawing, "All shapes.", required=True)),
            ),
        ),
    ),
)
