"""Clauses with children: from a toolset down to one tool's arguments, and the methods behind tools.

A toolset of an MCP server has the tools that the server listed.
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
"""Attributes, or one `Type` or `JSONSchema` instead."""


class Attributes(Clause):
    """Attributes of an object whose class is named after its place.

    Args:
        *children: Attributes, or one `Type` or `JSONSchema` instead; a string is the name of a type.
        open: Accept keys that no attribute names, with any JSON value.


    """

    children: Final[tuple[Fields, ...]]
    open: Final[bool]

    def __init__(self, *children: Fields, open: bool = False) -> None:
        super().__init__()
        self.children = children
        self.open = open


class Args(Attributes):
    """Arguments of a tool, which the model sends.

    Generates the class `<Tool>Payload` and the JSON Schema that the model reads. Without `Args`, a tool has
    the arguments of the method that it is bound to, or none.

    Example: `d.Args(d.Attribute("site_id", d.String, "Site identifier.", required=True))`
    """


class Return(Attributes):
    """Result of a tool, which the model reads.

    Generates the class `<Tool>Result`, even if you pass a `Type`: create it from an object of that type with
    `GetDeviceResult(**dict(device))`. Without `Return`, a tool has the result of the method that it is bound
    to, or an empty one.

    Example: `d.Return(d.Attribute("devices", d.ArrayOf(Device), "Devices, by name.", required=True))`
    """


class Payload(Attributes):
    """Arguments of a method.

    Generates the class `<Method>Payload`. Without `Payload`, a method takes an empty object.

    Example: `d.Payload(d.Attribute("site_id", d.String, "Site identifier.", required=True))`
    """


class Result(Attributes):
    """Result of a method.

    Generates the class `<Method>Result`. Without `Result`, a method returns an empty object.

    Example: `d.Result(Device)`
    """


@dataclass(frozen=True, eq=False, repr=False)
class Functions(Clause):
    """Implement the methods of a service with the functions of a module.

    The generated client calls the function that has the name of the method, with the attributes of the
    payload as keyword arguments. Synchronous functions run in a thread.

    Args:
        module: Name of the module; it is imported when the client is first used.

    Example: `d.Service("Rooms", "Rooms.", d.Functions("rooms"), d.Method("book", "Book a room."))`
    """

    module: str


@dataclass(frozen=True, eq=False, repr=False)
class Function(Clause):
    """Implement one method with a function.

    The generated client calls it with the attributes of the payload as keyword arguments.

    Args:
        target: `package.module:function`, or `package.module:object.method`.

    Example: `d.Method("book", "Book a room.", d.Function("rooms:reserve"))`
    """

    target: str


MethodChild: TypeAlias = Payload | Result | Error | HTTP | Function | Security | NoSecurity


class Method(Clause):
    """Operation of a service, to which you can bind tools.

    Args:
        name: Name, written `like_this`, at most 64 characters.
        description: One sentence.
        *children: Payload, result, errors, and how the method is called: `HTTP` or `Function`.

    Example: `d.Method("get", "Get one.", d.Payload(d.Attribute("id", d.String, "ID.")), d.Result(Device))`
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
    """Function that a model can call.

    Generates a method of the toolset's executor, a spec, and the classes `<Tool>Payload` and `<Tool>Result`.

    Args:
        name: Name, written `like_this`. With the prefix of the toolset, at most 64 characters.
        description: Tells the model what the tool does, what it returns and when to use it.
        *children: Arguments, result and options of the tool, in any order. `Inject`, `Artifact`, `Error`,
            `Icon`, `Example` and `Suppress` can be repeated.
        title: Name for people. By default, toolgen creates it from the name.

    Example: `d.Tool("get", "Get a device.", d.Args(d.Attribute("id", d.String, "ID.")), d.Return(Device))`
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
    """Tools with one executor.

    Generates a package with codecs, specs, the catalog, and a protocol for the executor. List a toolset in
    the service that owns it. A toolset that only agents use or export belongs to the service of the first
    agent that exports it, or else of the first that uses it.

    Args:
        name: Name, written `like_this`, at most 64 characters.
        description: One sentence.
        *children: Tools, and options for all of them.
        title: Name for people in the catalog.
        prefix: Text before the tool names that models see.

    Example: `d.Toolset("devices", "Find devices.", d.Tool("count", "Count devices."), d.Tags("home"))`
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
    """Toolset with the tools of an MCP server, as `toolgen import mcp` has locked them.

    Generates a typed tool for each tool of the server; generation reads only the lock. Names are written
    `like_this`, and `meta["mcp"]["tool"]` contains the server's own. There is no stub: pass
    `MCPToolset.executor` of `toolgen.adapters.mcp` to the generated `registration`. See docs/mcp.md.

    Args:
        name: Name of the toolset, written `like_this`.
        lock: Path of the lock file, relative to the folder of the design's file.
        title: Name for people in the catalog.
        prefix: Text before the tool names that models see.

    Example: `d.MCPToolset("git", lock="git.mcp.json")`
    """

    name: str
    _: KW_ONLY
    lock: str
    title: str | None = None
    prefix: str = ""
