"""A method that says nothing about what it left out."""

from toolgen.dsl import (
    ArrayOf,
    Attribute,
    BindTo,
    BoundedResult,
    Design,
    Method,
    Result,
    Service,
    String,
    Tool,
    Toolset,
)

rooms = Method(
    "rooms", "List the rooms.", Result(Attribute("rooms", ArrayOf(String), "Names.", required=True))
)
list_rooms = Tool("list_rooms", "List the rooms.", BoundedResult(), BindTo("rooms"))

design = Design(
    "home",
    "A home.",
    Service("DeviceService", "The devices.", rooms, Toolset("devices", "Devices.", list_rooms)),
)
