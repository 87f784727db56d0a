"""A tool with clauses of behaviour: checked, or what is wrong with it."""

from __future__ import annotations

from tests.checked import built, only
from toolgen.dsl import (
    Args,
    ArrayOf,
    Attribute,
    Boolean,
    DateTime,
    Enum,
    Float,
    Int,
    Nullable,
    Return,
    Service,
    String,
    Tool,
    Toolset,
)
from toolgen.dsl.expr import tree
from toolgen.dsl.structure import ToolClause

ARGS = Args(
    Attribute("query", String(min_length=2), "What.", required=True),
    Attribute("hard", Boolean, "At once.", default=False),
    Attribute("level", Nullable(Int(maximum=3)), "How far."),
    Attribute("share", Float, "Of the whole."),
    Attribute("mode", Enum("Mode", "How.", "soft", "firm"), "How."),
    Attribute("since", DateTime, "From when."),
    Attribute("names", ArrayOf(String), "Which."),
    Attribute("site-id", String, "Where."),
)
RETURN = Return(Attribute("rooms", ArrayOf(String), "Found.", required=True))


def serving(*clauses: ToolClause) -> Service:
    return Service("s", "Serves.", Toolset("t", "Tools.", Tool("find", "Find.", *clauses)))


def tool(*clauses: ToolClause) -> tree.Tool:
    return built(serving(*clauses)).services[0].toolsets[0].tools[0]


def wrong(*clauses: ToolClause) -> tuple[str, str, str]:
    """Return code, message and hint of the one thing that is wrong with the tool."""
    found = only(serving(*clauses))
    return found.code, found.message, found.hint
