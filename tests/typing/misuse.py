"""What type checkers refuse: exactly the lines that are marked, each under both checkers."""

import datetime as dt

from toolgen.dsl import (
    Annotations,
    Args,
    ArrayOf,
    Artifact,
    Attribute,
    BindTo,
    Bookkeeping,
    Boolean,
    BoundedResult,
    Breaks,
    CallHint,
    Confirm,
    Date,
    DateTime,
    Decimal,
    Deprecated,
    Design,
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
    Uuid,
)

State = Enum("State", "State of a device.", "online", "offline")
Device = Type("Device", "A device.", Attribute("id", String, "Identifier.", required=True))
tool = Tool("search", "Search.")
toolset = Toolset("documents", "Manuals.", tool)

# A clause in the wrong word
Tool("t", "Do it.", Attribute("a", String, "A."))  # wrong
Tool("t", "Do it.", tool)  # wrong
Tool("t", "Do it.", Payload())  # wrong
Tool("t", "Do it.", "Say more.")  # wrong
Tool("t", "Do it.", BoundedResult)  # wrong
Toolset("t", "Tools.", Args())  # wrong
Toolset("t", "Tools.", BoundedResult())  # wrong
Service("S", "Serves.", tool)  # wrong
Service("S", "Serves.", Device)  # wrong
Design("d", "All.", toolset)  # wrong
Design("d", "All.", tool)  # wrong
Method("m", "Do it.", Args())  # wrong
Toolset("t", "Tools.", Confirm())  # wrong
Tool("t", "Do it.", NativeTool("openai", "web_search"))  # wrong
Tool("t", "Do it.", Sequential)  # wrong
Args(Tags("a"))  # wrong
Args(String)  # wrong
Return(ArrayOf(Device))  # wrong
Type("T", "A type.", Inject("a"))  # wrong
ArrayOf(Attribute("a", String, "A."))  # wrong
Artifact("series", ArrayOf(Device), "Devices.")  # wrong
Error("not_found", String, "No device.")  # wrong
OneOf("kind", text=String)  # wrong

# A default, an enum or an example of the wrong type
Attribute("a", Int, "A.", default="5")  # wrong
Attribute("a", Int, "A.", default=5.0)  # wrong
Attribute("a", Float, "A.", default="5.0")  # wrong
Attribute("a", String, "A.", default=5)  # wrong
Attribute("a", String(min_length=1), "A.", default=5)  # wrong
Attribute("a", String, "A.", default=None)  # wrong
Attribute("a", Boolean, "A.", default=1)  # wrong
Attribute("a", DateTime, "A.", default="2026-01-31T00:00:00Z")  # wrong
Attribute("a", Uuid, "A.", default="00000000-0000-0000-0000-000000000000")  # wrong
Attribute("a", State, "A.", default=1)  # wrong
Attribute("a", Device, "A.", default="d1")  # wrong
Attribute("a", ArrayOf(Int), "A.", default=["a"])  # wrong
Attribute("a", ArrayOf(Int), "A.", default=1)  # wrong
Attribute("a", MapOf(String, Int), "A.", default={"a": "b"})  # wrong
Attribute("a", Nullable(Int), "A.", default="a")  # wrong
Attribute("a", String, "A.", enum=("a", 1))  # wrong
Attribute("a", String, "A.", enum="abc")  # wrong
Attribute("a", Int, "A.", enum=("a", "b"))  # wrong
Attribute("a", Int, "A.", examples=("a",))  # wrong
Attribute("a", String(enum=(1, 2)), "A.")  # wrong
Enum("Mixed", "Both kinds.", "a", 1)  # wrong
Enum("Floats", "Numbers.", 1.5)  # wrong

# A constraint on a type that cannot hold it
Attribute("a", String, "A.", minimum=5)  # wrong
Attribute("a", String, "A.", multiple_of=5)  # wrong
Attribute("a", Decimal, "A.", multiple_of=5)  # wrong
Attribute("a", Date(multiple_of=dt.date(2026, 1, 1)), "A.")  # wrong
Attribute("a", Int, "A.", min_length=5)  # wrong
Attribute("a", Int, "A.", pattern="a")  # wrong
Attribute("a", Int, "A.", format="email")  # wrong
Attribute("a", Int, "A.", maximum=1.5)  # wrong
Attribute("a", Float, "A.", enum=(1.5,))  # wrong
Attribute("a", Boolean, "A.", minimum=1)  # wrong
Attribute("a", Boolean, "A.", enum=(True,))  # wrong
Attribute("a", DateTime, "A.", pattern="a")  # wrong
Attribute("a", Date, "A.", minimum="2026-01-01")  # wrong
Attribute("a", Decimal, "A.", minimum=0.5)  # wrong
Date(maximum=1)  # wrong
Attribute("a", String, "A.", unique_items=True)  # wrong
Attribute("a", MapOf(String, Int), "A.", unique_items=True)  # wrong
ArrayOf(Int, unique_items="yes")  # wrong
Attribute("a", State, "A.", enum=("online",))  # wrong
Attribute("a", Device, "A.", max_length=1)  # wrong
Attribute("a", ArrayOf(String), "A.", pattern="a")  # wrong
Attribute("a", ArrayOf(Int), "A.", minimum=1)  # wrong
Attribute("a", Nullable(String), "A.", max_length=3)  # wrong
Attribute("a", String(minimum=5), "A.")  # wrong
Attribute("a", Int(pattern="a"), "A.")  # wrong
Attribute("a", Boolean(minimum=1), "A.")  # wrong
Attribute("a", String, "A.", min_length="1")  # wrong
MapOf(Int, String)  # wrong

# A missing description, or a wrong argument
Attribute("a", String)  # wrong
Tool("t")  # wrong
Tool("t", Args())  # wrong
Toolset("t", tool)  # wrong
Type("T")  # wrong
Enum("E")  # wrong
Artifact("series", Device)  # wrong
Attribute("a", str, "A.")  # wrong
Attribute("a", ArrayOf, "A.")  # wrong
Required(1)  # wrong
Tags(tool)  # wrong
Inject(["a"])  # wrong
BindTo("S", "m", rename=["a"])  # wrong
Example([1])  # wrong
Meta(icon=object())  # wrong
Confirm(5)  # wrong
Confirm(when={"a": None})  # wrong
Confirm(when={"a": [1, 2]})  # wrong
Confirm(payload=String)  # wrong
LongRunning(ack=ArrayOf(Device))  # wrong
LongRunning(Object())  # wrong
Timeout(30)  # wrong
Sequential(True)  # wrong
Terminal("now")  # wrong
Bookkeeping(1)  # wrong
Needs(["state"])  # wrong
Instructions()  # wrong
ResultReminder(1)  # wrong
CallHint(1)  # wrong
ResultHint(None)  # wrong
NativeTool("openai")  # wrong
NativeTool("openai", "web_search", ["a"])  # wrong

# A misspelt keyword
Attribute("a", String, "A.", requird=True)  # wrong
Attribute("a", Int, "A.", max=5)  # wrong
Tool("t", "Do it.", name="t")  # wrong
Toolset("t", "Tools.", prefx="a")  # wrong
BoundedResult(cursors="a")  # wrong
Annotations(readonly=True)  # wrong
Artifact("rows", Device, "Rows.", view="chart.pie")  # wrong
Breaks()  # wrong
Deprecated()  # wrong
Icon("https://example.org/a.png", theme="blue")  # wrong
Icon("https://example.org/a.png", sizes=48)  # wrong
Deprecated("Old.", "new_tool")  # wrong
ArrayOf(String, min_items=1)  # wrong
Confirm(text="Sure?")  # wrong
LongRunning(done=Device)  # wrong
