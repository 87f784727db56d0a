"""A count that is no number."""

from toolgen.dsl import ArrayOf, Attribute, BoundedResult, Design, Return, Service, String, Tool, Toolset

list_rooms = Tool(
    "list_rooms",
    "List the rooms.",
    Return(
        Attribute("rooms", ArrayOf(String), "Their names.", required=True),
        Attribute("total", String, "How many there are."),
    ),
    BoundedResult(),
)

design = Design("home", "A home.", Service("assistant", "Helps.", Toolset("rooms", "Rooms.", list_rooms)))
