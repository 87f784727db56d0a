"""A cursor that a model cannot send back."""

from toolgen.dsl import ArrayOf, Attribute, BoundedResult, Design, Return, Service, String, Tool, Toolset

list_rooms = Tool(
    "list_rooms",
    "List the rooms.",
    Return(
        Attribute("rooms", ArrayOf(String), "Their names.", required=True),
        Attribute("next_cursor", String, "Where the next page begins."),
    ),
    BoundedResult(cursor="cursor", next_cursor="next_cursor"),
)

design = Design("home", "A home.", Service("assistant", "Helps.", Toolset("rooms", "Rooms.", list_rooms)))
