"""The tool promises what its method does not give."""

from toolgen.dsl import Attribute, BindTo, Design, Int, Method, Result, Return, Service, Tool, Toolset

count = Method("count", "Count the devices.", Result(Attribute("number", Int, "How many.", required=True)))
count_devices = Tool(
    "count_devices",
    "Count the devices.",
    Return(Attribute("count", Int, "How many.", required=True)),
    BindTo("count"),
)

design = Design(
    "home",
    "A home.",
    Service("DeviceService", "The devices.", count, Toolset("devices", "Devices.", count_devices)),
)
