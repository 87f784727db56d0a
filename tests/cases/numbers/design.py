"""Numbers: an integer stays one, wherever a Float stands."""

from toolgen.dsl import (
    Args,
    ArrayOf,
    Artifact,
    Attribute,
    BindTo,
    Design,
    Example,
    Float,
    Int,
    MapOf,
    Method,
    Nullable,
    Object,
    OneOf,
    Payload,
    Result,
    Return,
    Service,
    String,
    Tool,
    Toolset,
    Type,
)

Point = Type(
    "Point",
    "A place.",
    Attribute("x", Float, "To the right.", required=True),
    Attribute("y", Float, "Up.", default=0),
    Attribute("name", String, "What it is called."),
)

WHOLE: list[float] = [1, 2]
LISTS: list[list[float]] = [[1], [2.5]]
BY_NAME: dict[str, float] = {"a": 1}

MEASURED = (
    Attribute("value", Float, "What was measured.", required=True),
    Attribute("factor", Float, "What it is multiplied by.", default=1),
)

design = Design(
    "numbers",
    "Numbers.",
    Service(
        "lab",
        "Where numbers come from.",
        Method("scale", "Scale a value.", Payload(*MEASURED), Result(Attribute("scaled", Float, "It."))),
        Toolset(
            "numbers",
            "Tools that take numbers and give numbers.",
            Tool(
                "keep",
                "Give back what came.",
                Args(
                    Attribute("value", Float, "A number.", required=True),
                    Attribute("optional", Float, "Another."),
                    Attribute("nullable", Nullable(Float), "A third."),
                    Attribute("list", ArrayOf(Float), "Several."),
                    Attribute("map", MapOf(String, Float), "Several with names."),
                    Attribute("nested", MapOf(String, ArrayOf(Point)), "Deep inside."),
                    Attribute("shape", OneOf("kind", dot=Point, line=Object(MEASURED[0])), "In a union."),
                    Attribute("integer", Int, "A whole one."),
                ),
                Return(Attribute("value", Float, "A number.", required=True)),
                Artifact("points", Point, "Where they are."),
                Example({"value": 42, "list": [1, 2.5]}, {"value": 42}),
            ),
            Tool(
                "defaults",
                "Each with a default.",
                Args(
                    Attribute("whole", Float, "Written without a point.", default=5),
                    Attribute("point", Float, "Written with a point.", default=5.0),
                    Attribute("long", Float, "Of many digits.", default=9007199254740993),
                    Attribute("nullable", Nullable(Float), "Or null.", default=3),
                    Attribute("list", ArrayOf(Float), "Whole ones.", default=WHOLE),
                    Attribute(
                        "mixed", ArrayOf(Float), "Some of each.", default=[1, 2.5], examples=[[3, 0.5]]
                    ),
                    Attribute("lists", ArrayOf(ArrayOf(Float)), "Lists.", default=LISTS),
                    Attribute("map", MapOf(String, Float), "With names.", default=BY_NAME),
                    Attribute("place", Point, "A place.", default={"x": 7}),
                ),
            ),
            Tool(
                "bounds",
                "Each within bounds.",
                Args(
                    Attribute("half", Float(minimum=0.5, maximum=10), "Between a half and ten."),
                    Attribute("open", Float(exclusive_minimum=0, exclusive_maximum=1.5), "Between them."),
                    Attribute("step", Float(multiple_of=0.1, minimum=0), "In tenths."),
                    Attribute("twos", Float(multiple_of=2), "In twos."),
                    Attribute("long", Float(maximum=9007199254740993), "Bounded by a long number."),
                    Attribute("far", Float(exclusive_minimum=10**30), "Beyond what a machine counts."),
                ),
            ),
            Tool("scale", "Scale a value.", BindTo("lab", "scale")),
        ),
    ),
)
