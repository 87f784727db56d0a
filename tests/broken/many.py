"""More than fifty mistakes at once: each is reported, once, in the order of the file."""

from datetime import date, datetime, timedelta

from toolgen.dsl import (
    Annotations,
    Args,
    ArrayOf,
    Artifact,
    Attribute,
    BindTo,
    BoundedResult,
    Date,
    DateTime,
    Decimal,
    Design,
    Duration,
    Enum,
    Example,
    Float,
    Inject,
    Int,
    MapOf,
    Method,
    Object,
    OneOf,
    Payload,
    Required,
    Result,
    Return,
    Service,
    String,
    Tags,
    Tool,
    Toolset,
    Type,
    Value,
)

Level = Enum("Level", "How loud it is.", ["low", "high"])  # type: ignore[type-var]
Never = Enum("None", "No value.", "never")
State = Enum("State", "State of a device.", "online", "offline", "online")
Mode = Enum("Mode", "", "day", 2)
Tag = Enum("Tag", "A tag.", Value("1", " "), Value(2, "Two"), Value("3", None), "1")  # type: ignore[type-var, arg-type]

Device = Type(
    "Device",
    "A device on a site.",
    Attribute("id", String, "Stable identifier.", required=True, default="d1"),
    Attribute("name", String, "Name shown to people.", minimum=1),
    Attribute("name", String, "Name shown to machines."),
    Attribute("state", State, "Last known state."),
    Attribute("mode", Mode, "Day or night.", default="noon"),
    Attribute("model", String, "Model.", pattern="(?<year>[0-9]+)"),
    Attribute("seen", String, "Last reading.", format="datetime"),
    Attribute("load", Float, "Load.", minimum=1, maximum=0),
    Attribute("power", Float, "Power.", multiple_of=0),
    Attribute("parent", "Devices", "The device that it belongs to."),
    Attribute("tags", ArrayOf(String), "Labels.", max_length=-1),
    Attribute("labels", MapOf(DateTime, String), "Labels by instant."),
    Attribute("serial number", String, "Serial number."),
    Required("ids"),
    Attribute("color", String, "Color.", enum=("red", "green"), default="gren"),
    Attribute("rooms", ArrayOf(String), "Rooms.", default=["hall", 3]),
    Attribute("modelName", String, "Name of the model."),
    Attribute("model_name", String, "Name of the model again."),
    Attribute("owners", list[str], "Who owns it."),  # type: ignore[arg-type]
    Attribute("note", str | None, "Note."),  # type: ignore[arg-type]
    Attribute("vendor", "string", "Vendor."),
    Attribute("channel", Int, "Channel.", enum=(1, "2")),  # type: ignore[arg-type]
    Attribute("email", String, "Whom to ask.", format="e-mail"),
    Attribute("port", Int, "Port.", minimum="1"),  # type: ignore[arg-type]
    Attribute("volume", Int, "Volume.", min_length=3),
    Attribute("step", Int, "Step.", minimum=1, maximum=9, multiple_of=10),
    Attribute("since", Date, "First day.", minimum=date(2026, 2, 1), maximum=date(2026, 1, 1)),
    Attribute("rank", Int, "Rank.", unique_items=True),  # type: ignore[arg-type]
    Attribute("ranks", ArrayOf(Int), "Ranks.", unique_items=1),  # type: ignore[arg-type]
    Attribute("badges", ArrayOf(Int), "Badges.", unique_items=True, default=[1, 2, 1]),
    Attribute("until", Date, "Last day.", maximum="2026-12-31"),  # type: ignore[arg-type]
    Attribute("at", DateTime, "Instant.", minimum=datetime(2026, 1, 1)),  # noqa: DTZ001
    Attribute("price", Decimal, "Price.", minimum=0),  # type: ignore[arg-type]
    Attribute("tax", Decimal, "Tax.", multiple_of="0"),  # type: ignore[arg-type]
    Attribute("slot", Duration, "Slot.", multiple_of=timedelta(0)),
    Attribute("spring", Date, "Spring.", multiple_of=date(2026, 3, 1)),
    Attribute("wait", Duration, "Wait.", maximum=timedelta(hours=1), default=timedelta(hours=2)),
    Attribute("mac", String, "Address.", examples=[1]),  # type: ignore[list-item]
)

Step = Type("Step", "A step.", Attribute("next", "Step", "The step after it.", required=True))
Stop = Type("Stop", "Stop.", Attribute("kind", String, "How hard."))
Plan = Type("Plan", "A plan.", Attribute("step", OneOf("kind", stop=Stop, go=String), "One step."))

devices = Toolset(
    "Devices",
    "Find devices.",
    Tool(
        "list_devices",
        "List the devices of a site.",
        Args(
            Attribute("site", String, "Site.", required=True),
            Attribute("limit", Int, "Maximum number of devices.", maximum=500, default=1000),
            Attribute("state", State, "Keep this state."),
            Attribute("color", String, "Keep this color."),
        ),
        Return(
            Attribute("devices", ArrayOf(Device), "Devices.", required=True),
            Attribute("returned", String, "How many.", required=True),
        ),
        BoundedResult(cursor="cursor"),
        BindTo("DeviceService", "list_devices"),
        Inject("session"),
        Annotations(read_only=True, edit=True),
    ),
    Tool("list_devices", "List them again."),
    Tool("reset device now", "Reset a device."),
    Tool("find_device", "Find a device.", Args(String), Return(Device, Attribute("more", Int, "More."))),
    Tool("get_device", "Get a device.", BindTo("DeviceServices", "get_device")),
    Tool("set_device", "Set a device.", BindTo("DeviceService", "set_devices"), Inject("session_id")),
    Tool(
        "name_device",
        "Name a device.",
        Args(
            Attribute("id", Int, "Device.", required=True), Attribute("label", String, "Name.", required=True)
        ),
        BindTo("DeviceService", "name_device", rename={"nam": "label"}),
    ),
    Tool(
        "move_device",
        "Move a device.",
        Args(Attribute("to", Object(Attribute("room", String, "Room.")), "Where to.", required=True)),
        Args(Attribute("where", String, "Where to.")),
        Example({"to": {"room": 1}}),
        Artifact("plan", ArrayOf(Plan), "The way."),
        Artifact("plan", Plan, "The way."),
        Attribute("x", String, "Stray."),  # type: ignore[arg-type]
        Tags("devices", 3),  # type: ignore[arg-type]
        None,  # type: ignore[arg-type]
    ),
    Tool(
        "count_devices",
        "Count the devices.",
        Args(Attribute("session_id", Int, "Session.", required=True), Attribute("turn_id", String, "Turn.")),
        Return(Attribute("number", Int, "How many.", required=True)),
        BindTo("DeviceService", "count_devices"),
        Inject("session_id", "turn_id"),
    ),
    Tool("rename_device", "Rename a device.", BindTo("name_device")),
    Tool("find_all_the_devices_of_all_the_rooms_and_all_the_floors_of_one_site", "Find them."),
    "Find rooms.",  # type: ignore[arg-type]
)

design = Design(
    "home",
    "A home.",
    Service(
        "DeviceService",
        "The devices.",
        Method(
            "list_devices",
            "List the devices of a site.",
            Payload(
                Attribute("site_id", String, "Site.", required=True),
                Attribute("limit", Int, "Maximum number of devices.", required=True),
                Attribute("state", Int, "Keep this state."),
                Attribute("session_id", String, "Session.", required=True),
            ),
            Result(Attribute("devices", ArrayOf(Device), "Devices.", required=True)),
        ),
        Method("set_device", "Set a device.", Payload(Attribute("session_id", String, "Session."))),
        Method(
            "name_device",
            "Name a device.",
            Payload(
                Attribute("id", String, "Device.", required=True),
                Attribute("name", String, "Name.", required=True),
            ),
        ),
        Method(
            "count_devices",
            "Count the devices.",
            Payload(
                Attribute("session_id", Int, "Session.", required=True),
                Attribute("turn_id", String, "Turn.", required=True),
                Attribute("site_id", String, "Site.", required=True),
            ),
            Result(Attribute("count", Float, "How many.", required=True)),
        ),
    ),
    Service("assistant", "Helps.", devices, Toolset("rooms", "Rooms.")),
    Service("helper", "Helps too.", devices),
    Service("types", "Types of devices."),
    Plan,
    Step,
    Level,
    Never,
    Tag,
)
