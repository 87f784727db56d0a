"""Problems of an executor or a service that a host passes: the location, the cause, and the code to write.

A runtime imports this module only if there is a problem.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Collection
from inspect import getattr_static
from types import CodeType
from typing import Final

_CAPABILITIES: Final = {
    "state": "StateCapability(…)",
    "artifacts": "ArtifactsCapability(…)",
    "memory": "MemoryCapability(…)",
}
"""Expressions that construct toolgen's capabilities, by name."""
_CLOSE: Final = 0.81
"""Minimum `difflib` similarity for a name to count as misspelled."""


def place_of(defined: object) -> str:
    """Return the location of a class or function as `file:line: `; for an object, of its class.

    Empty if Python does not know it.
    """
    code: object = getattr(defined, "__code__", None)
    if type(code) is CodeType:  # a mock has another type
        return f"{code.co_filename}:{code.co_firstlineno}: "
    class_ = defined if isinstance(defined, type) else type(defined)
    try:
        return f"{inspect.getsourcefile(class_)}:{inspect.findsource(class_)[1] + 1}: "
    except (OSError, TypeError, SyntaxError, ValueError):  # builtin, without a file, or being edited
        return ""


def missing_method(name: str, executor: object, method: str, methods: Collection[str]) -> str:
    """Return the problem of an executor without a tool's method; `methods` are those of all its tools."""
    kind = type(executor).__name__
    if executor is None:
        return "the executor is None; pass an object with a method for each tool"
    if kind == "ToolsetRegistration":
        return "the executor is a ToolsetRegistration; pass the executor that `registration` was called with"
    own = [each for each in dir(type(executor)) if not each.startswith("_") and each not in methods]
    if near := difflib.get_close_matches(method, own, n=1):
        defined = getattr_static(type(executor), near[0])
        return f"{place_of(defined)}{name} is missing; did you mean {near[0]!r}? rename it to {method!r}"
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


def close_capability(name: str) -> str:
    """Return the toolgen capability whose name is similar to this one; "" if there is none."""
    near = difflib.get_close_matches(name, _CAPABILITIES, n=1, cutoff=_CLOSE)
    return near[0] if near and near[0] != name else ""


def missing_capability(tool: str, name: str) -> str:
    """Return the problem of a tool whose capability the Runtime does not have."""
    fix = f"pass it to the runtime: Runtime(capabilities=[{_CAPABILITIES.get(name, '…')}])"
    if meant := close_capability(name):
        fix = f"did you mean Needs({meant!r}) in the design?"
    return f"{tool!r} needs the capability {name!r}; {fix}"
