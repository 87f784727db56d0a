"""A rename of a field that the method does not have."""

from toolgen.dsl import Args, Attribute, BindTo, Design, Method, Payload, Service, String, Tool, Toolset

find = Method("find", "Find a device.", Payload(Attribute("device_name", String, "Its name.", required=True)))
find_device = Tool(
    "find_device",
    "Find a device.",
    Args(Attribute("name", String, "Its name.", required=True)),
    BindTo("find", rename={"devicename": "name"}),
)

design = Design(
    "home",
    "A home.",
    Service("DeviceService", "The devices.", find, Toolset("devices", "Devices.", find_device)),
)
