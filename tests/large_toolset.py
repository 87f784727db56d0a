"""A design with so many tools in one toolset that their types are a package with one module a tool."""

from __future__ import annotations

from pathlib import Path

from tests.golden import formatted, write
from toolgen.codegen import generate
from toolgen.dsl import (
    Args,
    Artifact,
    Attribute,
    BindTo,
    Design,
    Int,
    Method,
    Object,
    Payload,
    Result,
    Return,
    Service,
    String,
    Tool,
    Toolset,
    Type,
    build,
)

Item = Type("Item", "Something.", Attribute("name", String, "Its name.", required=True))
ITEM = Attribute("item", Object(Attribute("name", String, "Its name.", required=True)), "It.", required=True)
COUNT = Attribute("count", Int, "How many there are.", required=True)


def texts(tools: int) -> dict[str, str]:
    """Return the tree of a design with so many tools, of which four have fields."""
    checked = build(_design(tools)).design
    assert checked is not None
    return formatted(generate(checked, module="acme.design"))


def package(folder: Path, name: str = "large") -> None:
    """Write the tree of 21 tools as a package."""
    write(folder / name, texts(21))


def _design(tools: int) -> Design:
    return Design(
        "big_toolset",
        "Many tools.",
        Service(
            "store",
            "A store.",
            Method("put", "Put something.", Payload(ITEM), Result(COUNT)),
            Toolset(
                "many",
                "Many tools.",
                Tool("get", "Return an item.", Return(Attribute("item", Item, "It.", required=True))),
                Tool("put", "Put something.", Args(ITEM), Return(COUNT), BindTo("put")),
                Tool(
                    "list",
                    "Called as a builtin.",
                    Artifact("all", Object(Attribute("count", Int, "How many.")), "All."),
                ),
                Tool("import", "Called as a keyword.", Args(Attribute("item", Item, "It."))),
                *(Tool(f"get_{number}", f"Get item {number}.") for number in range(1, tools - 3)),
            ),
        ),
    )
