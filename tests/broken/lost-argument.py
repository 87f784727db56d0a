"""An argument that its method does not take."""

from toolgen.dsl import Args, Attribute, BindTo, Design, Int, Method, Payload, Service, String, Tool, Toolset

find = Method("find", "Find a device.", Payload(Attribute("name", String, "Its name.", required=True)))
find_device = Tool(
    "find_device",
    "Find a device.",
    Args(
        Attribute("name", String, "Its name.", required=True),
        Attribute("limit", Int, "Most devices."),
    ),
    BindTo("find"),
)

design = Design(
    "home",
    "A home.",
    Service("DeviceService", "The devices.", find, Toolset("devices", "Devices.", find_device)),
)
