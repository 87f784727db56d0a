"""The design of a home assistant: what its services do and which tools a model gets over them.

`toolgen gen` reads `design` and writes the package `gen/`: types, codecs, executors, JSON Schema.
"""

from toolgen.dsl import (
    Agent,
    Annotations,
    Any,
    Args,
    ArrayOf,
    Artifact,
    Attribute,
    BindTo,
    Boolean,
    BoundedResult,
    Completion,
    Date,
    DateTime,
    Design,
    Enum,
    Example,
    Export,
    Float,
    History,
    Inject,
    Int,
    MapOf,
    Method,
    OneOf,
    Payload,
    Result,
    Return,
    RunPolicy,
    Service,
    String,
    Tags,
    Tool,
    Toolset,
    Type,
    Use,
)

from .checks import PROMPTS, checks
from .maintenance import maintenance
from .tariffs import tariff_service, tariffs

# Types that services and tools share.

State = Enum("State", "Whether a device answers.", "online", "offline", "unknown")
Kind = Enum("Kind", "What a device is.", "light", "plug", "thermostat", "sensor", "blind", "lock")

Device = Type(
    "Device",
    "A device on a site.",
    Attribute("id", String, "Stable identifier.", required=True),
    Attribute("name", String, "Name shown to people.", required=True),
    Attribute("kind", Kind, "What it is.", required=True),
    Attribute("room", String, "Room it is in.", required=True),
    Attribute("manual", String, "Manual of its model.", required=True),
    Attribute("status", State, "Last known state.", required=True),
    Attribute("last_seen", DateTime, "Its newest reading; absent when there never was one."),
)

Reading = Type(
    "Reading",
    "One measured value.",
    Attribute("at", DateTime, "When it was measured.", required=True),
    Attribute("value", Float, "What was measured, in the unit of the series.", required=True),
)

TimeSeries = Type(
    "TimeSeries",
    "The readings of one device over a period.",
    Attribute("device", Device, "Device that measured.", required=True),
    Attribute("quantity", String, "What is measured.", required=True),
    Attribute("unit", String, "Unit of the values.", required=True),
    Attribute("readings", ArrayOf(Reading), "Readings, oldest first.", required=True),
)

Switch = Type(
    "Switch",
    "Switch a light or a plug.",
    Attribute("on", Boolean, "True switches it on.", required=True),
)

Dim = Type(
    "Dim",
    "Set how bright a light is.",
    Attribute("level", Int, "Percent of full light.", minimum=1, maximum=100, required=True),
)

Move = Type(
    "Move",
    "Drive a blind.",
    Attribute("position", Int, "0 is closed, 100 is open.", minimum=0, maximum=100, required=True),
)

Heat = Type(
    "Heat",
    "Set the target of a thermostat.",
    Attribute("target", Float, "Degrees Celsius.", minimum=5, maximum=30, multiple_of=0.5, required=True),
)

Site = Type(
    "Site",
    "A house, a flat or a cabin.",
    Attribute("id", String, "Stable identifier.", required=True),
    Attribute("name", String, "Name shown to people.", required=True),
    Attribute("timezone", String, "IANA name of its time zone.", required=True),
)

UserPart = Enum("UserPart", "A part of what is known about a user.", "contact", "sites", "preferences")

Section = Type(
    "Section",
    "A manual, a chapter, or a part of one.",
    Attribute("ref", String, "Reference, as search results give it.", required=True),
    Attribute("title", String, "Its heading.", required=True),
    Attribute("sections", ArrayOf("Section"), "What it is divided into."),
)

Hit = Type(
    "Hit",
    "A section of a manual that matches.",
    Attribute("ref", String, "Reference of the section.", required=True),
    Attribute("heading", String, "Titles that lead to it.", required=True),
    Attribute("excerpt", String, "The matching part of its text.", required=True),
)

# The services behind the tools. Every call belongs to a session, and a session to a user: the model
# never sees the session, and reaches only what its user may see.
SESSION = Attribute("session_id", String, "Session the call belongs to.", required=True)

device_service = Service(
    "DeviceService",
    "The devices of all sites and what they have measured.",
    Method(
        "list_devices",
        "List the devices of a site, by name.",
        Payload(
            SESSION,
            Attribute("site_id", String, "Site to list.", required=True),
            Attribute("status", State, "Keep the devices in this state."),
            Attribute("kind", Kind, "Keep the devices of this kind."),
            Attribute("limit", Int, "Most devices to return.", minimum=1, maximum=100, default=20),
            Attribute("cursor", String, "Where the last page ended."),
        ),
        Result(
            Attribute("devices", ArrayOf(Device), "Matching devices.", required=True),
            Attribute("total", Int, "Matching devices on all pages.", required=True),
            Attribute("next_cursor", String, "Where this page ended; absent on the last one."),
        ),
    ),
    Method(
        "read_device",
        "Read what a device measured over a period.",
        Payload(
            SESSION,
            Attribute("device_id", String, "Device to read.", required=True),
            Attribute("start", DateTime, "First instant, inclusive.", required=True),
            Attribute("end", DateTime, "Last instant, exclusive.", required=True),
        ),
        Result(Attribute("time_series", TimeSeries, "What it measured.", required=True)),
    ),
    Method(
        "set_state",
        "Send a command to a device.",
        Payload(
            SESSION,
            Attribute("device_id", String, "Device to command.", required=True),
            Attribute(
                "command",
                OneOf("kind", "Command", switch=Switch, dim=Dim, move=Move, heat=Heat),
                "What it shall do.",
                required=True,
            ),
        ),
        Result(
            Attribute("device", Device, "The device that took the command.", required=True),
            Attribute("changed", Boolean, "False when everything was so already.", required=True),
            Attribute("settings", MapOf(String, Any), "All its settings after the command.", required=True),
        ),
    ),
)

user_service = Service(
    "UserService",
    "The people who use the assistant.",
    Method(
        "get_user",
        "Read what is known about the user of a session.",
        Payload(
            SESSION,
            Attribute("parts", ArrayOf(UserPart), "Parts to read.", default=["sites"]),
            Attribute("sign_ins", Int, "Newest sign-ins to add.", minimum=0, maximum=100, default=0),
        ),
        Result(
            Attribute("user_id", String, "Stable identifier.", required=True),
            Attribute("display_name", String, "Name shown to people.", required=True),
            Attribute("member_since", Date, "Day of the registration.", required=True),
            Attribute("email", String(format="email"), "Where to write to; part of `contact`."),
            Attribute("sites", ArrayOf(Site), "Sites the user may see, by name."),
            Attribute("preferences", MapOf(String, String), "What the user has chosen, by name."),
            Attribute("signed_in_at", ArrayOf(DateTime), "Newest sign-ins, newest first."),
        ),
    ),
)

# The tools. `list_devices` says in full what the model sends and gets; `set_state` inherits both from
# its method; `get_user_data` shows less than its method and under other names; the rest is bound to
# no method and written in the executor.

devices = Toolset(
    "devices",
    "Find devices, read what they measured, and set them.",
    Tool(
        "list_devices",
        "List the devices of a site by name, page by page.",
        Args(
            Attribute("site_id", String, "Site to list; get_user_data names the sites.", required=True),
            Attribute("status", State, "Keep the devices in this state."),
            Attribute("kind", Kind, "Keep the devices of this kind."),
            Attribute("limit", Int, "Most devices to return.", minimum=1, maximum=100, default=20),
            Attribute("cursor", String, "The next_cursor of the page before."),
        ),
        Return(
            Attribute("devices", ArrayOf(Device), "Matching devices, by name.", required=True),
            Attribute("next_cursor", String, "Cursor of the next page; absent on the last one."),
        ),
        BoundedResult(cursor="cursor", next_cursor="next_cursor"),
        BindTo("DeviceService", "list_devices"),
        Inject("session_id"),
        Annotations(read_only=True),
        Example({"site_id": "harbour", "status": "offline", "limit": 5}),
    ),
    Tool(
        "get_time_series",
        "Summarize what one device measured over a period.",
        Args(
            SESSION,
            Attribute("device_id", String, "Device to read.", required=True),
            Attribute("start", DateTime, "First instant, inclusive.", required=True),
            Attribute("end", DateTime, "Last instant, exclusive.", required=True),
        ),
        Return(
            Attribute("summary", String, "What the readings say, in one sentence.", required=True),
            Attribute("count", Int, "Readings in the period.", required=True),
            Attribute("low", Float, "Lowest reading; absent without readings."),
            Attribute("high", Float, "Highest reading; absent without readings."),
        ),
        Artifact("time_series", TimeSeries, "Every reading, for a chart.", view="chart.line"),
        Inject("session_id"),
        Annotations(read_only=True),
        Example({"device_id": "h23", "start": "2026-01-28T00:00:00Z", "end": "2026-01-29T00:00:00Z"}),
    ),
    Tool(
        "set_state",
        "Send one command to a device. Which commands it takes depends on its kind.",
        BindTo("DeviceService", "set_state"),
        Inject("session_id"),
        Annotations(destructive=False, idempotent=True),
        Example({"device_id": "h09", "command": {"kind": "dim", "level": 40}}),
        Tags("write"),
    ),
    Tags("home"),
)

documents = Toolset(
    "documents",
    "Look things up in the manuals of the devices.",
    Tool(
        "search",
        "Search the manuals. Sections that hold every word of the query come, best first.",
        Args(
            Attribute("query", String, "Words to look for.", min_length=1, max_length=200, required=True),
            Attribute("manual", String, "Keep this manual; list_devices names the manual of a device."),
            Attribute("limit", Int, "Most sections to return.", minimum=1, maximum=20, default=5),
        ),
        Return(Attribute("hits", ArrayOf(Hit), "Matching sections, best first.", required=True)),
        BoundedResult(),
        Annotations(read_only=True),
        Example(
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
    Tool(
        "table_of_contents",
        "Show how the manuals are divided.",
        Args(
            Attribute("manual", String, "Keep this manual."),
            Attribute(
                "depth", Int, "1 gives titles only, 3 gives everything.", minimum=1, maximum=3, default=1
            ),
        ),
        Return(Attribute("manuals", ArrayOf(Section), "The manuals, by name.", required=True)),
        Annotations(read_only=True),
        Example(
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

account = Toolset(
    "account",
    "What the assistant knows about its user.",
    Tool(
        "get_user_data",
        "Read what is known about the user, the sites above all.",
        Args(Attribute("include", ArrayOf(UserPart), "Parts to read.", default=["sites"])),
        Return(
            Attribute("name", String, "Name of the user.", required=True),
            Attribute("email", String(format="email"), "Where to write to."),
            Attribute("sites", ArrayOf(Site), "Sites the user may see, by name."),
            Attribute("preferences", MapOf(String, String), "What the user has chosen, by name."),
        ),
        BindTo("UserService", "get_user", rename={"parts": "include", "display_name": "name"}),
        Inject("session_id"),
        Annotations(read_only=True),
        Example({"include": ["sites", "preferences"]}),
    ),
)

design = Design(
    "home",
    "A home assistant over the devices, the manuals and the users of a few sites.",
    device_service,
    user_service,
    tariff_service,
    Service(
        "assistant",
        "What the model may do.",
        devices,
        documents,
        account,
        maintenance,
        tariffs,
        Agent(
            "chat",
            "Helps the users of a few sites with their devices.",
            Use(devices),
            Use(documents),
            Use(account),
            Use(maintenance),
            Use(tariffs),
            Use(checks),
            RunPolicy(
                max_tool_calls=20,
                max_consecutive_failed_tool_calls=3,
                time_budget="10m",
                plan_timeout="2m",
                interrupts_allowed=True,
                history=History(keep_turns=20),
            ),
        ),
        Agent(
            "diagnostics",
            "Finds out what is wrong with a device, from its readings and its manual.",
            Use(devices, only=["list_devices", "get_time_series"]),
            Use(documents, only=["search"]),
            Export(checks, prompts=PROMPTS),
            RunPolicy(max_tool_calls=8, max_consecutive_failed_tool_calls=2, time_budget="5m"),
        ),
        Completion(
            "site_report",
            "The state of a site in short, for somebody who was away.",
            Return(
                Attribute("headline", String, "The most important thing.", required=True),
                Attribute("details", ArrayOf(String), "What else is worth knowing.", required=True),
            ),
        ),
    ),
)
