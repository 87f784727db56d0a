"""The design, and the services that it holds."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from .agents import Agent, Completion
from .clause import Clause
from .composites import Enum, Type
from .http import Server
from .security import NoSecurity, Security
from .structure import Functions, MCPToolset, Method, Toolset
from .tool_clauses import Error

ServiceChild: TypeAlias = (
    Method | Toolset | MCPToolset | Agent | Completion | Error | Server | Functions | Security | NoSecurity
)
Answers: TypeAlias = Literal["strict", "lenient"]


class Service(Clause):
    """Owner of methods, toolsets, agents and completions.

    Example: `d.Service("DeviceService", "The devices.", d.Method("reset", "Reset all devices."))`
    """

    name: Final[str]
    description: Final[str]
    children: Final[tuple[ServiceChild, ...]]
    answers: Final[Answers]
    """Whether a result that does not fit is an error, or is passed on as the service sent it."""

    def __init__(
        self, name: str, description: str, *children: ServiceChild, answers: Answers = "strict"
    ) -> None:
        super().__init__()
        self.name = name
        self.description = description
        self.children = children
        self.answers = answers


DesignChild: TypeAlias = Service | Type | Enum[str] | Enum[int]


class Design(Clause):
    """The whole, a module's `design`.

    Example: `design = d.Design("home", "A home assistant.", d.Service("assistant", "Helps at home."))`
    """

    name: Final[str]
    description: Final[str]
    children: Final[tuple[DesignChild, ...]]
    version: Final[str | None]
    """The semantic version of its release."""

    def __init__(
        self, name: str, description: str, *children: DesignChild, version: str | None = None
    ) -> None:
        super().__init__()
        self.name = name
        self.description = description
        self.children = children
        self.version = version
