"""Checks the Python type of everything that was passed to a word, before anything reads it.

What comes out has the shape that the words' annotations promise: wrong children are left out, wrong
arguments are replaced, each after it was reported.
"""

from __future__ import annotations

import datetime as dt
import decimal
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from types import NoneType, UnionType
from typing import Any as Anything
from typing import Final, TypeVar, Union, get_args, get_origin

from toolgen.expr import codes
from toolgen.expr.source import Source

from ..attributes import Attribute, Required
from ..clauses import Annotations, Artifact, BindTo, BoundedResult, Example, Inject, Meta, Tags
from ..composites import ArrayOf, Enum, MapOf, Nullable, Object, OneOf, Type
from ..datatypes import DataType, FloatWord, IntWord, ScalarWord, StringWord
from ..foreign import JSONSchema
from ..structure import Args, Design, Method, Payload, Result, Return, Service, Tool, Toolset
from ..word import Word
from .jsonvalues import NoJsonError, json_value
from .report import Report, shown
from .spelling import spelled

BROKEN: Final = ScalarWord[Anything]("any")
"""Stands for a type that was reported; it fits everything, so that one cause gives one diagnostic."""

_DEEPEST: Final = 100
_W = TypeVar("_W", bound=Word)


@dataclass(frozen=True, slots=True)
class _Argument:
    """What one argument takes; `instead` stands where it got something else."""

    wanted: str
    accepts: Callable[[object], bool]
    instead: object = None
    vital: bool = False
    """Without it the word cannot be used at all."""


def _is_text(value: object) -> bool:
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _optional(argument: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: value is None or argument(value)


def _is_mapping_of_text(value: object) -> bool:
    return isinstance(value, Mapping) and all(_is_text(key) and _is_text(value[key]) for key in value)


def _is_json_object(value: object) -> bool:
    try:
        return isinstance(json_value(value), dict)
    except NoJsonError:
        return False


_NAME = _Argument("a string", _is_text, vital=True)
_TEXT = _Argument("a string", _is_text, instead="?")
_LABEL = _Argument("a string", _is_text, instead="")
_OPTIONAL_TEXT = _Argument("a string", _optional(_is_text))
_FLAG = _Argument("True or False", lambda value: isinstance(value, bool), instead=False)
_LIST = _Argument("a tuple or a list", lambda value: isinstance(value, (tuple, list)), instead=())
_JSON = _Argument("JSON", _is_json_object, instead={})
_MAPPING = _Argument("a mapping", lambda value: isinstance(value, Mapping), instead={})
_HINTS = _Argument(
    "True or False for each",
    lambda value: isinstance(value, dict) and all(isinstance(hint, bool) for hint in value.values()),
    instead={},
)
_SCHEMA = _Argument(
    "a path or a JSON Schema",
    lambda value: isinstance(value, (str, PurePath, bool)) or _is_json_object(value),
    vital=True,
)
_RENAME = _Argument("a mapping of names to names", _is_mapping_of_text, instead={})

_ARGUMENTS: Final[dict[type[Word], dict[str, _Argument]]] = {
    Design: {"name": _Argument("a string", _is_text, instead="design"), "description": _TEXT},
    Service: {"name": _NAME, "description": _TEXT},
    Method: {"name": _NAME, "description": _TEXT},
    Toolset: {"name": _NAME, "description": _TEXT, "title": _OPTIONAL_TEXT, "prefix": _LABEL},
    Tool: {"name": _NAME, "description": _TEXT, "title": _OPTIONAL_TEXT},
    Args: {"open": _FLAG},
    Return: {"open": _FLAG},
    Payload: {"open": _FLAG},
    Result: {"open": _FLAG},
    Type: {"name": _NAME, "description": _TEXT, "open": _FLAG},
    Enum: {"name": _NAME, "description": _TEXT, "values": _LIST},
    Attribute: {
        "name": _NAME,
        "description": _TEXT,
        "required": _FLAG,
        "title": _OPTIONAL_TEXT,
        "examples": _LIST,
        "deprecated": _FLAG,
    },
    Required: {},
    Object: {"open": _FLAG},
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
        "result": _Argument("a mapping", lambda value: value is None or isinstance(value, Mapping)),
    },
}
_TYPES: Final = {Attribute: "type", Artifact: "type", ArrayOf: "items", Nullable: "inner"}

_FIELDS = (Attribute, Required, DataType)
_CLAUSES = (Args, Return, BindTo, Inject, BoundedResult, Artifact, Tags, Meta, Annotations, Example)
CHILDREN: Final[dict[type[Word], tuple[type[Word], ...]]] = {
    Design: (Service, Type, Enum),
    Service: (Method, Toolset),
    Method: (Payload, Result),
    Toolset: (Tool, Tags, Meta),
    Tool: _CLAUSES,
    Args: _FIELDS,
    Return: _FIELDS,
    Payload: _FIELDS,
    Result: _FIELDS,
    Type: (Attribute, Required, Example),
    Object: (Attribute, Required),
}
_NAMING = (Required, Inject, Tags)
_SHAREABLE = (Attribute, Required, Payload, Result, *_CLAUSES)
"""What is often written once and used in several places."""

_NAMED = (Design, Service, Method, Toolset, Tool, Type, Attribute, Artifact)
_OBJECTS: Final[dict[type[Word], tuple[str, str]]] = {Tool: ("Args", "Return"), Method: ("Payload", "Result")}

_PYTHON_TYPES: Final[dict[object, str]] = {
    str: "String",
    int: "Int",
    float: "Float",
    bool: "Boolean",
    bytes: "Bytes",
    dt.date: "Date",
    dt.datetime: "DateTime",
    dt.timedelta: "Duration",
    uuid.UUID: "Uuid",
    decimal.Decimal: "Decimal",
    object: "Any",
    list: "ArrayOf(…)",
    tuple: "ArrayOf(…)",
    dict: "MapOf(String, …)",
}


def well_typed(design: Design, report: Report) -> Design:
    """Return the design without anything that its words do not take."""
    return _Check(report).word(design, design.source) or Design("?", "?")


class _Check:
    def __init__(self, report: Report) -> None:
        self._report = report
        self._done: dict[int, tuple[Word, Word | None]] = {}
        self._open: dict[int, Word] = {}

    def word(self, word: _W, place: Source) -> _W | None:
        """Return the word with everything in it checked; None when it cannot be used."""
        if id(word) not in self._done:
            source = getattr(word, "source", place)
            if id(word) in self._open or len(self._open) >= _DEEPEST:
                self._report.add(
                    codes.NESTED_TOO_DEEP,
                    source,
                    what=named(word),
                    fault=f"holds itself, or is nested deeper than {_DEEPEST}",
                    hint="give the inner type a name, and refer to it in quotes",
                )
                return None
            self._open[id(word)] = word
            self._done[id(word)] = (word, self._checked(word, source))
            del self._open[id(word)]
        checked: Anything = self._done[id(word)][1]
        return checked  # type: ignore[no-any-return]  # a copy has the class of its original

    def _checked(self, word: Word, source: Source) -> Word | None:
        kind = next((kind for kind in type(word).__mro__ if kind in _ARGUMENTS), None)
        if kind is None:
            self._report.add(
                codes.WRONG_ARGUMENT,
                source,
                argument="a child",
                word="the design",
                value=shown(word),
                wanted="a word of toolgen.dsl",
                hint="import the words from toolgen.dsl",
            )
            return None
        facts = dict(vars(word), source=source)
        usable = self._arguments(word, kind, facts, source)
        if kind in _TYPES:
            facts[_TYPES[kind]] = self._type(facts.get(_TYPES[kind]), f"the type of {named(word)}", source)
        elif kind is MapOf:
            facts["keys"] = self._type(facts.get("keys"), "the key type of MapOf", source)
            facts["values"] = self._type(facts.get("values"), "the value type of MapOf", source)
        elif kind is OneOf:
            branches = facts.get("branches")
            facts["branches"] = {
                name: self._type(branch, f"branch {name!r} of OneOf", source)
                for name, branch in (branches.items() if isinstance(branches, dict) else ())
            }
        elif kind in _NAMING:
            facts["names"] = self._names(facts.get("names"), word, source)
        if kind in CHILDREN:
            facts["children"] = self._children(facts.get("children"), word, kind, source)
        if not usable:
            return None
        copy = object.__new__(type(word))
        copy.__dict__.update(facts)
        return copy

    def _arguments(self, word: Word, kind: type[Word], facts: dict[str, object], source: Source) -> bool:
        """Replace every argument that is wrong; return whether the word can be used."""
        usable = True
        for name, argument in _ARGUMENTS[kind].items():
            value = facts.get(name)
            if not argument.accepts(value):
                facts[name] = argument.instead
                usable = usable and not argument.vital
                self._wrong(name, word, value, argument.wanted, source)
        return usable

    def _wrong(
        self, argument: str, word: Word, value: object, wanted: str, source: Source, hint: str = ""
    ) -> None:
        self._report.add(
            codes.WRONG_ARGUMENT,
            source,
            argument=argument,
            word=named(word),
            value=shown_word(value),
            wanted=wanted,
            hint=hint or _argument_hint(argument, value, wanted),
        )

    def _type(self, value: object, what: str, source: Source) -> object:
        if isinstance(value, DataType):
            return self.word(value, source) or BROKEN
        if _is_text(value):
            return value
        self._report.add(
            codes.WRONG_ARGUMENT,
            source,
            argument=what.partition(" of ")[0],
            word=what.partition(" of ")[2],
            value=shown_word(value),
            wanted="a type",
            hint=_type_hint(value),
        )
        return BROKEN

    def _names(self, names: object, word: Word, source: Source) -> tuple[str, ...]:
        given = names if isinstance(names, tuple) else (names,)
        for name in given:
            if not _is_text(name):
                self._wrong("a name", word, name, "a string", source, _star_hint(name))
        return tuple(name for name in given if isinstance(name, str) and _is_text(name))

    def _children(
        self, children: object, parent: Word, kind: type[Word], source: Source
    ) -> tuple[object, ...]:
        given = children if isinstance(children, tuple) else (children,)
        checked = (self._child(child, parent, kind, source) for child in given)
        return tuple(child for child in checked if child is not None)

    def _child(self, child: object, parent: Word, kind: type[Word], source: Source) -> object:
        if isinstance(child, str) and DataType in CHILDREN[kind]:
            return child
        if not isinstance(child, Word):
            *names, last = (_class_name(allowed) for allowed in CHILDREN[kind])
            self._wrong(
                "a child", parent, child, f"{', '.join(names)} or {last}", source, _child_hint(child, kind)
            )
            return None
        if not isinstance(child, CHILDREN[kind]):
            self._report.add(
                codes.MISPLACED_WORD,
                getattr(child, "source", source),
                child=named(child),
                parent=named(parent),
                hint=_where(child, kind),
            )
            return None
        if isinstance(child, _SHAREABLE):
            self._report.used(getattr(child, "source", source), self._owner(), source)
        return self.word(child, source)

    def _owner(self) -> str:
        """Return the innermost word with a name of those that are being checked."""
        return next(named(word) for word in reversed(self._open.values()) if isinstance(word, _NAMED))


def named(word: Word) -> str:
    """Return the word with the name that its author gave it: `Tool 'search'`."""
    name = getattr(word, "name", getattr(word, "kind", None))
    return f"{_class_name(type(word))} {shown(name)}" if isinstance(name, str) else spelled(word)


def shown_word(value: object) -> str:
    """Return a value of any kind as the author may have written it."""
    if isinstance(value, Word):
        return named(value)
    if isinstance(value, type):
        return f"the class {value.__name__}"
    return shown(value)


def _argument_hint(argument: str, value: object, wanted: str) -> str:
    if argument == "description" and isinstance(value, Word):
        return f"write a description before {named(value)}"
    if isinstance(name := getattr(value, "name", None), str) and isinstance(value, Word):
        return f"write its name, {shown(name)}"
    return f"write {argument}=True, or remove it" if wanted == _FLAG.wanted else f"write {wanted}"


def _star_hint(value: object) -> str:
    is_several = isinstance(value, (tuple, list, set, frozenset, Iterator))
    return "write a star before it: each of its items stands alone" if is_several else ""


def _child_hint(child: object, kind: type[Word]) -> str:
    if isinstance(child, type) and issubclass(child, Word):
        return f"write {child.__name__}(…)"
    if child is None:
        return "remove it; to leave something out by condition, write *([…] if … else [])"
    if isinstance(child, str) and "description" in _ARGUMENTS[kind]:
        return "remove it: the name and the description are the only texts"
    return _star_hint(child) or "remove it"


def _class_name(word: type[Word]) -> str:
    return "a type" if word is DataType else word.__name__.removesuffix("Word")


def _type_hint(value: object) -> str:
    if isinstance(value, type) and issubclass(value, Word):
        return f"write {value.__name__}(…)"
    if isinstance(value, (list, tuple)) and len(value) == 1 and isinstance(value[0], DataType):
        return f"write ArrayOf({spelled(value[0])})"
    if get_origin(value) in (Union, UnionType):
        inner = [each for each in get_args(value) if each is not NoneType]
        return f"{_type_hint(inner[0])}; an attribute without required=True may be absent"
    known = _word_for(value)
    return f"write {known}" if known else "write a type such as String, ArrayOf(String) or the name of a Type"


def _word_for(value: object) -> str | None:
    """Return the type of the language that stands for a type of Python."""
    inner = [_word_for(each) or "…" for each in get_args(value)]
    try:
        known = _PYTHON_TYPES.get(get_origin(value) or value)
    except TypeError:  # not hashable, so it is none of them
        return None
    return known.replace("…", inner[-1]) if known and inner else known


def _where(child: Word, parent: type[Word]) -> str:
    if isinstance(child, (Attribute, Required)) and parent in (Tool, Method):
        return f"write {' or '.join(f'{clause}({spelled(child)}(…))' for clause in _OBJECTS[parent])}"
    if isinstance(child, Toolset):
        return "list it in the service that owns it"
    if isinstance(child, DataType) and not isinstance(child, (Type, Enum)):
        return "a type is the second argument of an Attribute"
    if isinstance(child, Attribute):
        return "put it into Args, Return, Payload, Result, Type or Object"
    parents = [_class_name(parent) for parent, children in CHILDREN.items() if type(child) in children]
    return f"put it into {' or '.join(parents)}" if parents else "use it as the type of an Attribute"
