"""Who looks after the devices: a user whom the server looks up in the database, by the call's session."""

from toolgen import dsl as d

USER = d.Attribute("user_id", d.String, "User the call is for.", required=True)

maintenance = d.Toolset(
    "maintenance",
    "Maintain the devices.",
    d.Tool(
        "factory_reset",
        "Reset a device to factory settings. Deletes all of its settings and returns them.",
        d.Args(USER, d.Attribute("device_id", d.String, "ID of the device to reset.", required=True)),
        d.Return(
            d.Attribute("name", d.String, "Name of the device.", required=True),
            d.Attribute("lost", d.MapOf(d.String, d.Any), "Deleted settings.", required=True),
        ),
        d.Confirm(
            hint="Reset {device_id} to factory settings? Its settings are lost.",
            payload=d.Object(
                d.Attribute(
                    "keep_on", d.Boolean, "Leave the device switched on or off, as it is.", default=False
                ),
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
        "Install a firmware version on a device. The device reports later when the update is finished.",
        d.Args(
            USER,
            d.Attribute("device_id", d.String, "ID of the device to update.", required=True),
            d.Attribute(
                "version",
                d.String(pattern=r"^[0-9]+\.[0-9]+\.[0-9]+$"),
                "Version to install, for example 2.4.0.",
                required=True,
            ),
        ),
        d.Return(d.Attribute("version", d.String, "Installed version.", required=True)),
        d.LongRunning(
            ack=d.Object(d.Attribute("minutes", d.Int, "Expected duration in minutes.", required=True)),
            progress=d.Object(d.Attribute("percent", d.Int, "Progress in percent.", required=True)),
        ),
        d.Inject("user_id"),
        d.CallHint("Updating {device_id} to {version}"),
        d.ResultHint("Version {version} runs"),
        d.Tags("write"),
    ),
    d.Tool(
        "draw_readings",
        "Draw a chart of the readings of a device in the last week, one bar per hour.",
        d.Args(
            USER,
            d.Attribute("device_id", d.String, "ID of the device; list_devices returns it.", required=True),
        ),
        d.Return(
            d.Attribute("quantity", d.String, "Measured quantity.", required=True),
            d.Attribute("unit", d.String, "Unit of low and high.", required=True),
            d.Attribute("low", d.Float, "Lowest reading.", required=True),
            d.Attribute("high", d.Float, "Highest reading.", required=True),
        ),
        d.Inject("user_id"),
        d.Annotations(read_only=True),
    ),
    d.Tool(
        "sign_in",
        "Sign in with a PIN. After that, the tools that change rooms are available.",
        d.Args(
            USER,
            d.Attribute("pin", d.String(pattern=r"^[0-9]{4}$"), "PIN of four digits.", required=True),
        ),
        d.Return(d.Attribute("is_signed_in", d.Boolean, "Always true.", required=True)),
        d.Inject("user_id"),
        d.Needs("state"),
    ),
)
