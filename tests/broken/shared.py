"""Words that are written once and used in several places, made by functions and in loops."""

from toolgen.dsl import (
    Args,
    Attribute,
    BoundedResult,
    Design,
    Inject,
    Int,
    Return,
    Service,
    String,
    Tags,
    Tool,
    Toolset,
    Type,
)

PAGING = (
    Attribute("limit", Int, "Most of them.", maximum=100, default=1000),
    Attribute("cursor", String, "Cursor of the previous page."),
)
SESSION = (Inject("session"), Tags("a", 1))  # type: ignore[arg-type]
NAMED = [Attribute(name, String, "One of many.") for name in ("first", "second name", "third")]


def text(name: str) -> Attribute:
    return Attribute(name, String, "Some text.", minimum=1)


def lister(kind: str, *attributes: Attribute) -> Tool:
    return Tool(
        f"list_{kind}",
        f"List the {kind}.",
        Args(*attributes, Attribute("since", String, "When.", pattern="(")),
    )


things = Toolset(
    "things",
    "Find things.",
    lister("rooms", *PAGING),
    lister("all devices", *PAGING),
    Tool("name_thing", "Name a thing.", Args(*NAMED, text("title")), *SESSION),
    Tool("count_things", "Count things.", Args(*PAGING, PAGING[1]), *SESSION),
    *(Tool(f"do_{verb}", "Do it.", Return(*PAGING), BoundedResult("here")) for verb in ("this", "that")),
    *(Tool("again", "Do it again.") for _ in range(2)),
)

design = Design(
    "home",
    "A home.",
    Service("assistant", "Helps.", things),
    Type("Page", "A page.", *PAGING),
    *(Type(name, "One of several.", *(text(part) for part in "ab")) for name in ("A", "B")),
)
