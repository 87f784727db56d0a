"""What type checkers accept: every word, every type, every way to write a default."""

import datetime as dt
from decimal import Decimal as PythonDecimal
from uuid import UUID

from toolgen.dsl import (
    Annotations,
    Any,
    Args,
    ArrayOf,
    Artifact,
    Attribute,
    BindTo,
    Bookkeeping,
    Boolean,
    BoundedResult,
    Breaks,
    Bytes,
    CallHint,
    Confirm,
    Date,
    DateTime,
    Decimal,
    Deprecated,
    Design,
    Duration,
    Enum,
    Error,
    Example,
    Float,
    Icon,
    Inject,
    Instructions,
    Int,
    LongRunning,
    MapOf,
    Meta,
    Method,
    NativeTool,
    Needs,
    Nullable,
    Object,
    OneOf,
    Payload,
    Required,
    Result,
    ResultHint,
    ResultReminder,
    Return,
    Sequential,
    Service,
    String,
    Tags,
    Terminal,
    Timeout,
    Tool,
    Toolset,
    Type,
    Url,
    Uuid,
)

NOW = dt.datetime(2026, 1, 31, tzinfo=dt.UTC)

State = Enum("State", "State of a device.", "online", "offline")
Level = Enum("Level", "How loud it is.", 1, 2, 3)
Device = Type("Device", "A device.", Attribute("id", String, "Identifier."), Required("id"))
Stop = Type("Stop", "Stop it.", Attribute("hard", Boolean, "At once."), Example({"hard": True}))

PRIMITIVES = Object(
    Attribute("string", String, "Text.", default="a", examples=("a", "b"), min_length=1, max_length=9),
    Attribute("code", String(pattern="^[a-z]+$"), "Code.", default="a", title="Code", deprecated=True),
    Attribute("email", String, "Address.", format="email", required=True),
    Attribute("color", String, "Color.", enum=("red", "blue"), default="red"),
    Attribute("int", Int, "Number.", default=1, minimum=0, maximum=9, multiple_of=1),
    Attribute("channel", Int(enum=[1, 2]), "Channel.", default=1),
    Attribute("float", Float, "Number.", default=1, exclusive_minimum=0, exclusive_maximum=9.5),
    Attribute("boolean", Boolean, "Yes or no.", default=True),
    Attribute("bytes", Bytes, "Data.", default=b"a"),
    Attribute("any", Any, "Anything.", default={"a": [1, None]}),
    Attribute("date", Date, "Day.", default=dt.date(2026, 1, 31)),
    Attribute("datetime", DateTime, "Instant.", default=NOW),
    Attribute("duration", Duration, "Span.", default=dt.timedelta(hours=1), minimum=dt.timedelta(0)),
    Attribute("tags", ArrayOf(String, unique_items=True), "Labels.", unique_items=True),
    Attribute("day", Date(minimum=dt.date(2026, 1, 1)), "Day.", maximum=dt.date(2026, 12, 31)),
    Attribute("past", DateTime(exclusive_maximum=NOW), "Instant."),
    Attribute("uuid", Uuid, "Identifier.", default=UUID(int=0)),
    Attribute("url", Url, "Address.", default="https://example.com"),
    Attribute("decimal", Decimal, "Amount.", default=PythonDecimal("1.5"), maximum=PythonDecimal(9)),
    Attribute(
        "price", Decimal(multiple_of=PythonDecimal("0.01")), "Price.", multiple_of=PythonDecimal("0.05")
    ),
    Attribute(
        "slot", Duration(multiple_of=dt.timedelta(hours=1)), "Slot.", multiple_of=dt.timedelta(hours=2)
    ),
)

COMPOSITES = Object(
    Attribute("state", State, "State.", default="online"),
    Attribute("level", Level, "Level.", default=1),
    Attribute("strings", ArrayOf(String(min_length=1)), "Texts.", default=["a"], max_length=3),
    Attribute("matrix", ArrayOf(ArrayOf(Float)), "Rows.", default=[[1, 2.5]]),
    Attribute("devices", ArrayOf(Device), "Devices.", default=[{"id": "d1"}]),
    Attribute("states", ArrayOf(State, min_length=1), "States.", examples=[["online"]]),
    Attribute("counts", MapOf(String, Int), "Counts.", default={"a": 1}, min_length=1),
    Attribute("note", Nullable(String), "Note.", default=None),
    Attribute("notes", Nullable(ArrayOf(String)), "Notes.", default=["a"]),
    Attribute("command", OneOf("kind", stop=Stop, go=Object()), "Command.", required=True),
    Attribute("later", "Device", "A type by its name."),
    Attribute("many", ArrayOf("Device"), "Types by their name."),
    Attribute("by_name", MapOf(String(max_length=9), "Device"), "Types by their name."),
    Attribute("maybe", Nullable("Device"), "A type by its name."),
    Attribute("union", OneOf("kind", stop="Stop"), "Types by their name."),
    Attribute("named", OneOf("kind", "Step", stop=Stop, name=Object()), "A union with a name."),
)

tool = Tool(
    "list_devices",
    "List the devices.",
    Args(Attribute("composites", COMPOSITES, "Composites."), Required("composites")),
    Return(Device),
    BindTo("DeviceService", "list_devices", rename={"a": "b"}),
    Inject("session_id", "site_id"),
    BoundedResult(cursor="cursor", next_cursor="next_cursor"),
    Artifact("primitives", PRIMITIVES, "All primitives."),
    Artifact("device", "Device", "A type by its name."),
    Deprecated("Lists too much.", replacement="search"),
    Breaks("Nobody calls it.", "argument-removed", "argument-narrowed"),
    Icon("https://example.org/a.png", mime_type="image/png", sizes=("48x48",), theme="light"),
    Error("not_found", Device, "No device has the id."),
    Error("gone", "Device", "A type by its name.", retryable=True),
    Error("late", Object(Attribute("wait_s", Int, "Seconds.")), "An object."),
    Error("busy", description="No details."),
    Annotations(read_only=True, destructive=False, idempotent=True, open_world=False, edit=False),
    Tags("a", "b"),
    Meta(icon="lamp", order=3, nested={"a": [1, None]}),
    Example({"composites": {"seen": NOW}}, result={"id": "d1"}),
    Confirm(hint="List {composites}?", when={"mode": ("hard", "soft"), "force": True}, payload=Device),
    LongRunning(ack=Object(Attribute("minutes", Int, "How long.")), progress="Device"),
    Timeout("30s"),
    Sequential(),
    Sequential(by="session"),
    Terminal(),
    Bookkeeping(),
    Needs("state", "artifacts"),
    Instructions("Ask first."),
    ResultReminder("Names are not unique."),
    CallHint("Looking for {composites}"),
    ResultHint("Found {id}"),
    title="List devices",
)

design = Design(
    "home",
    "A home.",
    State,
    Level,
    Device,
    Service(
        "DeviceService",
        "The devices.",
        Method(
            "list_devices", "List them.", Payload("Device"), Result(Device), Error("gone", Device, "It is.")
        ),
        Toolset(
            "devices",
            "Devices.",
            tool,
            NativeTool("openai", "web_search", {"search_context_size": "low"}),
            NativeTool("google", "google_search"),
            Instructions("Ask first."),
            Tags("c"),
            Meta(icon="home"),
            title="Devices",
            prefix="home_",
        ),
    ),
)
