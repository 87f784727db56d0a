"""Records: the data that every call makes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeVar, dataclass_transform

T = TypeVar("T")

_SAME: Final = object()


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
def record(cls: type[T]) -> type[T]:
    """Make a slotted, keyword-only dataclass that type checkers treat as frozen.

    At run time it is plain: a frozen dataclass of ten fields costs 1.3 µs to make, this one 0.4 µs,
    and a call makes three. Everything that is not made per call is a frozen dataclass.
    """
    return dataclass(slots=True, kw_only=True, unsafe_hash=True)(cls)


if TYPE_CHECKING:
    from dataclasses import replace

    changed = replace
else:

    def changed(record, /, **changes):
        """Return a copy of a record with other values, as `dataclasses.replace`, which takes 3.2 µs for 0.5.

        The record is of a class without a `__post_init__`.
        """
        return _copier(record.__class__)(record, **changes)


@cache
def _copier(cls: type[T]) -> Callable[..., T]:
    """Return the function that copies records of a class, compiled as `dataclasses` compiles `__init__`."""
    names = [each.name for each in fields(cls)]  # type: ignore[arg-type]  # a dataclass
    lines = [
        f"def copy(_record, /, *, {', '.join(f'{name}=_same' for name in names)}):",
        " _copy = _new(_class)",
        *(f" _copy.{name} = _record.{name} if {name} is _same else {name}" for name in names),
        " return _copy",
    ]
    scope: dict[str, Any] = {"_new": object.__new__, "_class": cls, "_same": _SAME}
    exec("\n".join(lines), scope)
    copy: Callable[..., T] = scope["copy"]
    return copy
