"""The table of what each word takes: the Python types of its arguments, and the words it holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final, get_args

from toolgen.contract.names import OnMissingFields

from ...agents import Agent, AgentToolset, Completion, Export, History, RunPolicy, Transfer, Use
from ...attributes import Attribute, Required
from ...behaviour import (
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
from ...clause import Clause
from ...composites import ArrayOf, Enum, MapOf, Nullable, Object, OneOf, Type
from ...datatypes import DataType, FloatClause, IntClause, ScalarClause, StringClause
from ...examples import Example
from ...foreign import JSONSchema
from ...services import Design, Service
from ...structure import Args, Method, Payload, Result, Return, Tool, Toolset
from ...tool_clauses import Annotations, Artifact, BindTo, BoundedResult, Inject, Meta, Tags
from ..types.jsonvalues import NoJsonError, json_value


@dataclass(frozen=True, slots=True)
class ArgumentType:
    """What one argument takes; `instead` stands where it got something else."""

    wanted: str
    accepts: Callable[[object], bool]
    instead: object = None
    vital: bool = False
    """Without it the word cannot be used at all."""


def is_text(value: object) -> bool:
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_nonblank_text(value: object) -> bool:
    return isinstance(value, str) and is_text(value) and bool(value.strip())


def _optional(argument: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: value is None or argument(value)


def _is_mapping_of_text(value: object) -> bool:
    return isinstance(value, Mapping) and all(is_text(key) and is_text(value[key]) for key in value)


def _is_json_object(value: object) -> bool:
    try:
        return isinstance(json_value(value), dict)
    except NoJsonError:
        return False


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**_DIGITS


def _is_confirmation(value: object) -> bool:
    if isinstance(value, Mapping):
        return all(is_text(name) and isinstance(value[name], Confirm) for name in value)
    return isinstance(value, bool) or (isinstance(value, (tuple, list)) and all(map(is_text, value)))


_DIGITS: Final = 9
"""Of a count; more has no meaning, and Python does not even print the longest ones."""
_WHOLE: Final = f"a whole number of up to {_DIGITS} digits"

_NAME = ArgumentType("a string", is_text, vital=True)
_TEXT = ArgumentType("a string", is_text, instead="?")
_LABEL = ArgumentType("a string", is_text, instead="")
_OPTIONAL_TEXT = ArgumentType("a string", _optional(is_text))
FLAG = ArgumentType("True or False", lambda value: isinstance(value, bool), instead=False)
_LIST = ArgumentType("a tuple or a list", lambda value: isinstance(value, (tuple, list)), instead=())
_JSON = ArgumentType("JSON", _is_json_object, instead={})
_MAPPING = ArgumentType("a mapping", lambda value: isinstance(value, Mapping), instead={})
_HINTS = ArgumentType(
    "True or False for each",
    lambda value: isinstance(value, dict) and all(isinstance(hint, bool) for hint in value.values()),
    instead={},
)
_SCHEMA = ArgumentType(
    "a path or a JSON Schema",
    lambda value: isinstance(value, (str, PurePath, bool)) or _is_json_object(value),
    vital=True,
)
_NAMES = ArgumentType(
    "a tuple or a list of names",
    lambda value: isinstance(value, (tuple, list)) and all(map(is_text, value)),
    instead=(),
)
_COUNT = ArgumentType(_WHOLE, _optional(_is_count))
_SPAN = ArgumentType('a string such as "30s"', _optional(is_text))
_CONFIRMED = ArgumentType("True, names of tools, or a Confirm for each", _is_confirmation, instead=False)
_CHOICE = ArgumentType(
    " or ".join(map(repr, get_args(OnMissingFields))),
    lambda value: isinstance(value, str) and value in get_args(OnMissingFields),
    instead="resume",
)
_SENTENCE = ArgumentType("a text that says something", _is_nonblank_text, vital=True)
_WHEN = ArgumentType(
    "a mapping of attributes to values",
    lambda value: isinstance(value, Mapping) and all(map(is_text, value)),
    instead={},
)
_RENAME = ArgumentType("a mapping of names to names", _is_mapping_of_text, instead={})

ARGUMENT_TYPES: Final[dict[type[Clause], dict[str, ArgumentType]]] = {
    Design: {"name": ArgumentType("a string", is_text, instead="design"), "description": _TEXT},
    Service: {"name": _NAME, "description": _TEXT},
    Method: {"name": _NAME, "description": _TEXT},
    Toolset: {"name": _NAME, "description": _TEXT, "title": _OPTIONAL_TEXT, "prefix": _LABEL},
    Tool: {"name": _NAME, "description": _TEXT, "title": _OPTIONAL_TEXT},
    Args: {"open": FLAG},
    Return: {"open": FLAG},
    Payload: {"open": FLAG},
    Result: {"open": FLAG},
    Type: {"name": _NAME, "description": _TEXT, "open": FLAG},
    Enum: {"name": _NAME, "description": _TEXT, "values": _LIST},
    Attribute: {
        "name": _NAME,
        "description": _TEXT,
        "required": FLAG,
        "title": _OPTIONAL_TEXT,
        "examples": _LIST,
        "deprecated": FLAG,
    },
    Required: {},
    Object: {"open": FLAG},
    ArrayOf: {},
    MapOf: {},
    Nullable: {},
    OneOf: {"tag": _NAME, "name": _OPTIONAL_TEXT},
    StringClause: {},
    IntClause: {},
    FloatClause: {},
    ScalarClause: {},
    JSONSchema: {"schema": _SCHEMA},
    BindTo: {"service": _OPTIONAL_TEXT, "method": _NAME, "rename": _RENAME},
    Inject: {},
    BoundedResult: {"cursor": _OPTIONAL_TEXT, "next_cursor": _OPTIONAL_TEXT},
    Artifact: {"kind": _NAME, "description": _TEXT},
    Tags: {},
    Meta: {"facts": _JSON},
    Annotations: {"hints": _HINTS},
    Example: {
        "args": _MAPPING,
    },
    Confirm: {"hint": _LABEL, "when": _WHEN},
    LongRunning: {},
    Timeout: {"limit": ArgumentType('a string such as "30s"', is_text, vital=True)},
    Sequential: {},
    Terminal: {},
    Bookkeeping: {},
    Needs: {},
    Instructions: {"text": _SENTENCE},
    ResultReminder: {"text": _SENTENCE},
    CallHint: {"template": _SENTENCE},
    ResultHint: {"template": _SENTENCE},
    NativeTool: {"provider": _NAME, "kind": _NAME, "config": _JSON},
    Agent: {"name": _NAME, "description": _TEXT},
    AgentToolset: {"service": _NAME, "agent": _NAME, "export": _NAME},
    Use: {"only": _NAMES, "exclude": _NAMES, "prefix": _LABEL, "confirm": _CONFIRMED},
    Export: {"prompts": _RENAME},
    Transfer: {},
    History: {"keep_turns": ArgumentType(_WHOLE, _is_count, instead=1), "summarize_after": _COUNT},
    RunPolicy: {
        "max_tool_calls": _COUNT,
        "max_consecutive_failed_tool_calls": _COUNT,
        "time_budget": _SPAN,
        "plan_timeout": _SPAN,
        "tool_timeout": _SPAN,
        "interrupts_allowed": FLAG,
        "on_missing_fields": _CHOICE,
    },
    Completion: {"name": _NAME, "description": _TEXT},
}
TYPES: Final[dict[type[Clause], str]] = {
    Attribute: "type",
    Artifact: "type",
    ArrayOf: "items",
    Nullable: "inner",
}
"""The argument that is a type."""

OPTIONAL_TYPES: Final[dict[type[Clause], tuple[str, ...]]] = {
    Confirm: ("payload",),
    LongRunning: ("ack", "progress"),
}
"""Arguments that may be types."""

CLAUSE_ARGUMENTS: Final[dict[type[Clause], tuple[str, tuple[type[Clause], ...], bool]]] = {
    Use: ("toolset", (Toolset, AgentToolset), False),
    Export: ("toolset", (Toolset,), False),
    RunPolicy: ("history", (History,), True),
}
"""The argument that is another word, the words that it takes, and whether it may be None."""

_FIELDS = (Attribute, Required, DataType)
_CLAUSES = (
    Args,
    Return,
    BindTo,
    Inject,
    BoundedResult,
    Artifact,
    Tags,
    Meta,
    Annotations,
    Example,
    Confirm,
    LongRunning,
    Timeout,
    Sequential,
    Terminal,
    Bookkeeping,
    Needs,
    Instructions,
    ResultReminder,
    CallHint,
    ResultHint,
)
CHILDREN: Final[dict[type[Clause], tuple[type[Clause], ...]]] = {
    Design: (Service, Type, Enum),
    Service: (Method, Toolset, Agent, Completion),
    Agent: (Use, Export, Transfer, RunPolicy),
    Completion: (Return,),
    Method: (Payload, Result),
    Toolset: (Tool, NativeTool, Instructions, Tags, Meta),
    Tool: _CLAUSES,
    Args: _FIELDS,
    Return: _FIELDS,
    Payload: _FIELDS,
    Result: _FIELDS,
    Type: (Attribute, Required, Example),
    Object: (Attribute, Required),
}
NAMING = (Required, Inject, Tags, Needs, Transfer)
"""Words that are a list of names."""

SHAREABLE = (Attribute, Required, Payload, Result, *_CLAUSES)
"""What is often written once and used in several places."""

NAMED = (Design, Service, Method, Toolset, Agent, Completion, Tool, Type, Attribute, Artifact)
OBJECTS: Final[dict[type[Clause], tuple[str, str]]] = {
    Tool: ("Args", "Return"),
    Method: ("Payload", "Result"),
}
