"""Maps: of scalars, objects, maps and arrays, with narrow keys and lengths, with defaults."""

from toolgen.dsl import (
    Any,
    Args,
    ArrayOf,
    Attribute,
    Date,
    Design,
    Float,
    Int,
    MapOf,
    Object,
    Return,
    Service,
    String,
    Tool,
    Toolset,
    Type,
)

Point = Type(
    "Point",
    "A point.",
    Attribute("x", Float, "Right.", required=True),
    Attribute("y", Float, "Up.", default=0),
)

design = Design(
    "maps",
    "Maps.",
    Service(
        "atlas",
        "Maps.",
        Toolset(
            "maps",
            "Look at maps.",
            Tool(
                "look",
                "Look.",
                Args(
                    Attribute("counts", MapOf(String, Int), "Numbers.", required=True),
                    Attribute(
                        "narrow",
                        MapOf(String(pattern="^[a-z]+$", max_length=3), Int(minimum=0)),
                        "Narrow keys.",
                    ),
                    Attribute("sized", MapOf(String, Any, min_length=1, max_length=2), "One or two."),
                    Attribute("nested", MapOf(String, MapOf(String, ArrayOf(Int))), "Maps of maps."),
                    Attribute("points", MapOf(String, Point), "Points.", default={"origin": {"x": 0}}),
                    Attribute("empty", MapOf(String, Int), "Nothing.", default={}),
                    Attribute(
                        "inline",
                        MapOf(String, Object(Attribute("day", Date, "When."))),
                        "Objects.",
                        required=True,
                    ),
                ),
                Return(Attribute("points", ArrayOf(MapOf(String, Point)), "Points.", required=True)),
            ),
            title="Atlas of maps",
        ),
    ),
)
