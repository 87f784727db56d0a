"""Windows on more data: carried by the method, computed, with cursors."""

from toolgen.dsl import (
    Args,
    ArrayOf,
    Attribute,
    BindTo,
    Boolean,
    BoundedResult,
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

ROWS = Attribute("rows", ArrayOf(String), "What was found.", required=True)
CURSOR = Attribute("cursor", String, "Where to go on.")
HINT = Attribute("refinement_hint", String, "How to ask for less.")
NEXT = Attribute("nextCursor", String, "Where to go on the next time.")

design = Design(
    "bounded",
    "Bounds.",
    Service(
        "store",
        "Rows.",
        Method(
            "carried",
            "Return rows and bounds.",
            Payload(Attribute("query", String, "What.", required=True)),
            Result(
                ROWS,
                Attribute("returned", Int, "How many.", required=True),
                Attribute("total", Int, "Of how many."),
                Attribute("truncated", Boolean, "Whether there are more.", required=True),
                HINT,
            ),
        ),
        Method(
            "counted",
            "Return rows and their number.",
            Payload(Attribute("query", String, "What.", required=True)),
            Result(ROWS, Attribute("total", Int, "Of how many.", required=True), HINT),
        ),
        Method(
            "paged",
            "Return a page.",
            Payload(Attribute("query", String, "What.", required=True), CURSOR),
            Result(ROWS, NEXT, Attribute("total", Int, "Of how many.")),
        ),
        Method(
            "endless",
            "Return a page, and where to ask for more, even after the last one.",
            Payload(CURSOR),
            Result(
                ROWS,
                Attribute("nextCursor", String, "Where to go on.", required=True),
                Attribute("total", Int, "Of how many.", required=True),
            ),
        ),
        Toolset(
            "rows",
            "Find rows.",
            Tool("carried", "Return rows.", BindTo("carried"), BoundedResult()),
            Tool("counted", "Count rows.", Return(ROWS), BindTo("counted"), BoundedResult()),
            Tool(
                "paged",
                "Return a page.",
                BindTo("paged"),
                BoundedResult(cursor="cursor", next_cursor="nextCursor"),
            ),
            Tool(
                "endless",
                "Return a page.",
                Return(ROWS, NEXT),
                BindTo("endless"),
                BoundedResult(cursor="cursor", next_cursor="nextCursor"),
            ),
            Tool(
                "free",
                "Return rows without a method.",
                Args(CURSOR),
                Return(ROWS, NEXT, Attribute("total", Int, "Of about how many.")),
                BoundedResult(cursor="cursor", next_cursor="nextCursor"),
            ),
        ),
    ),
)
