"""Tools in front of methods: rename, defaults, nested objects, unions, maps, artifacts, several services."""

from toolgen.dsl import (
    Args,
    ArrayOf,
    Artifact,
    Attribute,
    BindTo,
    DateTime,
    Design,
    Enum,
    Float,
    Inject,
    Int,
    MapOf,
    Method,
    Object,
    OneOf,
    Payload,
    Result,
    Return,
    Service,
    String,
    Tool,
    Toolset,
    Type,
)

Unit = Enum("Unit", "What a number counts.", "celsius", "percent")
Reading = Type(
    "Reading",
    "One measurement.",
    Attribute("at", DateTime, "When.", required=True),
    Attribute("value", Float, "How much.", required=True),
)
TimeSeries = Type(
    "TimeSeries",
    "All measurements.",
    Attribute("unit", Unit, "What they count.", required=True),
    Attribute("readings", ArrayOf(Reading), "By time.", required=True),
)
Dim = Type(
    "Dim", "Dim the light.", Attribute("level", Int(minimum=0, maximum=100), "Percent.", required=True)
)
Off = Type("Off", "Switch it off.")

devices = Toolset(
    "devices",
    "Devices of a site.",
    Tool(
        "find",
        "Find devices.",
        Args(
            Attribute("site", String, "Which site.", required=True),
            Attribute(
                "filter",
                Object(
                    Attribute("name", String, "Part of the name."),
                    Attribute("limits", MapOf(String, Object(Attribute("low", Int, "Lowest."))), "By unit."),
                ),
                "Which devices.",
            ),
            Attribute(
                "order",
                ArrayOf(Object(Attribute("by", String(enum=["name", "id"]), "What.", required=True))),
                "How.",
            ),
        ),
        Return(
            Attribute(
                "devices",
                ArrayOf(
                    Object(
                        Attribute("id", String, "Identifier.", required=True),
                        Attribute("label", String, "Name."),
                    )
                ),
                "What was found.",
                required=True,
            ),
            Attribute(
                "kinds",
                MapOf(String, Object(Attribute("count", Int, "How many.", required=True))),
                "By kind.",
            ),
        ),
        BindTo("DeviceService", "search", rename={"site_id": "site", "matches": "devices"}),
        Inject("session_id", "tenant"),
    ),
    Tool(
        "command",
        "Send a command.",
        Args(
            Attribute("id", String, "Which device.", required=True),
            Attribute("command", OneOf("kind", dim=Dim, off=Off), "What to do.", required=True),
            Attribute("then", ArrayOf(OneOf("kind", dim=Dim, off=Off)), "What to do next."),
        ),
        Return(Attribute("done", ArrayOf(OneOf("kind", dim=Dim, off=Off)), "What was done.", required=True)),
        BindTo("DeviceService", "command"),
    ),
    Tool(
        "time_series",
        "Summarize measurements.",
        Args(Attribute("id", String, "Which device.", required=True)),
        Return(Attribute("summary", String, "In one sentence.", required=True)),
        Artifact("series", TimeSeries, "Every measurement."),
        Artifact(
            "raw", Object(Attribute("lines", ArrayOf(String), "As they came.", required=True)), "The source."
        ),
        BindTo("DeviceService", "series"),
    ),
    Tool("whoami", "Return the user.", BindTo("UserService", "user"), Inject("session_id")),
    Tool(
        "ping",
        "Answer.",
        Artifact(
            "trace", Object(Attribute("hops", ArrayOf(String), "On the way.", required=True)), "The way."
        ),
    ),
)

design = Design(
    "binding",
    "Bindings.",
    Service(
        "DeviceService",
        "Devices.",
        Method(
            "search",
            "Search devices.",
            Payload(
                Attribute("site_id", String, "Which site.", required=True),
                Attribute("session_id", String, "Which session.", required=True),
                Attribute("tenant", String, "Whose.", required=True),
                Attribute(
                    "filter",
                    Object(
                        Attribute("name", String, "Part of the name.", default="*"),
                        Attribute(
                            "limits",
                            MapOf(
                                String,
                                Object(
                                    Attribute("low", Float, "Lowest."), Attribute("high", Float, "Highest.")
                                ),
                            ),
                            "By unit.",
                        ),
                    ),
                    "Which devices.",
                    default={"name": "all"},
                ),
                Attribute("order", ArrayOf(Object(Attribute("by", String, "What.", required=True))), "How."),
            ),
            Result(
                Attribute(
                    "matches",
                    ArrayOf(
                        Object(
                            Attribute("id", String, "Identifier.", required=True),
                            Attribute("label", String, "Name.", default="?"),
                            Attribute("secret", String, "Not for the model.", required=True),
                        )
                    ),
                    "What was found.",
                    required=True,
                ),
                Attribute(
                    "kinds",
                    MapOf(String, Object(Attribute("count", Int, "How many.", required=True))),
                    "By kind.",
                ),
            ),
        ),
        Method(
            "command",
            "Send a command.",
            Payload(
                Attribute("id", String, "Which device.", required=True),
                Attribute("command", OneOf("kind", dim=Dim, off=Off, stop=Off), "What to do.", required=True),
                Attribute("then", ArrayOf(OneOf("kind", dim=Dim, off=Off)), "What to do next."),
            ),
            Result(
                Attribute("done", ArrayOf(OneOf("kind", dim=Dim, off=Off)), "What was done.", required=True)
            ),
        ),
        Method(
            "series",
            "Read measurements.",
            Payload(Attribute("id", String, "Which device.", required=True)),
            Result(
                Attribute("summary", String, "In one sentence.", required=True),
                Attribute("series", TimeSeries, "Every measurement.", required=True),
                Attribute(
                    "raw",
                    Object(Attribute("lines", ArrayOf(String), "As they came.", required=True)),
                    "The source.",
                ),
            ),
        ),
    ),
    Service(
        "UserService",
        "Users.",
        Method(
            "user",
            "Return the user of a session.",
            Payload(
                Attribute("session_id", String, "Which session.", required=True),
                Attribute("fields", ArrayOf(String), "What to return.", default=["name"]),
            ),
            Result(Attribute("name", String, "Their name.", required=True)),
        ),
    ),
    Service("assistant", "Tools.", devices),
)
