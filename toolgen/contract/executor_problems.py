"""What is wrong with an executor or a service that a host gives: the place, the cause, what to write.

It is loaded where something is wrong.
"""

from __future__ import annotations

import inspect
from types import CodeType


def place_of(defined: object) -> str:
    """Return where a class or function is defined, as `file:line: `; of an object, where its class is.

    Empty where Python does not know it.
    """
    code: object = getattr(defined, "__code__", None)
    if type(code) is CodeType:  # that of a mock only says that it is one
        return f"{code.co_filename}:{code.co_firstlineno}: "
    class_ = defined if isinstance(defined, type) else type(defined)
    try:
        return f"{inspect.getsourcefile(class_)}:{inspect.findsource(class_)[1] + 1}: "
    except (OSError, TypeError, SyntaxError, ValueError):  # of Python itself, without a file, or being edited
        return ""


def missing_method(name: str, executor: object, method: str) -> str:
    """Return the problem of an executor without the method of a tool."""
    kind = type(executor).__name__
    if executor is None:
        return "the executor is None; give an object with a method for each tool"
    if kind == "ToolsetRegistration":
        return "the executor is a ToolsetRegistration; give what `registration` was called with"
    return f"{place_of(executor)}{name} is missing; add it: `async def {method}(self, payload, ctx)`"


def wrong_parameters(name: str, function: object, parameters: str) -> str:
    """Return the problem of a method that cannot be called with its arguments."""
    method = name.rpartition(".")[2]
    return (
        f"{place_of(function)}{name} cannot be called with ({parameters}); "
        f"write `async def {method}(self, {parameters})`"
    )


def missing_service_method(parameter: str, service: object, method: str) -> str:
    """Return the problem of a service without a method that bound tools call."""
    return (
        f"{place_of(service)}{parameter}={type(service).__name__}(…) has no method {method!r}, which bound "
        f"tools call; add it: `async def {method}(self, payload)`"
    )
