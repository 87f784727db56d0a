"""Tools whose calls take turns: in the process, in a session, for each device."""

from toolgen.dsl import (
    Args,
    Attribute,
    Design,
    Sequential,
    Service,
    String,
    Tool,
    Toolset,
)

DEVICE = Args(Attribute("device-id", String, "Device.", required=True))

design = Design(
    "sequential",
    "Calls that take turns.",
    Service(
        "home",
        "A home.",
        Toolset(
            "devices",
            "Devices.",
            Tool("backup", "Save everything.", Sequential()),
            Tool("dim", "Dim all lamps.", Sequential(by="session")),
            Tool("restart", "Restart a device.", DEVICE, Sequential(by="device-id")),
            Tool("update", "Update a device.", DEVICE, Sequential(by="device-id")),
        ),
    ),
)
