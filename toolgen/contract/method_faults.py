"""Finds the author's method behind an exception: a stub, or a service method that violates its protocol.

This module is imported only after a call has failed.
"""

from __future__ import annotations

from collections.abc import Iterator
from inspect import getattr_static
from types import CodeType, FrameType
from typing import Any

from .errors import HINT
from .logs import MethodFault


def unimplemented(tool: str, method: str, error: BaseException) -> MethodFault | None:
    """Return the method that raised `NotImplementedError`, if it is of the tool or of a bound service."""
    frames = list(_frames(error))
    if not isinstance(error, NotImplementedError) or not frames:
        return None
    of = frames[-2].f_locals.get("self") if len(frames) > 1 else None
    code, services = frames[-1].f_code, _service_methods(of)
    if code.co_name != method and not any(code.co_name in names for names in services.values()):
        return None
    return MethodFault.of(code, tool, "is not implemented")


def service_fault(tool: str, error: BaseException) -> MethodFault | None:
    """Return the method of a bound service that violated its protocol, if this caused the error.

    The method either returned a value of another class than its result class, or cannot be called as the
    protocol requires. The exception is then raised in the generated code between tool and service, in a file
    that the author did not write.
    """
    frames = list(_frames(error))
    for executor, inner in zip(frames, (*frames[1:], None), strict=False):
        method = _called_method(executor)
        if method is None:
            continue
        name, code = method
        if inner is None and isinstance(error, TypeError):
            hint = f"write `async def {name}(self, payload)`"
            return MethodFault.of(code, tool, f"does not fit its protocol: {error}{HINT}{hint}")
        if inner is None or "result" not in executor.f_locals:
            continue
        module, expected = _expected_class(inner)
        result = executor.f_locals["result"]
        if expected and expected not in [each.__name__ for each in type(result).__mro__]:
            kind = "None" if result is None else type(result).__name__
            problem = f"returned a malformed result: expected {expected}, got {kind}"
            return MethodFault.of(code, tool, f"{problem}{HINT}return a {expected} of {module}")
    return None


def _frames(error: BaseException) -> Iterator[FrameType]:
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame
        trace = trace.tb_next


def _service_methods(executor: object) -> dict[str, tuple[str, ...]]:
    """Return the methods that a generated executor calls, by service.

    Only the class of the executor is inspected: a frame can contain any object, even one that has, or
    refuses, every attribute.
    """
    methods: dict[str, tuple[str, ...]] = getattr_static(type(executor), "_service_methods", {})
    return methods


def _called_method(executor: FrameType) -> tuple[str, CodeType] | None:
    """Return name and code of the service method that a method of a generated executor calls."""
    self: Any = executor.f_locals.get("self")
    used = executor.f_code.co_names
    for service, methods in _service_methods(self).items():
        if f"_{service}" in used:
            name = next((name for name in methods if name in used), "")
            code: object = getattr(getattr(getattr(self, f"_{service}"), name, None), "__code__", None)
            if type(code) is CodeType:  # a mock has another type
                return name, code
    return None


def _expected_class(transform: FrameType) -> tuple[str, str]:
    """Return module and name of the class that a generated transform takes, from its annotation."""
    function = transform.f_globals.get(transform.f_code.co_name)
    annotation: object = getattr(function, "__annotations__", {}).get("result", "")
    alias, _, name = annotation.rpartition(".") if isinstance(annotation, str) else ("", "", "")
    return getattr(transform.f_globals.get(alias), "__name__", alias), name
