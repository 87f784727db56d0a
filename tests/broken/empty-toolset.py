"""A toolset that nobody filled."""

from toolgen.dsl import Design, Service, Tags, Toolset

design = Design(
    "home",
    "A home.",
    Service("assistant", "Helps.", Toolset("devices", "Devices.", Tags("home"))),
)
