"""An injected field that may be absent."""

from toolgen.dsl import Args, Attribute, Design, Inject, Service, String, Tool, Toolset

find_device = Tool(
    "find_device",
    "Find a device.",
    Args(Attribute("session_id", String, "Session of the call.")),
    Inject("session_id"),
)

design = Design(
    "home", "A home.", Service("assistant", "Helps.", Toolset("devices", "Devices.", find_device))
)
