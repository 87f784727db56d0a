"""A misspelt name."""

from toolgen.dsl import Args, Attribute, Design, Inject, Service, String, Tool, Toolset

find_device = Tool(
    "find_device",
    "Find a device.",
    Args(
        Attribute("name", String, "Its name.", required=True),
        Attribute("session_id", String, "Session of the call.", required=True),
    ),
    Inject("sesion_id"),
)

design = Design(
    "home", "A home.", Service("assistant", "Helps.", Toolset("devices", "Devices.", find_device))
)
