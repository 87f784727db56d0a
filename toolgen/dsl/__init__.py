"""The design language: its clauses, and `build`, which checks and resolves a design."""

from typing import TYPE_CHECKING

from toolgen.contract.lazy import lazy_exports

from .agents import Agent, AgentToolset, Budget, Completion, Export, History, RunPolicy, Transfer, Use
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
from .composites import ArrayOf, Enum, JSONSchema, MapOf, Nullable, Object, OneOf, Type
from .datatypes import (
    Any,
    Boolean,
    Bytes,
    Date,
    DateTime,
    Decimal,
    Duration,
    Float,
    Int,
    String,
    Url,
    Uuid,
    Value,
)
from .services import Design, Service
from .structure import Args, Function, Functions, MCPToolset, Method, Payload, Result, Return, Tool, Toolset
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

if TYPE_CHECKING:
    from .evaluation.build import build

__all__ = [
    "Agent",
    "AgentToolset",
    "Annotations",
    "Any",
    "Args",
    "ArrayOf",
    "Artifact",
    "Attribute",
    "BindTo",
    "Bookkeeping",
    "Boolean",
    "BoundedResult",
    "Breaks",
    "Budget",
    "Bytes",
    "CallHint",
    "Completion",
    "Confirm",
    "Date",
    "DateTime",
    "Decimal",
    "Deprecated",
    "Design",
    "Duration",
    "Enum",
    "Error",
    "Example",
    "Export",
    "Float",
    "Function",
    "Functions",
    "History",
    "Icon",
    "Inject",
    "Instructions",
    "Int",
    "JSONSchema",
    "LongRunning",
    "MCPToolset",
    "MapOf",
    "Meta",
    "Method",
    "NativeTool",
    "Needs",
    "Nullable",
    "Object",
    "OneOf",
    "Payload",
    "Required",
    "Result",
    "ResultHint",
    "ResultReminder",
    "Return",
    "RunPolicy",
    "Sequential",
    "Service",
    "String",
    "Suppress",
    "Tags",
    "Terminal",
    "Timeout",
    "Tool",
    "Toolset",
    "Transfer",
    "Type",
    "Url",
    "Use",
    "Uuid",
    "Value",
    "build",
]

_LAZY = {".evaluation.build": "build"}
"""A design that did not change since its code was generated is not evaluated."""

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(__name__, _LAZY)
