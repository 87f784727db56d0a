"""The arguments of each clause, read from the annotations of its class: Python types, types, children.

This module has the facts that an annotation cannot express: the words for each annotation, the replacement of
a wrong value, and the order in which messages list the clauses that contain others.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY
from functools import cache, reduce
from operator import or_
from pathlib import PurePath
from types import NoneType, UnionType
from typing import Final, Literal, Union, get_args, get_origin, get_type_hints

from toolgen.contract.record import frozen_record
from toolgen.contract.transport import Status

from ...agents import Agent, Completion, History
from ...behaviour import Confirm
from ...behaviour import Value as ComparedValue
from ...clause import Clause, Sentence, Span
from ...composites import Object, SchemaSource, Type
from ...datatypes import DataType
from ...http import HTTP, Body, Response, Server
from ...security import OAuth2Security, Security
from ...services import Design, Service
from ...structure import Args, Attributes, Method, Payload, Result, Return, Tool, Toolset
from ..types.jsonvalues import NoJsonError, json_value


@frozen_record(kw_only=False)
class ArgumentType:
    """The Python type of one argument; `instead` replaces a wrong value."""

    wanted: str
    accepts: Callable[[object], bool]
    instead: object = None
    vital: bool = False
    """Whether the clause cannot be used without the argument."""


@frozen_record
class ClauseArguments:
    """The types of all arguments of a clause, by name, in the order of the annotations."""

    values: Mapping[str, ArgumentType]
    types: Mapping[str, bool]
    """Arguments that are types of a design, and whether each can be None."""
    type_maps: tuple[str, ...]
    """Arguments that contain types by name."""
    clauses: Mapping[str, tuple[tuple[type[Clause], ...], bool]]
    """Arguments that are other clauses: the allowed classes, and whether the argument can be None."""
    has_names: bool
    """Whether the arguments are a list of names."""
    children: tuple[type[Clause], ...] | None
    """The allowed child clauses; `DataType` for all types, also by name. None if it has no children."""


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


def _is_mapping_of_text(value: object) -> bool:
    return isinstance(value, Mapping) and all(is_text(key) and is_text(value[key]) for key in value)


def _is_json_object(value: object) -> bool:
    try:
        return isinstance(json_value(value), dict)
    except NoJsonError:
        return False


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**_DIGITS


def _is_list_of_text(value: object) -> bool:
    return isinstance(value, (tuple, list)) and all(map(is_text, value))


def _is_confirmation(value: object) -> bool:
    if isinstance(value, Mapping):
        return all(is_text(name) and isinstance(value[name], Confirm) for name in value)
    return isinstance(value, bool) or _is_list_of_text(value)


_DIGITS: Final = 9
"""Maximum number of digits of a count; Python cannot even print the longest ones."""
FLAG_WANTED: Final = "True or False"
NAMES_WANTED: Final = "a tuple or a list of names"


class _Json:
    """Replaces `Json` in annotations: that alias is recursive, so that no two of its values are equal."""


_ACCEPTED: Final[Mapping[object, tuple[str, Callable[[object], bool]]]] = {
    str: ("a string", is_text),
    Sentence: ("a string that is not blank", _is_nonblank_text),
    Span: ('a string such as "30s"', is_text),
    bool: (FLAG_WANTED, lambda value: isinstance(value, bool)),
    int: (f"a whole number of up to {_DIGITS} digits", _is_count),
    tuple: ("a tuple or a list", lambda value: isinstance(value, (tuple, list))),
    Status: ('a status such as 404 or "4XX"', lambda value: isinstance(value, str) or _is_count(value)),
    Sequence[str]: (NAMES_WANTED, _is_list_of_text),
    Mapping[str, object]: ("a mapping", lambda value: isinstance(value, Mapping)),
    Mapping[str, str]: ("a mapping from names to names", _is_mapping_of_text),
    Mapping[str, _Json]: ("JSON", _is_json_object),
    dict[str, _Json]: ("JSON", _is_json_object),
    dict[str, bool]: (
        "True or False for each",
        lambda value: isinstance(value, dict) and all(isinstance(each, bool) for each in value.values()),
    ),
    Mapping[str, ComparedValue | tuple[ComparedValue, ...]]: (
        "a mapping from attributes to values",
        lambda value: isinstance(value, Mapping) and all(map(is_text, value)),
    ),
    bool | Sequence[str] | Mapping[str, Confirm]: (
        "True, names of tools, or a Confirm for each",
        _is_confirmation,
    ),
    SchemaSource: (
        "a path or a JSON Schema",
        lambda value: isinstance(value, (str, PurePath, bool)) or _is_json_object(value),
    ),
}
"""The words for the accepted values of an argument and the check of a value, by annotation."""

_UNCHECKED: Final = (object, dict[str, object])
"""Values that are checked later, when the type that they belong to is known."""

_EMPTY: Final[Mapping[object, object]] = {tuple: (), Sequence: (), dict: {}, Mapping: {}}
"""Replacement for a wrong list or mapping, by its class."""

_INSTEAD: Final[Mapping[tuple[type[Clause], str], object]] = {
    (Design, "name"): "design",
    (History, "keep_turns"): 1,
    (Server, "url"): "https://example.org",
    (Response, "status"): "default",
    (Clause, "description"): "?",
}
"""Replacement for a wrong argument without a default, if the clause can be used without it."""

HOLDERS: Final = (
    Design, Service, Server, Security, OAuth2Security, Agent, Completion, Method, Toolset, Tool, Args, Return,
    Payload, Result, HTTP, Response, Body, Type, Object,
)  # fmt: skip
"""The clauses that messages suggest as parents, the outermost first."""


def clause_class(clause: Clause) -> type[Clause] | None:
    """Return the class of the design language for a clause, also for an author's subclass."""
    return _language_class(type(clause))  # type: ignore[arg-type]  # as below


@cache
def _language_class(written: type[Clause]) -> type[Clause] | None:
    language = Design.__module__.rpartition(".")[0] + "."
    return next(
        (
            kind
            for kind in written.__mro__
            if kind.__module__.startswith(language) and kind not in (Clause, DataType, Attributes)
        ),
        None,
    )


def arguments_of(kind: type[Clause]) -> ClauseArguments:
    """Return the argument types of a clause's class; each class is read once."""
    return _derive(kind)  # type: ignore[arg-type]  # mypy takes the `__hash__` of the instances


@cache
def _derive(kind: type[Clause]) -> ClauseArguments:
    values: dict[str, ArgumentType] = {}
    types: dict[str, bool] = {}
    type_maps: list[str] = []
    clauses: dict[str, tuple[tuple[type[Clause], ...], bool]] = {}
    hints = _annotations(kind)
    for name, hint in hints.items():
        clause_classes = _clauses_in(hint)
        if name in ("names", "children") or hint in _UNCHECKED:
            continue
        if clause_classes and all(issubclass(each, DataType) for each in clause_classes):
            types[name] = NoneType in _members(hint)
        elif clause_classes:
            clauses[name] = (clause_classes, NoneType in _members(hint))
        elif get_origin(hint) is dict and _clauses_in(get_args(hint)[1]):
            type_maps.append(name)
        else:
            values[name] = _argument_type(kind, name, hint)
    return ClauseArguments(
        values=values,
        types=types,
        type_maps=tuple(type_maps),
        clauses=clauses,
        has_names="names" in hints,
        children=_children(get_args(hints["children"])[0]) if "children" in hints else None,
    )


def parents_of(kind: type[Clause]) -> tuple[type[Clause], ...]:
    """Return the clauses that can contain a clause, the outermost first."""
    return tuple(parent for parent in HOLDERS if kind in (arguments_of(parent).children or ()))


@cache
def shareable_clauses() -> tuple[type[Clause], ...]:
    """Return the clauses that are often written once and used several times."""
    return tuple(each for kind in (Object, Method, Tool) for each in arguments_of(kind).children or ())


def _annotations(kind: type[Clause]) -> dict[str, object]:
    """Return the annotations of a class by name, without `Final`; annotations of a base class come first."""
    hints = get_type_hints(kind, localns={"Json": _Json}, include_extras=True)
    return {
        name: get_args(hint)[0] if get_origin(hint) is Final else hint
        for name, hint in hints.items()
        if name not in Clause.__annotations__ and hint is not KW_ONLY
    }


def _members(hint: object) -> tuple[object, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _clauses_in(hint: object) -> tuple[type[Clause], ...]:
    """Return the clauses in an annotation, in its order, each once."""
    classes = dict.fromkeys(get_origin(each) or each for each in _members(hint))
    return tuple(each for each in classes if isinstance(each, type) and issubclass(each, Clause))


def _children(item: object) -> tuple[type[Clause], ...]:
    """Return the clauses that can be children; if a type can be given by name, any type can be a child."""
    clause_classes = _clauses_in(item)
    if str not in _members(item):
        return clause_classes
    return tuple(dict.fromkeys(DataType if issubclass(each, DataType) else each for each in clause_classes))


def _argument_type(kind: type[Clause], name: str, hint: object) -> ArgumentType:
    """Return the type of a plain value.

    Raises:
        KeyError: the annotation has no check.
    """
    if NoneType in _members(hint):
        present: list[object] = [each for each in _members(hint) if each is not NoneType]
        wanted, accepts = _check_of(reduce(or_, present))
        return ArgumentType(wanted, lambda value: value is None or accepts(value))
    wanted, accepts = _check_of(hint)
    for instead in (_EMPTY.get(get_origin(hint)), _INSTEAD.get((kind, name)), _INSTEAD.get((Clause, name))):
        if instead is not None:
            return ArgumentType(wanted, accepts, instead)
    default = inspect.signature(kind).parameters[name].default
    return (
        ArgumentType(wanted, accepts, default)
        if accepts(default)
        else ArgumentType(wanted, accepts, vital=True)
    )


def _check_of(hint: object) -> tuple[str, Callable[[object], bool]]:
    """Return the text for an annotation, and the check of a value."""
    if get_origin(hint) is Literal:
        choices = get_args(hint)
        return " or ".join(map(repr, choices)), lambda value: isinstance(value, str) and value in choices
    return _ACCEPTED[tuple if get_origin(hint) is tuple else hint]


def class_name(clause: type[Clause]) -> str:
    """Return the name of a clause's class as authors write it."""
    return "a type" if clause is DataType else clause.__name__.removesuffix("Clause")
