"""Who looks after the devices: a user whom the server looks up in the database, by the call's session."""

from toolgen.dsl import (
    Annotations,
    Any,
    Args,
    Attribute,
    Boolean,
    CallHint,
    Confirm,
    Float,
    Inject,
    Int,
    LongRunning,
    MapOf,
    Needs,
    Object,
    ResultHint,
    Return,
    String,
    Tags,
    Tool,
    Toolset,
)

USER = Attribute("user_id", String, "User the call is for.", required=True)

maintenance = Toolset(
    "maintenance",
    "Look after the devices.",
    Tool(
        "factory_reset",
        "Put a device back to factory settings; what was set on it is lost.",
        Args(USER, Attribute("device_id", String, "Device to reset.", required=True)),
        Return(
            Attribute("name", String, "Name of the device.", required=True),
            Attribute("lost", MapOf(String, Any), "The settings it had.", required=True),
        ),
        Confirm(
            hint="Reset {device_id} to factory settings? Its settings are lost.",
            payload=Object(
                Attribute("keep_on", Boolean, "Whether it stays on or off, as it is.", default=False),
            ),
        ),
        Inject("user_id"),
        Annotations(destructive=True),
        CallHint("Resetting {device_id}"),
        ResultHint("{name} is as it left the factory"),
        Tags("write"),
    ),
    Tool(
        "update_firmware",
        "Put other firmware on a device. The device does it by itself and reports when it is done.",
        Args(
            USER,
            Attribute("device_id", String, "Device to update.", required=True),
            Attribute(
                "version", String(pattern=r"^[0-9]+\.[0-9]+\.[0-9]+$"), "Such as 2.4.0.", required=True
            ),
        ),
        Return(Attribute("version", String, "What runs on the device now.", required=True)),
        LongRunning(
            ack=Object(Attribute("minutes", Int, "How long it takes, about.", required=True)),
            progress=Object(Attribute("percent", Int, "How much is done.", required=True)),
        ),
        Inject("user_id"),
        CallHint("Updating {device_id} to {version}"),
        ResultHint("Version {version} runs"),
        Tags("write"),
    ),
    Tool(
        "draw_readings",
        "Draw the last week of a device, a bar for each hour.",
        Args(USER, Attribute("device_id", String, "Device to draw.", required=True)),
        Return(
            Attribute("quantity", String, "What is drawn.", required=True),
            Attribute("unit", String, "Unit of low and high.", required=True),
            Attribute("low", Float, "Lowest reading, at the bottom.", required=True),
            Attribute("high", Float, "Highest reading, at the top.", required=True),
        ),
        Inject("user_id"),
        Annotations(read_only=True),
    ),
    Tool(
        "sign_in",
        "Sign in with a PIN; tools that change the rooms come with the next request.",
        Args(
            USER,
            Attribute("pin", String(pattern=r"^[0-9]{4}$"), "Four digits.", required=True),
        ),
        Return(Attribute("is_signed_in", Boolean, "Always true.", required=True)),
        Inject("user_id"),
        Needs("state"),
    ),
)
