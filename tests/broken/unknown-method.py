"""A misspelt method."""

from toolgen.dsl import BindTo, Design, Method, Service, Tool, Toolset

devices = Toolset(
    "devices", "Devices.", Tool("list_all", "List all.", BindTo("DeviceService", "list_device"))
)

design = Design(
    "home",
    "A home.",
    Service("DeviceService", "The devices.", Method("list_devices", "List the devices.")),
    Service("assistant", "Helps.", devices),
)
