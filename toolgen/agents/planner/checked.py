"""Checks that an object can plan, before it is asked to."""

from __future__ import annotations

import inspect

from toolgen.calls.errors import RegistrationError
from toolgen.calls.steps.methods import takes, takes_sync_context
from toolgen.contract.executor_problems import place_of


def check_planner(user: str, planner: object) -> None:
    """Raise where a planner is a class, or lacks a method of `Planner`; `user` is what it plans for.

    Raises:
        RegistrationError: as said, with the place of the class or of the method.
    """
    if isinstance(planner, type):
        name = planner.__name__
        raise RegistrationError(
            f"the planner of {user} is the class {name}", hint=f"give an instance: {name}(…)"
        )
    for method in ("plan_start", "plan_resume"):
        function = getattr(planner, method, None)
        written, name = f"async def {method}(self, given)", f"{type(planner).__name__}.{method}"
        if not callable(function):
            raise RegistrationError(
                f"{place_of(planner)}the planner of {user}, of {type(planner).__name__}, has no method "
                f"{method}",
                hint=f"add `{written}`; a planner has plan_start and plan_resume",
            )
        if inspect.isasyncgenfunction(function):
            raise RegistrationError(
                f"{place_of(function)}{name}, of the planner of {user}, yields",
                hint="return one plan, such as FinalResponse(text=…)",
            )
        if inspect.ismethod(function) and takes_sync_context(function):
            raise RegistrationError(
                f"{place_of(function)}{name}, of the planner of {user}, is not asynchronous",
                hint=f"write `{written}`",
            )
        if not takes(function, 1):
            raise RegistrationError(
                f"{place_of(function)}{name}, of the planner of {user}, cannot be called with one argument",
                hint=f"write `{written}`",
            )
