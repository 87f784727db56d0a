"""A fact of the call that is no number."""

from toolgen.dsl import Args, Attribute, Design, Inject, Int, Service, Tool, Toolset

find_device = Tool(
    "find_device",
    "Find a device.",
    Args(Attribute("session_id", Int, "Session of the call.", required=True)),
    Inject("session_id"),
)

design = Design(
    "home", "A home.", Service("assistant", "Helps.", Toolset("devices", "Devices.", find_device))
)
