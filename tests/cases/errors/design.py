"""Declared errors: of tools and of methods, with and without details."""

from toolgen.dsl import (
    Args,
    ArrayOf,
    Attribute,
    BindTo,
    Design,
    Error,
    Int,
    Method,
    Object,
    Payload,
    Result,
    Return,
    Service,
    String,
    Tool,
    Toolset,
    Type,
)

NotFound = Type(
    "NotFound",
    "What is not there.",
    Attribute("id", String, "The id that was asked for.", required=True),
    Attribute("close", ArrayOf(String), "Ids like it.", required=True),
)
ID = Attribute("id", String, "Which device.", required=True)

design = Design(
    "errors",
    "Declared errors.",
    Service(
        "DeviceService",
        "Devices.",
        Method(
            "read",
            "Read a device.",
            Payload(ID),
            Result(Attribute("value", Int, "What it measures.", required=True)),
            Error("not_found", NotFound, "No device has the id."),
            Error("offline", description="The device does not answer.", retryable=True),
        ),
    ),
    Service(
        "home",
        "A home.",
        Toolset(
            "devices",
            "Devices.",
            Tool(
                "read",
                "Read a device.",
                BindTo("DeviceService", "read"),
                Error("not_found", "NotFound", "No device of the site has the id."),
                Error(
                    "too_often",
                    Object(Attribute("wait_s", Int, "Seconds to wait.", required=True)),
                    "The device was read a moment ago.",
                    retryable=True,
                ),
            ),
            Tool(
                "rename",
                "Rename a device.",
                Args(ID, Attribute("name", String, "Its new name.", required=True)),
                Return(Attribute("name", String, "Its name now.", required=True)),
                Error("taken", description="Another device has the name."),
            ),
        ),
    ),
)
