"""The table of what each word takes: the Python types of its arguments, and the words it holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from ..attributes import Attribute, Required
from ..behaviour import (
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
from ..clauses import Annotations, Artifact, BindTo, BoundedResult, Example, Inject, Meta, Tags
from ..composites import ArrayOf, Enum, MapOf, Nullable, Object, OneOf, Type
from ..datatypes import DataType, FloatWord, IntWord, ScalarWord, StringWord
from ..foreign import JSONSchema
from ..structure import Args, Design, Method, Payload, Result, Return, Service, Tool, Toolset
from ..word import Word
from .jsonvalues import NoJsonError, json_value


@dataclass(frozen=True, slots=True)
class Argument:
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


def _is_said(value: object) -> bool:
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


_NAME = Argument("a string", is_text, vital=True)
_TEXT = Argument("a string", is_text, instead="?")
_LABEL = Argument("a string", is_text, instead="")
_OPTIONAL_TEXT = Argument("a string", _optional(is_text))
FLAG = Argument("True or False", lambda value: isinstance(value, bool), instead=False)
_LIST = Argument("a tuple or a list", lambda value: isinstance(value, (tuple, list)), instead=())
_JSON = Argument("JSON", _is_json_object, instead={})
_MAPPING = Argument("a mapping", lambda value: isinstance(value, Mapping), instead={})
_HINTS = Argument(
    "True or False for each",
    lambda value: isinstance(value, dict) and all(isinstance(hint, bool) for hint in value.values()),
    instead={},
)
_SCHEMA = Argument(
    "a path or a JSON Schema",
    lambda value: isinstance(value, (str, PurePath, bool)) or _is_json_object(value),
    vital=True,
)
_SENTENCE = Argument("a text that says something", _is_said, vital=True)
_WHEN = Argument(
    "a mapping of attributes to values",
    lambda value: isinstance(value, Mapping) and all(map(is_text, value)),
    instead={},
)
_RENAME = Argument("a mapping of names to names", _is_mapping_of_text, instead={})

ARGUMENTS: Final[dict[type[Word], dict[str, Argument]]] = {
    Design: {"name": Argument("a string", is_text, instead="design"), "description": _TEXT},
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
    OneOf: {"tag": _NAME},
    StringWord: {},
    IntWord: {},
    FloatWord: {},
    ScalarWord: {},
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
    Timeout: {"limit": Argument('a string such as "30s"', is_text, vital=True)},
    Sequential: {},
    Terminal: {},
    Bookkeeping: {},
    Needs: {},
    Instructions: {"text": _SENTENCE},
    ResultReminder: {"text": _SENTENCE},
    CallHint: {"template": _SENTENCE},
    ResultHint: {"template": _SENTENCE},
    NativeTool: {"provider": _NAME, "kind": _NAME, "config": _JSON},
}
TYPES: Final[dict[type[Word], str]] = {
    Attribute: "type",
    Artifact: "type",
    ArrayOf: "items",
    Nullable: "inner",
}
"""The argument that is a type."""

OPTIONAL_TYPES: Final[dict[type[Word], tuple[str, ...]]] = {
    Confirm: ("payload",),
    LongRunning: ("ack", "progress"),
}
"""Arguments that may be types."""

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
CHILDREN: Final[dict[type[Word], tuple[type[Word], ...]]] = {
    Design: (Service, Type, Enum),
    Service: (Method, Toolset),
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
NAMING = (Required, Inject, Tags, Needs)
"""Words that are a list of names."""

SHAREABLE = (Attribute, Required, Payload, Result, *_CLAUSES)
"""What is often written once and used in several places."""

NAMED = (Design, Service, Method, Toolset, Tool, Type, Attribute, Artifact)
OBJECTS: Final[dict[type[Word], tuple[str, str]]] = {Tool: ("Args", "Return"), Method: ("Payload", "Result")}
