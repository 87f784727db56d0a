"""Clauses that hold others: from a toolset down to one tool's arguments, and the methods behind tools.

A toolset of an MCP server holds what the server has listed.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Final, TypeAlias

from .attributes import Attribute, Example, Required
from .behaviour import (
    Bookkeeping,
    CallHint,
    Confirm,
    Instructions,
    LongRunning,
    NativeTool,
    Needs,
    ResultHint,
    ResultReminder,
    Sequential,
    Terminal,
    Timeout,
)
from .clause import Clause
from .composites import JSONSchema, Type
from .http import HTTP
from .security import NoSecurity, Security
from .tool_clauses import (
    Annotations,
    Artifact,
    BindTo,
    BoundedResult,
    Breaks,
    Deprecated,
    Error,
    Icon,
    Inject,
    Meta,
    Suppress,
    Tags,
)

Fields: TypeAlias = Attribute | Required | Type | JSONSchema | str
"""Attributes, or one `Type` or `JSONSchema` in their place."""


class Attributes(Clause):
    """The attributes of an object that is named by its place; an open one keeps keys beyond them."""

    children: Final[tuple[Fields, ...]]
    open: Final[bool]

    def __init__(self, *children: Fields, open: bool = False) -> None:
        super().__init__()
        self.children = children
        self.open = open


class Args(Attributes):
    """What the model sends: attributes, or one `Type` or `JSONSchema`.

    Example: `d.Args(d.Attribute("site_id", d.String, "Site identifier.", required=True))`
    """


class Return(Attributes):
    """What the model gets: attributes, or one `Type` or `JSONSchema`.

    Example: `d.Return(d.Attribute("devices", d.ArrayOf(Device), "Devices, by name.", required=True))`
    """


class Payload(Attributes):
    """What a method takes: attributes, or one `Type` or `JSONSchema`.

    Example: `d.Payload(d.Attribute("site_id", d.String, "Site identifier.", required=True))`
    """


class Result(Attributes):
    """What a method gives back: attributes, or one `Type` or `JSONSchema`.

    Example: `d.Result(Device)`
    """


@dataclass(frozen=True, eq=False, repr=False)
class Functions(Clause):
    """The methods of the service are the functions of a module, by their names.

    Example: `d.Service("Rooms", "Rooms of an office.", d.Functions("rooms"), d.Method("book", "Book one."))`
    """

    module: str


@dataclass(frozen=True, eq=False, repr=False)
class Function(Clause):
    """The method is this function, which takes the attributes of the payload by keyword.

    Example: `d.Method("book", "Book a room.", d.Function("rooms:reserve"))`
    """

    target: str
    """`package.module:function`, or `package.module:object.method`."""


MethodChild: TypeAlias = Payload | Result | Error | HTTP | Function | Security | NoSecurity


class Method(Clause):
    """An operation behind the tools.

    Example: `d.Method("find", "Find.", d.Payload(d.Attribute("id", d.String, "Its id.")), d.Result(Device))`
    """

    name: Final[str]
    description: Final[str]
    children: Final[tuple[MethodChild, ...]]

    def __init__(self, name: str, description: str, *children: MethodChild) -> None:
        super().__init__()
        self.name = name
        self.description = description
        self.children = children


ToolClause: TypeAlias = (
    Args
    | Return
    | BindTo
    | Inject
    | BoundedResult
    | Artifact
    | Error
    | Tags
    | Meta
    | Annotations
    | Deprecated
    | Breaks
    | Icon
    | Example
    | Confirm
    | LongRunning
    | Timeout
    | Sequential
    | Terminal
    | Bookkeeping
    | Needs
    | Instructions
    | ResultReminder
    | CallHint
    | ResultHint
    | Suppress
)


class Tool(Clause):
    """One callable of a toolset.

    Example: `d.Tool("get_one", "Get one.", d.Args(d.Attribute("id", d.String, "Its id.")), d.Return(Device))`
    """

    name: Final[str]
    description: Final[str]
    children: Final[tuple[ToolClause, ...]]
    title: Final[str | None]

    def __init__(self, name: str, description: str, *children: ToolClause, title: str | None = None) -> None:
        super().__init__()
        self.name = name
        self.description = description
        self.children = children
        self.title = title


ToolsetChild: TypeAlias = Tool | NativeTool | Instructions | Tags | Meta | Suppress


class Toolset(Clause):
    """Tools that belong together.

    Example: `d.Toolset("devices", "Find devices.", d.Tool("count", "Count them."), d.Tags("home"))`
    """

    name: Final[str]
    description: Final[str]
    children: Final[tuple[ToolsetChild, ...]]
    title: Final[str | None]
    prefix: Final[str]

    def __init__(
        self,
        name: str,
        description: str,
        *children: ToolsetChild,
        title: str | None = None,
        prefix: str = "",
    ) -> None:
        super().__init__()
        self.name = name
        self.description = description
        self.children = children
        self.title = title
        self.prefix = prefix


@dataclass(frozen=True, eq=False, repr=False)
class MCPToolset(Clause):
    """The tools of an MCP server, as `toolgen import mcp` has locked them in a file beside the design.

    Example: `d.MCPToolset("git", lock="git.mcp.json")`
    """

    name: str
    _: KW_ONLY
    lock: str
    """Path of the lock, from the folder of the design's file."""
    title: str | None = None
    prefix: str = ""
