"""Optional, nullable, defaulted, and each with each, on both sides of a binding."""

from toolgen.dsl import (
    Any,
    Args,
    ArrayOf,
    Attribute,
    BindTo,
    Design,
    Int,
    MapOf,
    Method,
    Nullable,
    Object,
    Payload,
    Result,
    Return,
    Service,
    String,
    Tool,
    Toolset,
)

design = Design(
    "nullable_optional",
    "Absent, null and given.",
    Service(
        "notes",
        "Notes.",
        Method(
            "update",
            "Change a note.",
            Payload(
                Attribute("id", String, "Which note.", required=True),
                Attribute("text", String, "Its text.", default="none"),
                Attribute("tags", ArrayOf(String), "Its tags.", default=["new"]),
                Attribute("title", Nullable(String), "Its title."),
                Attribute("subtitle", Nullable(String), "Its second title."),
                Attribute("author", Nullable(String), "Who wrote it.", required=True),
                Attribute("editor", String, "Who changed it."),
                Attribute(
                    "place", Nullable(Object(Attribute("page", Int, "Page.", required=True))), "Where."
                ),
                Attribute("extra", Any, "Anything else."),
                Attribute("value", Nullable(Int), "A number."),
                Attribute("counts", MapOf(String, Int), "Numbers.", default={"a": 1}),
            ),
            Result(
                Attribute("id", String, "Which note.", required=True),
                Attribute("text", Nullable(String), "Its text.", required=True),
                Attribute("place", Object(Attribute("page", Int, "Page.", required=True)), "Where."),
            ),
        ),
        Toolset(
            "notes",
            "Change notes.",
            Tool(
                "update",
                "Change a note.",
                Args(
                    Attribute("id", String, "Which note.", required=True),
                    Attribute("text", String, "Its text."),
                    Attribute("tags", ArrayOf(String), "Its tags."),
                    Attribute("title", Nullable(String), "Its title; null removes it."),
                    Attribute("subtitle", String, "Its second title."),
                    Attribute("author", String, "Who wrote it."),
                    Attribute("editor", Nullable(String), "Who changed it.", required=True),
                    Attribute(
                        "place", Nullable(Object(Attribute("page", Int, "Page.", required=True))), "Where."
                    ),
                    Attribute("extra", Any, "Anything else."),
                    Attribute("value", Nullable(Int), "A number."),
                    Attribute("counts", MapOf(String, Int), "Numbers."),
                ),
                Return(
                    Attribute("id", String, "Which note.", required=True),
                    Attribute("text", String, "Its text."),
                    Attribute(
                        "place", Nullable(Object(Attribute("page", Int, "Page.", required=True))), "Where."
                    ),
                ),
                BindTo("update"),
            ),
            Tool(
                "all",
                "Every kind of field.",
                Args(
                    Attribute("required", String, "Must be there.", required=True),
                    Attribute("optional", String, "May be absent; null means absent."),
                    Attribute("defaulted", Int, "Absent or null give 3.", default=3),
                    Attribute("nullable", Nullable(Int(minimum=1)), "Null is a value.", required=True),
                    Attribute("optional_nullable", Nullable(String(max_length=5)), "Absent, null or text."),
                    Attribute("nullable_default", Nullable(Int), "Absent gives null.", default=None),
                    Attribute("items", ArrayOf(Nullable(Int)), "Nulls among numbers."),
                    Attribute("values", MapOf(String, Nullable(Any)), "Nulls among anything."),
                    Attribute("anything", Any, "Absent gives an object; null is a value.", default={}),
                    Attribute(
                        "place", Nullable(Object(Attribute("page", Int, "Page."))), "Where.", default={}
                    ),
                ),
            ),
        ),
    ),
)
