"""Every primitive: required, optional, with a default, with constraints."""

import datetime as dt
import uuid
from decimal import Decimal as Number

from toolgen.dsl import (
    Any,
    Args,
    ArrayOf,
    Attribute,
    Boolean,
    Bytes,
    Date,
    DateTime,
    Decimal,
    Design,
    Duration,
    Example,
    Float,
    Int,
    Nullable,
    Return,
    Service,
    String,
    Tool,
    Toolset,
    Url,
    Uuid,
)

design = Design(
    "scalars",
    "Primitives.",
    Service(
        "forms",
        "Lexical forms.",
        Toolset(
            "scalars",
            "One tool for each way to say them.",
            Tool(
                "required",
                "All required.",
                Args(
                    Attribute("string", String, "Text.", required=True),
                    Attribute("int", Int, "A whole number.", required=True),
                    Attribute("float", Float, "A number.", required=True),
                    Attribute("boolean", Boolean, "Yes or no.", required=True),
                    Attribute("bytes", Bytes, "Base64.", required=True),
                    Attribute("date", Date, "A day.", required=True),
                    Attribute("datetime", DateTime, "An instant.", required=True),
                    Attribute("duration", Duration, "A period.", required=True),
                    Attribute("uuid", Uuid, "An identifier.", required=True),
                    Attribute("url", Url, "An address.", required=True),
                    Attribute("decimal", Decimal, "An amount.", required=True),
                    Attribute("any", Any, "Anything.", required=True),
                ),
            ),
            Tool(
                "defaults",
                "All with a default.",
                Args(
                    Attribute("string", String, "Text.", default='it\'s "so"\n'),
                    Attribute("int", Int, "A whole number.", default=-5),
                    Attribute("float", Float, "A number.", default=2.5),
                    Attribute("boolean", Boolean, "Yes or no.", default=False),
                    Attribute("bytes", Bytes, "Base64.", default=b"\x00\xffabc"),
                    Attribute("date", Date, "A day.", default=dt.date(2026, 2, 28)),
                    Attribute(
                        "midnight", DateTime, "An instant.", default=dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
                    ),
                    Attribute(
                        "instant",
                        DateTime,
                        "Another zone, and a part of a second.",
                        default=dt.datetime(
                            2026, 1, 1, 2, 3, 4, 500, tzinfo=dt.timezone(dt.timedelta(hours=-5))
                        ),
                    ),
                    Attribute(
                        "duration", Duration, "A period.", default=dt.timedelta(days=1, hours=2, seconds=3)
                    ),
                    Attribute("back", Duration, "A period back.", default=dt.timedelta(minutes=-90)),
                    Attribute("nothing", Duration, "No time at all.", default=dt.timedelta(0)),
                    Attribute("uuid", Uuid, "An identifier.", default=uuid.UUID(int=1)),
                    Attribute("url", Url, "An address.", default="https://example.org/?q=a#b"),
                    Attribute("decimal", Decimal, "An amount.", default=Number("12.340")),
                    Attribute("any", Any, "Anything.", default={"a": [1, 2.5, None, True]}),
                    Attribute("days", ArrayOf(Date), "Several days.", default=[dt.date(2026, 1, 1)]),
                    Attribute("none", ArrayOf(Int), "No numbers.", default=[]),
                ),
                Example({"string": "x", "date": "2026-02-03"}),
            ),
            Tool(
                "constraints",
                "All that can be narrowed.",
                Args(
                    Attribute(
                        "code", String(pattern=r"^[A-Z]{2}\d+$", min_length=3, max_length=8), "A code."
                    ),
                    Attribute("mail", String(format="email"), "A mail address."),
                    Attribute("host", String(format="hostname"), "A host."),
                    Attribute("address", String(format="ipv4"), "An address."),
                    Attribute("address6", String(format="ipv6"), "A longer one."),
                    Attribute("percent", Int(minimum=0, maximum=100, multiple_of=5), "A share.", default=50),
                    Attribute(
                        "ratio", Float(exclusive_minimum=0, exclusive_maximum=1.5), "A ratio.", required=True
                    ),
                    Attribute(
                        "day",
                        Date,
                        "A day of the year",
                        minimum=dt.date(2026, 1, 1),
                        exclusive_maximum=dt.date(2027, 1, 1),
                        default=dt.date(2026, 2, 28),
                    ),
                    Attribute(
                        "since",
                        DateTime(exclusive_minimum=dt.datetime(2026, 1, 1, tzinfo=dt.UTC)),
                        "An instant of it.",
                        required=True,
                    ),
                    Attribute(
                        "wait", Duration(minimum=dt.timedelta(0), maximum=dt.timedelta(days=1)), "A wait."
                    ),
                    Attribute("price", Nullable(Decimal(minimum=Number("0.01"))), "A price."),
                    Attribute("coin", Decimal, "Twentieths.", minimum=Number(0), multiple_of=Number("0.05")),
                    Attribute(
                        "quarter", Duration(multiple_of=dt.timedelta(minutes=15)), "Quarters.", required=True
                    ),
                    Attribute("coins", ArrayOf(Nullable(Decimal(multiple_of=Number("0.05")))), "Coins."),
                    Attribute("days", ArrayOf(Date(maximum=dt.date(2026, 12, 31))), "Several days."),
                    Attribute(
                        "tags", ArrayOf(String(max_length=9)), "Labels.", max_length=3, unique_items=True
                    ),
                    Attribute(
                        "sets", ArrayOf(ArrayOf(Date, unique_items=True)), "Days that differ.", default=[]
                    ),
                    Attribute("words", ArrayOf(String(min_length=1), min_length=1, max_length=3), "Words."),
                    Attribute(
                        "old", String, "Not used any more.", deprecated=True, examples=["a"], title="Old one"
                    ),
                ),
                Return(
                    Attribute("any", Any, "Anything, or nothing."),
                    Attribute("instant", DateTime, "When.", required=True),
                ),
            ),
        ),
    ),
)
