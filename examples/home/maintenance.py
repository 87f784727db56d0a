"""Who looks after the devices: a user whom the server looks up in the database, by the call's session."""

from toolgen import dsl as d

USER = d.Attribute("user_id", d.String, "User the call is for.", required=True)

maintenance = d.Toolset(
    "maintenance",
    "Look after the devices.",
    d.Tool(
        "factory_reset",
        "Put a device back to factory settings; what was set on it is lost.",
        d.Args(USER, d.Attribute("device_id", d.String, "Device to reset.", required=True)),
        d.Return(
            d.Attribute("name", d.String, "Name of the device.", required=True),
            d.Attribute("lost", d.MapOf(d.String, d.Any), "The settings it had.", required=True),
        ),
        d.Confirm(
            hint="Reset {device_id} to factory settings? Its settings are lost.",
            payload=d.Object(
                d.Attribute("keep_on", d.Boolean, "Whether it stays on or off, as it is.", default=False),
            ),
        ),
        d.Inject("user_id"),
        d.Annotations(destructive=True),
        d.CallHint("Resetting {device_id}"),
        d.ResultHint("{name} is as it left the factory"),
        d.Tags("write"),
    ),
    d.Tool(
        "update_firmware",
        "Put other firmware on a device. The device does it by itself and reports when it is done.",
        d.Args(
            USER,
            d.Attribute("device_id", d.String, "Device to update.", required=True),
            d.Attribute(
                "version", d.String(pattern=r"^[0-9]+\.[0-9]+\.[0-9]+$"), "Such as 2.4.0.", required=True
            ),
        ),
        d.Return(d.Attribute("version", d.String, "What runs on the device now.", required=True)),
        d.LongRunning(
            ack=d.Object(d.Attribute("minutes", d.Int, "How long it takes, about.", required=True)),
            progress=d.Object(d.Attribute("percent", d.Int, "How much is done.", required=True)),
        ),
        d.Inject("user_id"),
        d.CallHint("Updating {device_id} to {version}"),
        d.ResultHint("Version {version} runs"),
        d.Tags("write"),
    ),
    d.Tool(
        "draw_readings",
        "Draw the last week of a device, a bar for each hour.",
        d.Args(USER, d.Attribute("device_id", d.String, "Device to draw.", required=True)),
        d.Return(
            d.Attribute("quantity", d.String, "What is drawn.", required=True),
            d.Attribute("unit", d.String, "Unit of low and high.", required=True),
            d.Attribute("low", d.Float, "Lowest reading, at the bottom.", required=True),
            d.Attribute("high", d.Float, "Highest reading, at the top.", required=True),
        ),
        d.Inject("user_id"),
        d.Annotations(read_only=True),
    ),
    d.Tool(
        "sign_in",
        "Sign in with a PIN; tools that change the rooms come with the next request.",
        d.Args(
            USER,
            d.Attribute("pin", d.String(pattern=r"^[0-9]{4}$"), "Four digits.", required=True),
        ),
        d.Return(d.Attribute("is_signed_in", d.Boolean, "Always true.", required=True)),
        d.Inject("user_id"),
        d.Needs("state"),
    ),
)
