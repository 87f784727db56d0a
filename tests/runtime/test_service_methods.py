"""Services behind bound executors: what they lack is said at registration, before the first call."""

from __future__ import annotations

from typing import Any

import pytest

from gen.assistant.toolsets import account
from gen.assistant.toolsets.account import BoundAccountExecutor
from toolgen.runtime import RegistrationError, Runtime


class Nothing:
    """A service without a method."""


def executor(service: Any) -> Any:
    return BoundAccountExecutor(user_service=service)


@pytest.mark.parametrize(
    ("service", "problem"),
    [
        (Nothing(), "user_service=Nothing(…) has no method 'get_user', which bound tools call; add it"),
        (Nothing, "user_service is the class Nothing; give an instance"),
    ],
)
def test_a_service_without_the_methods_is_refused(service: Any, problem: str) -> None:
    runtime = Runtime()
    with pytest.raises(RegistrationError) as refused:
        runtime.tools.register(account.registration(executor(service)))
    assert problem in str(refused.value)
    assert not runtime.tools.list()
