"""The design, and its services."""

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
    """Named group of methods, toolsets, agents and completions.

    Generates the package `gen/<service>`. The name is the first part of the ids of its tools, for example
    `assistant.devices.list_devices`. If the service has methods, the package contains an asynchronous
    `Protocol`, which you implement, or a client if its methods have a transport (`HTTP` or functions).

    Args:
        name: Any Python identifier, at most 64 characters; usually `LikeThis`.
        description: One sentence.
        *children: What the service has. `Server`, `Security`, `NoSecurity` and `Functions` apply to all of
            its methods, and so does `Error`.
        answers: What the generated client does with a response that does not match the `Result`: `strict`
            raises an error, `lenient` returns it as it is, with a warning. Only for methods with a transport.
            See docs/services.md#answers-that-do-not-fit.

    Example: `d.Service("DeviceService", "The devices.", d.Method("reset", "Reset all devices."))`
    """

    name: Final[str]
    description: Final[str]
    children: Final[tuple[ServiceChild, ...]]
    answers: Final[Answers]

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
    """Root of a design; a module assigns it to the variable `design`.

    Generates the folder `gen/`, with the shared types in `gen/types.py`.

    Args:
        name: Name of the design, for example `home-assistant`.
        description: One sentence.
        *children: All services. List a type or an enum here if only names in quotes refer to it.
        version: Semantic version of the release, for example `1.4.0`; the catalog contains it.

    Example: `design = d.Design("home", "A home assistant.", d.Service("assistant", "Helps at home."))`
    """

    name: Final[str]
    description: Final[str]
    children: Final[tuple[DesignChild, ...]]
    version: Final[str | None]

    def __init__(
        self, name: str, description: str, *children: DesignChild, version: str | None = None
    ) -> None:
        super().__init__()
        self.name = name
        self.description = description
        self.children = children
        self.version = version
