"""Tests of `tests/agents` that do not depend on what time it is."""

from inspect import iscoroutinefunction
from types import ModuleType

from tests.agents import (
    test_approvals,
    test_children,
    test_cut_calls,
    test_direct_call_ends,
    test_direct_calls,
    test_long_work,
)


def _of_real_time(module: ModuleType) -> dict[str, object]:
    """Return the tests of a module that need no virtual time."""
    return {
        name: value
        for name, value in vars(module).items()
        if name.startswith("test_")
        and iscoroutinefunction(value)
        and not any(mark.name == "asyncio" for mark in getattr(value, "pytestmark", ()))
    }


for _module in (
    test_approvals,
    test_children,
    test_cut_calls,
    test_direct_call_ends,
    test_direct_calls,
    test_long_work,
):
    globals().update(_of_real_time(_module))
