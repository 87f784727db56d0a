"""Records: dataclasses whose methods are compiled when they are first used.

`dataclasses` compiles up to six methods with each class, in 0.3 ms. A command creates 200 classes and uses a
third of them, so only the fields and slots of a record are created at once. Its methods behave like the
methods of `dataclasses`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields, is_dataclass
from functools import partial
from reprlib import recursive_repr
from types import MemberDescriptorType
from typing import Any, Final, TypeVar, dataclass_transform, overload

T = TypeVar("T")

_UNHASHABLE: Final = re.compile(r"\b(Mapping|dict|list|Json|Schema)\b|^Any\b")
"""Field types whose values might not be hashable."""


class _FromFactory:
    def __repr__(self) -> str:
        return "<factory>"


_FROM_FACTORY: Final = _FromFactory()
"""Marker in signatures, as in `dataclasses`, but without an address, which differs in each process."""


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
def record(cls: type[T]) -> type[T]:
    """Make a slotted, keyword-only dataclass that type checkers treat as frozen.

    At run time it is not frozen: a frozen record of ten fields takes 0.7 µs to create, and this one 0.4 µs.
    Use `frozen_record` for objects that are created neither per call nor per attribute of a design.
    """
    return _record(cls, kw_only=True, is_frozen=False)


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
def sparse_record(cls: type[T]) -> type[T]:
    """Make a record without slots, whose defaults are class attributes: only other values are set."""
    return _record(cls, kw_only=True, is_frozen=False, has_slots=False)


@overload
def frozen_record(cls: type[T], /) -> type[T]: ...
@overload
def frozen_record(
    *, kw_only: bool = True, eq: bool = True, slots: bool = True
) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
def frozen_record(
    cls: type[T] | None = None, /, *, kw_only: bool = True, eq: bool = True, slots: bool = True
) -> object:
    """Make a frozen, slotted, keyword-only dataclass; without `eq`, each instance only equals itself."""
    make = partial(_record, kw_only=kw_only, is_frozen=True, has_slots=slots, is_compared=eq)
    return make if cls is None else make(cls)


def _record(
    cls: type[T], *, kw_only: bool, is_frozen: bool, has_slots: bool = True, is_compared: bool = True
) -> type[T]:
    cls.__doc__ = cls.__doc__ or cls.__name__  # avoids the signature of `dataclasses`, which is as slow
    # `dataclass` compiles two methods for a frozen class, and requires `frozen` only if it extends one.
    extends = any(map(is_dataclass, cls.__bases__))
    record_class = dataclass(
        slots=has_slots, kw_only=kw_only, frozen=is_frozen and extends, init=False, repr=False, eq=False
    )(cls)
    methods = {"__init__": _LazyMethod(record_class, partial(_init, is_frozen=is_frozen)), "__repr__": _shown}
    if is_compared:
        methods |= {"__eq__": _LazyMethod(record_class, _eq), "__hash__": _LazyMethod(record_class, _hash)}
    if is_frozen:
        vars(record_class)["__dataclass_params__"].frozen = True  # so that a frozen record can extend it
        methods |= _FROZEN
    for name, method in methods.items():
        if name not in vars(cls):
            setattr(record_class, name, method)
    return record_class


class _LazyMethod:
    """A method of a class that is compiled at its first lookup, and then replaces itself."""

    def __init__(self, cls: type, compiled: Callable[[type], Any]) -> None:
        self._cls = cls
        self._compiled = compiled

    def __get__(self, record: Any, cls: type | None = None) -> Any:
        method = self._compiled(self._cls)
        setattr(self._cls, method.__name__, method)
        return method.__get__(record, cls)


def _function(cls: type, head: str, body: list[str], **values: Any) -> object:
    """Return a compiled function for a class, with the names of its module and additional values."""
    name = head.partition("(")[0]
    lines = [f"def _make({', '.join(values)}):", f" def {head}:", *(f"  {line}" for line in body)]
    namespace: dict[str, Any] = {}
    exec("\n".join([*lines, f" return {name}"]), vars(sys.modules[cls.__module__]), namespace)
    function = namespace["_make"](**values)
    function.__qualname__ = f"{cls.__qualname__}.{name}"
    return function


def _init(cls: Any, *, is_frozen: bool) -> object:
    values: dict[str, Any] = {"_from_factory": _FROM_FACTORY}
    ordered: list[str] = []
    named: list[str] = []
    body: list[str] = []
    for each in fields(cls):
        name, value = each.name, each.name
        if each.default is not MISSING:
            values[f"_default_{name}"] = each.default
            parameter, value = f"{name}=_default_{name}", name if each.init else f"_default_{name}"
        elif each.default_factory is not MISSING:
            values[f"_factory_{name}"] = each.default_factory
            parameter, value = f"{name}=_from_factory", f"_factory_{name}()"
            if each.init:
                value += f" if {name} is _from_factory else {name}"
        elif each.init:
            parameter = name
        else:
            continue  # `__post_init__` sets it
        if each.init:
            (named if each.kw_only else ordered).append(parameter)
        if is_frozen and _is_slot(cls, name):
            values[f"_set_{name}"] = getattr(cls, name).__set__  # faster than `object.__setattr__`
            body.append(f"_set_{name}(self, {value})")
        elif is_frozen:
            body.append(f"self.__dict__[{name!r}] = {value}")
        else:
            body.append(f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    parameters = ", ".join(["self", *ordered, *(["*", *named] if named else [])])
    init = _function(cls, f"__init__({parameters})", body or ["pass"], **values)
    init.__annotations__ = {each.name: each.type for each in fields(cls) if each.init} | {"return": None}
    return init


def _is_slot(cls: type, name: str) -> bool:
    return isinstance(getattr(cls, name, None), MemberDescriptorType)


def _eq(cls: type) -> object:
    left, right = (f"({''.join(f'{of}.{name}, ' for name in _compared(cls))})" for of in ("self", "other"))
    body = [f"return {left} == {right} if other.__class__ is self.__class__ else NotImplemented"]
    return _function(cls, "__eq__(self, other)", body)


def _hash(cls: Any) -> object:
    """Return a hash function over the compared fields, without fields that might not be hashable."""
    hashed = [each for each in fields(cls) if each.compare and not _UNHASHABLE.search(str(each.type))]
    values = "".join(f"self.{each.name}, " for each in hashed)
    return _function(cls, "__hash__(self)", [f"return hash(({values}))"])


def _compared(cls: Any) -> list[str]:
    return [each.name for each in fields(cls) if each.compare]


@recursive_repr("...")
def _shown(record: Any) -> str:
    values = [f"{each.name}={getattr(record, each.name)!r}" for each in fields(record) if each.repr]
    return f"{record.__class__.__qualname__}({', '.join(values)})"


def _refuse_assignment(_record: object, name: str, _value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deletion(_record: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(record: Any) -> list[object]:
    return [getattr(record, each.name) for each in fields(record)]


def _set_state(record: Any, state: list[Any]) -> None:
    for each, value in zip(fields(record), state, strict=True):
        object.__setattr__(record, each.name, value)


_FROZEN: Final = {
    "__setattr__": _refuse_assignment,
    "__delattr__": _refuse_deletion,
    "__getstate__": _state,
    "__setstate__": _set_state,
}


def copied(record: T) -> T:
    """Return a copy of a sparse record, in a third of the time of `replace`."""
    copy = object.__new__(record.__class__)
    copy.__dict__ = record.__dict__.copy()
    return copy
