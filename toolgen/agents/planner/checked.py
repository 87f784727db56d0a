"""Checks that an object is a planner before it is called."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from toolgen.calls.errors import RegistrationError
from toolgen.calls.steps.methods import takes, takes_sync_context


def check_planner(user: str, planner: object) -> None:
    """Raise if a planner is a class or lacks a method of `Planner`; `user` names what it plans for.

    Raises:
        RegistrationError: the planner is invalid; the message has the source location of the class or method.
    """
    if isinstance(planner, type):
        name = planner.__name__
        raise RegistrationError(
            f"the planner of {user}, {name}, is a class, not an instance",
            hint=f"pass an instance: {name}(…)",
        )
    for method in ("plan_start", "plan_resume"):
        function = getattr(planner, method, None)
        written, name = f"async def {method}(self, given)", f"{type(planner).__name__}.{method}"
        if not callable(function):
            from toolgen.contract.executor_problems import place_of  # not needed for most planners

            raise RegistrationError(
                f"{place_of(planner)}the planner of {user}, of {type(planner).__name__}, has no method "
                f"{method}",
                hint=f"add `{written}`; a planner has plan_start and plan_resume",
            )
        if fault := _fault(function):
            from toolgen.contract.executor_problems import place_of

            wrong, hint = fault
            raise RegistrationError(
                f"{place_of(function)}{name}, of the planner of {user}, {wrong}",
                hint=hint or f"write `{written}`",
            )


def _fault(function: Callable[..., object]) -> tuple[str, str] | None:
    """Return what is wrong with a method, and a hint if its signature alone does not show the fix."""
    if inspect.isasyncgenfunction(function):
        return "yields", "return one plan, such as FinalResponse(text=…)"
    if inspect.ismethod(function) and takes_sync_context(function):
        return "is not asynchronous", ""
    return None if takes(function, 1) else ("cannot be called with one argument", "")
