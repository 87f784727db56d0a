"""The two forms of an executor's method: `async def` with a `ToolContext`, `def` with a `SyncToolContext`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from toolgen.contract.tasks import Work

if TYPE_CHECKING:
    from ..context import ToolContext
    from ..sync_context import Declared

P = TypeVar("P")
R = TypeVar("R")

_CONTEXTS: Final = {"ToolContext": "toolgen.calls.context", "SyncToolContext": "toolgen.calls.sync_context"}
"""The contexts and their modules; only synchronous methods need the second one."""


def tool_method(method: Callable[[Any, P, ToolContext], Work[R]]) -> Declared[P, R]:
    """Declare an executor's method, implemented as declared or by `def` with a `SyncToolContext`."""
    return method


def is_async(function: object) -> bool:
    """Return whether calls of the function return coroutines."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004  # an object whose calls are asynchronous
    )


def takes_sync_context(function: Callable[..., object]) -> bool:
    """Return whether the function receives a `SyncToolContext`; a wrapper of an asynchronous function does
    not."""
    return not is_async(function) and not is_async(inspect.unwrap(function))


def method_problem(name: str, function: Callable[..., object]) -> str:
    """Return the problem of an executor's method with its place; "" if there is none."""
    if not takes(function, 2):
        from toolgen.contract.executor_problems import wrong_parameters

        return wrong_parameters(name, function, "payload, ctx")
    if problem := context_problem(name, function):
        from toolgen.contract.executor_problems import place_of

        return f"{place_of(function)}{problem}"
    return ""


def takes(function: object, count: int) -> bool:
    """Return whether a function accepts this number of arguments; true if it is not a plain function."""
    inner: object = function.__func__ if type(function) is MethodType else function
    if type(inner) is not FunctionType or inner.__code__.co_flags & inspect.CO_VARARGS:
        return True
    most = inner.__code__.co_argcount - (inner is not function)
    least = most - len(inner.__defaults__ or ())
    return least <= count <= most and inner.__code__.co_kwonlyargcount == len(inner.__kwdefaults__ or ())


def context_problem(name: str, function: Callable[..., object]) -> str:
    """Return the problem with the context type in a method's annotation; "" if there is none.

    A method without an annotation gets the right context.
    """
    named = set(_contexts(function))
    if takes_sync_context(function) and named == {"ToolContext"}:
        return (
            f"{name} is synchronous, but ToolContext is asynchronous; write `ctx: SyncToolContext`, or "
            "`async def`"
        )
    if is_async(function) and named == {"SyncToolContext"}:
        return (
            f"{name} is asynchronous, but SyncToolContext is synchronous; write `ctx: ToolContext`, or `def`"
        )
    return ""


def _contexts(function: Callable[..., object]) -> Iterator[str]:
    """Yield the names of the context types in the annotations of the parameters."""
    routine: object = function if inspect.isroutine(function) else type(function).__call__
    for parameter, annotation in (getattr(routine, "__annotations__", None) or {}).items():
        if parameter == "return":
            continue
        if isinstance(annotation, str):
            text, names = annotation.strip("\"'"), getattr(routine, "__globals__", {})
            annotation = names.get(text) or text.rpartition(".")[2]
        if isinstance(annotation, type):
            is_own = _CONTEXTS.get(annotation.__name__) == annotation.__module__
            annotation = annotation.__name__ if is_own else None
        if annotation in ("ToolContext", "SyncToolContext"):
            yield annotation
