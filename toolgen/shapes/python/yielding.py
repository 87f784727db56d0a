"""Functions that yield: the yielded values are reported as progress, and the result is determined."""

from __future__ import annotations

import inspect
import types
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Generator,
    Iterable,
    Iterator,
)
from typing import Any, Final, Never, NoReturn, Protocol, get_args, get_origin

from toolgen.contract.record import frozen_record

from ..fields import MISSING

_ASYNC: Final = (AsyncGenerator, AsyncIterator, AsyncIterable)
_SYNC: Final = (Generator, Iterator)
_NOTHING: Final = (None, type(None), Never, NoReturn)


class ProgressReporter(Protocol):
    """Reports progress, like `ToolContext.progress`; an exception from it ends the function that yielded."""

    def __call__(self, fraction: float | None = None, message: str = "", value: Any = None) -> None: ...


@frozen_record
class Yielding:
    """The yielded and returned types of a generator."""

    result: Any
    """Type of the result: the returned type, or a list of the yielded type."""
    is_returned: bool | None
    """Whether the result is the returned value, and all yielded values are only progress.

    None if no annotation decides it: then the returned value is the result unless it is None.
    """
    is_async: bool


def yielding_of(function: Callable[..., object], annotation: Any) -> Yielding | None:
    """Return the yielded types of a function, from its kind and the annotation of its result, or `MISSING`.

    None if it yields nothing. A function that returns an iterator counts as one that yields.
    """
    written = inspect.unwrap(function)
    is_async = inspect.isasyncgenfunction(written)
    kind = get_origin(annotation) or annotation
    is_generator = is_async or inspect.isgeneratorfunction(written)
    if not is_generator and kind not in (*_ASYNC, *_SYNC):
        return None
    is_async = is_async or kind in _ASYNC
    parts = get_args(annotation)
    if kind is Generator and len(parts) == 3 and parts[2] not in _NOTHING:
        return Yielding(result=parts[2], is_returned=True, is_async=is_async)
    if parts and kind in (*_ASYNC, *_SYNC, Iterable):
        return Yielding(result=types.GenericAlias(list, (parts[0],)), is_returned=False, is_async=is_async)
    result = annotation if annotation is not MISSING and kind not in (*_ASYNC, *_SYNC, Iterable) else Any
    return Yielding(result=result, is_returned=None, is_async=is_async)


def with_progress(function: Callable[..., object], yielding: Yielding) -> Callable[..., object]:
    """Return a function that takes a `ProgressReporter` first and iterates over the result of `function`.

    It is asynchronous if the function is, or if it returns an asynchronous iterator.
    """

    def run(report: ProgressReporter, /, *args: Any, **named: Any) -> Any:
        return _drained(function(*args, **named), yielding, report)

    async def run_async(report: ProgressReporter, /, *args: object, **named: object) -> object:
        returned = function(*args, **named)
        if inspect.isawaitable(returned):
            returned = await returned
        if not isinstance(returned, AsyncIterator):
            return _drained(returned, yielding, report)
        items: list[Any] = []
        try:
            async for item in returned:
                _take(item, items, yielding, report)
        finally:
            if close := getattr(returned, "aclose", None):
                await close()
        return _result(None, items, yielding)

    return run_async if yielding.is_async or inspect.iscoroutinefunction(function) else run


def _drained(returned: object, yielding: Yielding, report: ProgressReporter) -> object:
    """Return the result of an iterator; any other value is returned unchanged."""
    if not isinstance(returned, Iterator):
        return returned
    items: list[Any] = []
    try:
        while True:
            try:
                item = next(returned)
            except StopIteration as end:
                return _result(end.value, items, yielding)
            _take(item, items, yielding, report)
    finally:
        if close := getattr(returned, "close", None):
            close()


def _take(item: object, items: list[object], yielding: Yielding, report: ProgressReporter) -> None:
    if not yielding.is_returned:
        items.append(item)
    if isinstance(item, str):
        report(message=item)
    elif yielding.is_returned and isinstance(item, float) and 0 <= item <= 1:
        report(item)
    else:
        report(value=item)


def _result(returned: object, items: list[object], yielding: Yielding) -> object:
    is_returned = yielding.is_returned or (yielding.is_returned is None and returned is not None)
    return returned if is_returned else items
