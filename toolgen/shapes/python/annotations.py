"""Annotations as pydantic can read them on every supported Python.

Before Python 3.12, a `typing.TypedDict` does not know which class declares a key, so pydantic requires the
one from `typing_extensions`, which it installs. Authors' code need not follow that rule.
"""

from __future__ import annotations

import functools
import operator
import sys
import types
import typing
from typing import Annotated, Any, Final, Literal, NotRequired, Required, get_args, get_origin

from pydantic import Field
from pydantic.fields import FieldInfo
from typing_extensions import TypedDict

_IS_NEEDED: Final = sys.version_info < (3, 12)
_MARKS: Final = (Required, NotRequired)
_NO_TEXTS: Final = {"title": None, "description": None}
_NO_FACTS: Final = Field().asdict()["attributes"]


def readable(annotation: object) -> Any:
    """Return the annotation with every `typing.TypedDict` in it replaced by an equal one."""
    return _readable(annotation, {}) if _IS_NEEDED else annotation


def without_texts(annotation: object) -> object:
    """Return the annotation without texts for readers, which change neither values nor errors."""
    if get_origin(annotation) is not Annotated:
        return annotation
    inner, *facts = get_args(annotation)
    binding: list[object] = []
    for fact in facts:
        own = fact.asdict() if isinstance(fact, FieldInfo) else None
        has_texts_alone = own is not None and {**own["attributes"], **_NO_TEXTS} == _NO_FACTS
        binding += own["metadata"] if own is not None and has_texts_alone else [fact]
    return Annotated[(inner, *binding)] if binding else inner


def _readable(annotation: Any, copies: dict[object, object]) -> Any:
    if typing.is_typeddict(annotation):
        return copies[annotation] if annotation in copies else _typed_dict(annotation, copies)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is None or origin is Literal or not arguments:
        return annotation
    if origin is Annotated:
        return Annotated[(_readable(arguments[0], copies), *arguments[1:])]
    changed = tuple(
        [_readable(part, copies) for part in argument]
        if isinstance(argument, list)
        else _readable(argument, copies)
        for argument in arguments
    )
    if changed == arguments:
        return annotation
    if origin in (typing.Union, types.UnionType):
        return functools.reduce(operator.or_, changed)
    if isinstance(annotation, types.GenericAlias):
        return types.GenericAlias(origin, changed)
    return annotation.copy_with(changed) if hasattr(annotation, "copy_with") else annotation


def _typed_dict(class_: Any, copies: dict[object, object]) -> object:
    if type(class_).__module__ != "typing":
        return class_
    copy: Any = TypedDict(class_.__name__, {})  # type: ignore[misc]  # the name is known at run time
    copies[class_] = copy  # before its fields, which can refer to it
    required = set(class_.__required_keys__)
    for key, hint in typing.get_type_hints(class_, include_extras=True).items():
        if get_origin(hint) in _MARKS:
            (required.add if get_origin(hint) is Required else required.discard)(key)
            hint = get_args(hint)[0]
        copy.__annotations__[key] = _readable(hint, copies)
    copy.__required_keys__ = frozenset(required)
    copy.__optional_keys__ = frozenset(copy.__annotations__) - required
    copy.__doc__, copy.__module__ = class_.__doc__, class_.__module__
    return copy
