"""The design of a home assistant: what its services do and which tools a model gets over them.

`toolgen gen` reads `design` and writes the package `gen/`: types, codecs, executors, JSON Schema.
"""

from toolgen import dsl as d

from .checks import PROMPTS, checks
from .maintenance import maintenance
from .tariffs import tariff_service, tariffs

# Types that services and tools share.

State = d.Enum("State", "State of a device.", "online", "offline", "unknown")
Kind = d.Enum("Kind", "Kind of a device.", "light", "plug", "thermostat", "sensor", "blind", "lock")

Device = d.Type(
    "Device",
    "A device on a site.",
    d.Attribute("id", d.String, "Stable identifier.", required=True),
    d.Attribute("name", d.String, "Name shown to people.", required=True),
    d.Attribute("kind", Kind, "Kind of the device.", required=True),
    d.Attribute("room", d.String, "Room of the device.", required=True),
    d.Attribute("manual", d.String, "Manual of the device.", required=True),
    d.Attribute("status", State, "Last known state.", required=True),
    d.Attribute("last_seen", d.DateTime, "Time of its newest reading; absent if there is none."),
)

Reading = d.Type(
    "Reading",
    "One measured value.",
    d.Attribute("at", d.DateTime, "Time of the measurement.", required=True),
    d.Attribute("value", d.Float, "Measured value, in the unit of the series.", required=True),
)

TimeSeries = d.Type(
    "TimeSeries",
    "The readings of one device over a period.",
    d.Attribute("device", Device, "The device.", required=True),
    d.Attribute("quantity", d.String, "Measured quantity, for example temperature.", required=True),
    d.Attribute("unit", d.String, "Unit of the values.", required=True),
    d.Attribute("readings", d.ArrayOf(Reading), "Readings, oldest first.", required=True),
)

Switch = d.Type(
    "Switch",
    "Switch a light or a plug on or off.",
    d.Attribute("on", d.Boolean, "True to switch on, false to switch off.", required=True),
)

Dim = d.Type(
    "Dim",
    "Set the brightness of a light.",
    d.Attribute("level", d.Int, "Brightness in percent.", minimum=1, maximum=100, required=True),
)

Move = d.Type(
    "Move",
    "Move a blind.",
    d.Attribute(
        "position",
        d.Int,
        "Position in percent; 0 is closed, 100 is open.",
        minimum=0,
        maximum=100,
        required=True,
    ),
)

Heat = d.Type(
    "Heat",
    "Set the target temperature of a thermostat.",
    d.Attribute(
        "target",
        d.Float,
        "Target temperature in degrees Celsius.",
        minimum=5,
        maximum=30,
        multiple_of=0.5,
        required=True,
    ),
)

Site = d.Type(
    "Site",
    "A house, a flat or a cabin.",
    d.Attribute("id", d.String, "Stable identifier.", required=True),
    d.Attribute("name", d.String, "Name shown to people.", required=True),
    d.Attribute("timezone", d.String, "IANA name of its time zone.", required=True),
)

UserPart = d.Enum("UserPart", "A part of what is known about a user.", "contact", "sites", "preferences")

Section = d.Type(
    "Section",
    "A manual, a chapter, or a part of one.",
    d.Attribute("ref", d.String, "Reference of the section.", required=True),
    d.Attribute("title", d.String, "Heading of the section.", required=True),
    d.Attribute("sections", d.ArrayOf("Section"), "Subsections."),
)

Hit = d.Type(
    "Hit",
    "A section of a manual that matches.",
    d.Attribute("ref", d.String, "Reference of the section.", required=True),
    d.Attribute("heading", d.String, "Headings from the manual down to the section.", required=True),
    d.Attribute("excerpt", d.String, "Matching part of the text.", required=True),
)

# The services behind the tools. Every call belongs to a session, and a session to a user: the model
# never sees the session, and reaches only what its user may see.
SESSION = d.Attribute("session_id", d.String, "Session the call belongs to.", required=True)

device_service = d.Service(
    "DeviceService",
    "The devices of all sites and what they have measured.",
    d.Method(
        "list_devices",
        "List the devices of a site, by name.",
        d.Payload(
            SESSION,
            d.Attribute("site_id", d.String, "ID of the site.", required=True),
            d.Attribute("status", State, "Only devices in this state."),
            d.Attribute("kind", Kind, "Only devices of this kind."),
            d.Attribute("limit", d.Int, "Maximum number of devices.", minimum=1, maximum=100, default=20),
            d.Attribute("cursor", d.String, "Cursor of the previous page."),
        ),
        d.Result(
            d.Attribute("devices", d.ArrayOf(Device), "Matching devices.", required=True),
            d.Attribute("total", d.Int, "Matching devices on all pages.", required=True),
            d.Attribute("next_cursor", d.String, "Cursor of the next page; absent on the last page."),
        ),
    ),
    d.Method(
        "read_device",
        "Read what a device measured over a period.",
        d.Payload(
            SESSION,
            d.Attribute("device_id", d.String, "ID of the device; list_devices returns it.", required=True),
            d.Attribute("start", d.DateTime, "Start of the period, inclusive.", required=True),
            d.Attribute("end", d.DateTime, "End of the period, exclusive.", required=True),
        ),
        d.Result(d.Attribute("time_series", TimeSeries, "What it measured.", required=True)),
    ),
    d.Method(
        "set_state",
        "Send a command to a device.",
        d.Payload(
            SESSION,
            d.Attribute("device_id", d.String, "Device to command.", required=True),
            d.Attribute(
                "command",
                d.OneOf("kind", "Command", switch=Switch, dim=Dim, move=Move, heat=Heat),
                "Command to send.",
                required=True,
            ),
        ),
        d.Result(
            d.Attribute("device", Device, "The device after the command.", required=True),
            d.Attribute(
                "changed", d.Boolean, "False if the device already had these settings.", required=True
            ),
            d.Attribute(
                "settings", d.MapOf(d.String, d.Any), "All its settings after the command.", required=True
            ),
        ),
    ),
)

user_service = d.Service(
    "UserService",
    "The people who use the assistant.",
    d.Method(
        "get_user",
        "Read the data of the user of a session.",
        d.Payload(
            SESSION,
            d.Attribute("parts", d.ArrayOf(UserPart), "Parts to return.", default=["sites"]),
            d.Attribute(
                "sign_ins", d.Int, "Maximum number of recent sign-ins.", minimum=0, maximum=100, default=0
            ),
        ),
        d.Result(
            d.Attribute("user_id", d.String, "Stable identifier.", required=True),
            d.Attribute("display_name", d.String, "Name shown to people.", required=True),
            d.Attribute("member_since", d.Date, "Day of the registration.", required=True),
            d.Attribute("email", d.String(format="email"), "E-mail address; part of `contact`."),
            d.Attribute("sites", d.ArrayOf(Site), "Sites the user may see, by name."),
            d.Attribute("preferences", d.MapOf(d.String, d.String), "Preferences of the user, by name."),
            d.Attribute("signed_in_at", d.ArrayOf(d.DateTime), "Recent sign-ins, newest first."),
        ),
    ),
)

# The tools. `list_devices` says in full what the model sends and gets; `set_state` inherits both from
# its method; `get_user_data` shows less than its method and under other names; the rest is bound to
# no method and written in the executor.

devices = d.Toolset(
    "devices",
    "Find devices, read their measurements, and control them.",
    d.Tool(
        "list_devices",
        "List the devices of a site. Returns one page, sorted by name.",
        d.Args(
            d.Attribute(
                "site_id", d.String, "ID of the site; get_user_data returns the sites.", required=True
            ),
            d.Attribute("status", State, "Only devices in this state."),
            d.Attribute("kind", Kind, "Only devices of this kind."),
            d.Attribute("limit", d.Int, "Maximum number of devices.", minimum=1, maximum=100, default=20),
            d.Attribute("cursor", d.String, "The next_cursor of the previous page."),
        ),
        d.Return(
            d.Attribute("devices", d.ArrayOf(Device), "Matching devices, by name.", required=True),
            d.Attribute("next_cursor", d.String, "Cursor of the next page; absent on the last page."),
        ),
        d.BoundedResult(cursor="cursor", next_cursor="next_cursor"),
        d.BindTo("DeviceService", "list_devices"),
        d.Inject("session_id"),
        d.Annotations(read_only=True),
        d.Example({"site_id": "harbour", "status": "offline", "limit": 5}),
    ),
    d.Tool(
        "get_time_series",
        "Summarize the readings of a device in a period. Returns count, lowest and highest.",
        d.Args(
            SESSION,
            d.Attribute("device_id", d.String, "ID of the device; list_devices returns it.", required=True),
            d.Attribute("start", d.DateTime, "Start of the period, inclusive.", required=True),
            d.Attribute("end", d.DateTime, "End of the period, exclusive.", required=True),
        ),
        d.Return(
            d.Attribute("summary", d.String, "Summary of the readings in one sentence.", required=True),
            d.Attribute("count", d.Int, "Number of readings in the period.", required=True),
            d.Attribute("low", d.Float, "Lowest reading; absent without readings."),
            d.Attribute("high", d.Float, "Highest reading; absent without readings."),
        ),
        d.Artifact("time_series", TimeSeries, "Every reading, for a chart.", view="chart.line"),
        d.Inject("session_id"),
        d.Annotations(read_only=True),
        d.Example({"device_id": "h23", "start": "2026-01-28T00:00:00Z", "end": "2026-01-29T00:00:00Z"}),
    ),
    d.Tool(
        "set_state",
        "Send one command to a device. The commands that it accepts depend on its kind.",
        d.BindTo("DeviceService", "set_state"),
        d.Inject("session_id"),
        d.Annotations(destructive=False, idempotent=True),
        d.Example({"device_id": "h09", "command": {"kind": "dim", "level": 40}}),
        d.Tags("write"),
    ),
    d.Tags("home"),
)

documents = d.Toolset(
    "documents",
    "Search the manuals of the devices.",
    d.Tool(
        "search",
        "Search the manuals. Returns the sections that contain every word of the query, best match first.",
        d.Args(
            d.Attribute(
                "query", d.String, "Words to search for.", min_length=1, max_length=200, required=True
            ),
            d.Attribute(
                "manual",
                d.String,
                "Only sections of this manual; list_devices returns the manual of each device.",
            ),
            d.Attribute("limit", d.Int, "Maximum number of sections.", minimum=1, maximum=20, default=5),
        ),
        d.Return(d.Attribute("hits", d.ArrayOf(Hit), "Matching sections, best first.", required=True)),
        d.BoundedResult(),
        d.Annotations(read_only=True),
        d.Example(
            {"query": "factory reset", "manual": "bolt-l4"},
            result={
                "hits": [
                    {
                        "ref": "bolt-l4/5",
                        "heading": "Bolt L4 door lock › Factory reset",
                        "excerpt": "Take one battery out, press the knob, and put the battery back while you "
                        "hold it for ten seconds.",
                    }
                ],
                "returned": 1,
                "total": 1,
                "truncated": False,
            },
        ),
    ),
    d.Tool(
        "table_of_contents",
        "Show the tables of contents of the manuals.",
        d.Args(
            d.Attribute("manual", d.String, "Only this manual."),
            d.Attribute(
                "depth",
                d.Int,
                "Depth of headings: 1 returns titles only, 3 returns all headings.",
                minimum=1,
                maximum=3,
                default=1,
            ),
        ),
        d.Return(d.Attribute("manuals", d.ArrayOf(Section), "The manuals, by name.", required=True)),
        d.Annotations(read_only=True),
        d.Example(
            {"manual": "koppel-p1", "depth": 2},
            result={
                "manuals": [
                    {
                        "ref": "koppel-p1",
                        "title": "Koppel P1 smart plug",
                        "sections": [
                            {"ref": "koppel-p1/1", "title": "Limits"},
                            {"ref": "koppel-p1/2", "title": "Pairing"},
                            {"ref": "koppel-p1/3", "title": "Measuring power"},
                            {"ref": "koppel-p1/4", "title": "Problems"},
                        ],
                    }
                ]
            },
        ),
    ),
)

account = d.Toolset(
    "account",
    "Data about the user of the session.",
    d.Tool(
        "get_user_data",
        "Read name, sites, e-mail address and preferences of the user; by default name and sites.",
        d.Args(d.Attribute("include", d.ArrayOf(UserPart), "Parts to return.", default=["sites"])),
        d.Return(
            d.Attribute("name", d.String, "Name of the user.", required=True),
            d.Attribute("email", d.String(format="email"), "E-mail address."),
            d.Attribute("sites", d.ArrayOf(Site), "Sites the user may see, by name."),
            d.Attribute("preferences", d.MapOf(d.String, d.String), "Preferences of the user, by name."),
        ),
        d.BindTo("UserService", "get_user", rename={"parts": "include", "display_name": "name"}),
        d.Inject("session_id"),
        d.Annotations(read_only=True),
        d.Example({"include": ["sites", "preferences"]}),
    ),
)

design = d.Design(
    "home",
    "A home assistant over the devices, the manuals and the users of a few sites.",
    device_service,
    user_service,
    tariff_service,
    d.Service(
        "assistant",
        "Tools for the model.",
        devices,
        documents,
        account,
        maintenance,
        tariffs,
        d.Agent(
            "chat",
            "Helps the users of a few sites with their devices.",
            d.Use(devices),
            d.Use(documents),
            d.Use(account),
            d.Use(maintenance),
            d.Use(tariffs),
            d.Use(checks),
            d.RunPolicy(
                max_tool_calls=20,
                max_consecutive_failed_tool_calls=3,
                time_budget="10m",
                plan_timeout="2m",
                interrupts_allowed=True,
                history=d.History(keep_turns=20),
            ),
        ),
        d.Agent(
            "diagnostics",
            "Finds out what is wrong with a device, from its readings and its manual.",
            d.Use(devices, only=["list_devices", "get_time_series"]),
            d.Use(documents, only=["search"]),
            d.Export(checks, prompts=PROMPTS),
            d.RunPolicy(max_tool_calls=8, max_consecutive_failed_tool_calls=2, time_budget="5m"),
        ),
        d.Completion(
            "site_report",
            "The state of a site in short, for somebody who was away.",
            d.Return(
                d.Attribute("headline", d.String, "The most important thing.", required=True),
                d.Attribute("details", d.ArrayOf(d.String), "What else is worth knowing.", required=True),
            ),
        ),
    ),
)
