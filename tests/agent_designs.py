"""Parts of small designs with agents, checked, or what is wrong with them."""

from __future__ import annotations

from tests.checked import built, only
from toolgen.contract.findings import Finding
from toolgen.dsl import (
    Agent,
    Args,
    Attribute,
    Boolean,
    NativeTool,
    Return,
    Service,
    String,
    Tool,
    Toolset,
    Type,
)
from toolgen.dsl.agents import AgentChild
from toolgen.dsl.expr import tree
from toolgen.dsl.services import ServiceChild
from toolgen.dsl.structure import ToolClause

ID = Attribute("id", String, "Device.", required=True)
HARD = Attribute("hard", Boolean, "At once.")
SESSION = Attribute("session_id", String, "Session.", required=True)
TEXT = Return(Attribute("text", String, "It.", required=True))
NATIVE = NativeTool("openai", "web_search")
REASON = Type("Reason", "Why.", Attribute("text", String, "In a sentence."))


def tool(name: str, *clauses: ToolClause) -> Tool:
    return Tool(name, f"Do {name}.", Args(ID, HARD, SESSION), TEXT, *clauses)


def toolset(name: str, *tools: Tool | NativeTool, prefix: str = "") -> Toolset:
    return Toolset(name, f"All of {name}.", *(tools or (tool("probe"),)), prefix=prefix)


def agent(name: str, *children: AgentChild) -> Agent:
    return Agent(name, f"Is {name}.", *children)


def serving(*children: ServiceChild) -> Service:
    return Service("home", "Serves.", *children)


def checked(*children: ServiceChild) -> tree.Service:
    return built(serving(*children)).services[0]


def wrong(*children: ServiceChild) -> tuple[str, str, str]:
    """Return code, message and hint of the one thing that is wrong with a service."""
    found = only(serving(*children))
    return found.code, found.message, found.hint


def places(diagnostic: Finding) -> list[str]:
    return [related.message for related in diagnostic.related]
