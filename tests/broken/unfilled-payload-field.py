"""The method wants a session that the tool does not give it."""

from toolgen.dsl import Args, Attribute, BindTo, Design, Method, Payload, Service, String, Tool, Toolset

find = Method(
    "find",
    "Find a device.",
    Payload(
        Attribute("name", String, "Its name.", required=True),
        Attribute("session_id", String, "Session of the call.", required=True),
    ),
)
find_device = Tool(
    "find_device",
    "Find a device.",
    Args(Attribute("name", String, "Its name.", required=True)),
    BindTo("DeviceService", "find"),
)

design = Design(
    "home",
    "A home.",
    Service("DeviceService", "The devices.", find, Toolset("devices", "Devices.", find_device)),
)
