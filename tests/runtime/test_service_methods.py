"""Services behind bound executors: what they lack is said at registration, what they return wrongly later."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest

from gen.assistant.toolsets import account
from gen.assistant.toolsets.account import BoundAccountExecutor
from gen.user_service.service import GetUserResult
from toolgen.runtime import CallMeta, RegistrationError, Runtime


class Nothing:
    """A service without a method."""


LINE = Path(__file__).read_text("utf-8").splitlines().index("class Nothing:") + 1


def executor(service: Any) -> Any:
    return BoundAccountExecutor(user_service=service)


@pytest.mark.parametrize(
    ("service", "problem"),
    [
        (
            Nothing(),
            f"{__file__}:{LINE}: user_service=Nothing(…) has no method 'get_user', which bound tools call; "
            "add it: `async def get_user(self, payload)`",
        ),
        (Nothing, "user_service is a class, not an instance; pass an instance: Nothing(…)"),
    ],
)
def test_a_service_without_the_methods_is_refused(service: Any, problem: str) -> None:
    runtime = Runtime()
    with pytest.raises(RegistrationError) as refused:
        runtime.tools.register(account.registration(executor(service)))
    assert problem in str(refused.value)
    assert not runtime.tools.list()


class Returns:
    """A service that returns what it was given."""

    def __init__(self, value: Any) -> None:
        self.value = value

    async def get_user(self, payload: Any) -> Any:
        return self.value


class Waits(Returns):
    """A service that was written without `async`."""

    def get_user(self, payload: Any) -> Any:
        return self.value


class Alone(Returns):
    """A service whose method takes nothing."""

    async def get_user(self) -> Any:  # type: ignore[override]  # that is what is tested
        return self.value


@pytest.mark.parametrize(
    ("service", "problem", "hint"),
    [
        (
            Returns({}),
            "Returns.get_user returned a malformed result: expected GetUserResult, got dict",
            "return a GetUserResult of gen.user_service.service",
        ),
        (
            Returns(None),
            "Returns.get_user returned a malformed result: expected GetUserResult, got None",
            "return a GetUserResult of gen.user_service.service",
        ),
        (
            Waits({}),
            "Waits.get_user does not fit its protocol: object dict can't be used in 'await' expression",
            "write `async def get_user(self, payload)`",
        ),
        (
            Alone({}),
            "Alone.get_user does not fit its protocol: Alone.get_user() takes 1 positional argument but 2",
            "write `async def get_user(self, payload)`",
        ),
    ],
)
async def test_a_service_that_breaks_its_protocol_is_named_with_its_place(
    service: Any, problem: str, hint: str, caplog: pytest.LogCaptureFixture
) -> None:
    runtime = Runtime()
    runtime.tools.register(account.registration(executor(service)))
    meta = CallMeta(session_id="s")
    result = await runtime.call("get_user_data", json.dumps({"include": ["sites"]}), meta)
    assert result.status == "error"
    assert "internal error" in result.json.decode()
    line = caplog.messages[-1]
    code = type(service).get_user.__code__
    assert line.startswith(f"{__file__}:{code.co_firstlineno}: {problem}")
    assert line.endswith(f"; hint: {hint}")


class Library:
    """An object of a library, which answers for every attribute."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(f"there is no {name}")

    def fail(self) -> None:
        raise ValueError("down")


class Failing:
    """A service that uses a library which fails."""

    async def get_user(self, payload: Any) -> Any:
        Library().fail()


@pytest.mark.parametrize(
    "service",
    [
        Failing(),
        Mock(**{"get_user.side_effect": ValueError("down")}),
        Mock(get_user=AsyncMock(side_effect=ValueError("down"))),
        AsyncMock(**{"get_user.side_effect": NotImplementedError("down")}),
        Mock(get_user=AsyncMock(return_value=5)),
    ],
    ids=["library", "mock", "with", "async", "other"],
)
async def test_objects_with_any_attribute_are_no_error_of_a_failed_call(
    service: Any, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    runtime = Runtime()
    runtime.tools.register(account.registration(executor(service)))
    result = await runtime.call("get_user_data", {"include": ["sites"]}, CallMeta(session_id="s"))
    assert result.error is not None
    assert "internal error" in str(result.error)
    assert str(result.error.correlation_id) in caplog.messages[-1]
    assert "Logging error" not in capfd.readouterr().err


async def test_a_value_of_a_subclass_is_not_named_as_one_of_another_class(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Half(GetUserResult):
        """A result that lacks what the tool returns."""

    runtime = Runtime()
    runtime.tools.register(account.registration(executor(Returns(Half.model_construct()))))
    await runtime.call("get_user_data", {"include": ["sites"]}, CallMeta(session_id="s"))
    assert caplog.messages[-1].startswith("tool assistant.account.get_user_data failed")
