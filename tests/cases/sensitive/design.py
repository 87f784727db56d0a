"""Sensitive attributes: of arguments, results, artifacts, errors and what is between, at any depth."""

from toolgen.dsl import (
    Agent,
    Annotations,
    Args,
    ArrayOf,
    Artifact,
    Attribute,
    CallHint,
    Confirm,
    DateTime,
    Decimal,
    Design,
    Error,
    Export,
    Int,
    LongRunning,
    MapOf,
    Nullable,
    Object,
    OneOf,
    ResultHint,
    Return,
    Service,
    String,
    Tool,
    Toolset,
    Type,
    Use,
)

Card = Type(
    "Card",
    "A payment card.",
    Attribute("number", String(min_length=8), "Its number.", required=True, sensitive=True),
    Attribute("holder", String, "Whose it is."),
)
Account = Type(
    "Account",
    "An account, and those below it.",
    Attribute("iban", String, "Its number.", sensitive=True),
    Attribute("below", ArrayOf("Account"), "Accounts below it."),
)
PAYMENT = (
    Attribute("amount", Int, "Cents.", required=True),
    Attribute("card", Card, "What pays.", required=True),
    Attribute("pin", Int, "Its PIN.", sensitive=True),
    Attribute("born", DateTime, "Of the holder.", sensitive=True),
    Attribute("limit", Decimal, "Of the card.", sensitive=True),
    Attribute("vouchers", MapOf(String, String), "By shop.", sensitive=True),
    Attribute("others", ArrayOf(Card), "What else may pay."),
    Attribute("by-shop", MapOf(String, Nullable(Card)), "By shop."),
    Attribute("from", OneOf("kind", card=Card, account=Account), "Which one.", required=False),
)

pay = Tool(
    "pay",
    "Pay.",
    Args(*PAYMENT),
    Return(
        Attribute("receipt", String, "Its number.", required=True),
        Attribute("code", String, "What opens the parcel.", sensitive=True),
    ),
    Artifact("statement", Account, "All of it."),
    Error("declined", Card, "The bank did not pay."),
    CallHint("Paying {amount} with {card} and {pin}"),
    ResultHint("Paid: {receipt} {code}"),
)
approve = Tool(
    "pay_much",
    "Pay much.",
    Args(*PAYMENT),
    Return(Attribute("receipt", String, "Its number.", required=True)),
    Confirm("Pay {amount} with {pin} of {card}?", payload=Card),
    CallHint("Paying {amount} with {pin}"),
)
transfer = Tool(
    "transfer",
    "Transfer later.",
    Args(*PAYMENT),
    Return(Attribute("code", String, "What opens it.", sensitive=True)),
    LongRunning(
        ack=Object(Attribute("ticket", String, "What to ask for.", sensitive=True)),
        progress=Object(Attribute("step", String, "Where it is.", sensitive=True)),
    ),
)
again = Tool(
    "check_card",
    "Check a card.",
    Args(*PAYMENT),
    Annotations(read_only=True),
)
shopping = Toolset(
    "shopping",
    "Buys.",
    Tool("buy", "Buy.", Args(*PAYMENT), Return(Attribute("code", String, "What opens it.", sensitive=True))),
)

design = Design(
    "sensitive",
    "Sensitive values.",
    Service(
        "bank",
        "A bank.",
        Agent("shopper", "Buys.", Export(shopping)),
        Agent(
            "teller",
            "Pays.",
            Use(Toolset("payments", "Payments.", pay, approve, transfer, again)),
            Use(shopping),
        ),
    ),
)
