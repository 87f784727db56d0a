"""Two types for one thing."""

from toolgen.dsl import Args, Attribute, BindTo, Design, Int, Method, Payload, Service, String, Tool, Toolset

find = Method("find", "Find a device.", Payload(Attribute("number", Int, "Its number.", required=True)))
find_device = Tool(
    "find_device",
    "Find a device.",
    Args(Attribute("number", String, "Its number.", required=True)),
    BindTo("find"),
)

design = Design(
    "home",
    "A home.",
    Service("DeviceService", "The devices.", find, Toolset("devices", "Devices.", find_device)),
)
