"""Open objects: arguments, results, shared types, inline objects and branches that keep other keys."""

from toolgen.dsl import (
    Args,
    ArrayOf,
    Artifact,
    Attribute,
    BindTo,
    BoundedResult,
    Date,
    Design,
    Example,
    Int,
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

Label = Type(
    "Label",
    "A label with whatever its vendor says of it.",
    Attribute("text", String, "Text of the note.", required=True),
    Attribute("printed-on", Date, "Day of printing."),
    Attribute("below", ArrayOf("Label"), "Labels below it."),
    Example({"text": "fragile", "colour": "red", "printed_on": None}),
    open=True,
)
Anything = Type("Anything", "An object of any keys.", open=True)

store = Method(
    "store",
    "Store a label.",
    Payload(Attribute("label", Label, "The label.", required=True), open=True),
    Result(
        Attribute("label", Label, "As it was stored.", required=True),
        Attribute("seen", Object(Attribute("times", Int, "How often."), open=True), "Who saw it."),
        open=True,
    ),
)

count = Method("count", "Count labels.", Result(Attribute("all", Int, "How many.", required=True), open=True))

design = Design(
    "open_objects",
    "Open objects.",
    Service(
        "warehouse",
        "Keeps things.",
        store,
        count,
        Toolset(
            "labels",
            "Labels of things.",
            Tool(
                "find",
                "Find labels.",
                Args(
                    Attribute("siteId", String, "Site."),
                    Attribute("note", Nullable(String), "A note, or none."),
                    Attribute("limit", Int, "Most labels.", default=10),
                    Attribute("like", Label, "Similar ones.", default={"text": "a", "size": 3}),
                    Attribute(
                        "odd",
                        ArrayOf(Label),
                        "Similar ones.",
                        default=[{"text": "b"}, {"text": 'c"', "printed_on": "soon"}],
                    ),
                    Attribute(
                        "filter",
                        OneOf(
                            "the-kind",
                            label=Label,
                            range=Object(Attribute("from", Date, "First day."), open=True),
                            none=Object(),
                        ),
                        "Which ones.",
                    ),
                    Attribute("period", Object(Attribute("days", Int, "Days."), open=True), "When."),
                    open=True,
                ),
                Return(
                    Attribute("labels", ArrayOf(Label), "Those found.", required=True),
                    open=True,
                ),
                BoundedResult(),
                Artifact("scan", Anything, "What the scanner said."),
            ),
            Tool("describe", "Describe a label.", Args(Label), Return(Anything)),
            Tool(
                "keep",
                "Keep a label.",
                BindTo("store"),
                Return(Attribute("label", Label, "As it was stored.", required=True)),
            ),
            Tool(
                "see",
                "Keep a label, and say who saw it.",
                BindTo("store"),
                Return(Attribute("seen", Object(Attribute("times", Int, "How often.")), "Who saw it.")),
            ),
            Tool("count", "Count labels.", BindTo("count")),
        ),
    ),
    Anything,
)
