"""An array as a result."""

from toolgen.dsl import ArrayOf, Attribute, Design, Return, Service, String, Tool, Toolset, Type

Device = Type("Device", "A device.", Attribute("id", String, "Identifier.", required=True))
list_devices = Tool("list_devices", "List the devices.", Return(ArrayOf(Device)))

design = Design(
    "home", "A home.", Service("assistant", "Helps.", Toolset("devices", "Devices.", list_devices))
)
