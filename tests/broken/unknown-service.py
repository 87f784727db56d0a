"""A misspelt service."""

from toolgen.dsl import BindTo, Design, Method, Service, Tool, Toolset

devices = Toolset("devices", "Devices.", Tool("reset", "Reset all.", BindTo("DevicesService", "reset")))

design = Design(
    "home",
    "A home.",
    Service("DeviceService", "The devices.", Method("reset", "Reset all.")),
    Service("assistant", "Helps.", devices),
)
