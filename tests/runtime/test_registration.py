"""What does not fit is said when a toolset is registered, not when it is called."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from gen.assistant.agents import chat
from gen.assistant.toolsets import devices
from toolgen.calls.specs import NativeTool
from toolgen.engines import InProcessEngine
from toolgen.runtime import (
    CallMeta,
    ConfirmSpec,
    RegistrationError,
    Runtime,
    ToolCall,
    ToolsetRegistration,
    UnknownToolError,
    in_thread,
)
from toolgen.runtime.functions import LongRunningSpec
from toolgen.runtime.testing import RecordingExecutor
from toolgen.waiting import WaitOptions


def registration(executor: object, **changes: Any) -> ToolsetRegistration:
    made = ToolsetRegistration(name="assistant.devices", specs=devices.SPECS, executor=executor)
    return dataclasses.replace(made, **changes)


def test_everything_wrong_with_an_executor_comes_at_once() -> None:
    class Half:
        list_devices = "not a method"

        async def set_state(self, payload: object, ctx: object) -> None: ...

    runtime = Runtime()
    with pytest.raises(RegistrationError) as caught:
        runtime.tools.register(registration(Half()))
    assert "Half.list_devices is missing; add it: `async def list_devices(self, pay" in str(caught.value)
    assert "Half.get_time_series is missing" in str(caught.value)
    assert runtime.tools.list() == ()


def test_a_class_in_the_place_of_an_executor_is_refused() -> None:
    with pytest.raises(
        RegistrationError, match=r"Executor is a class, not an instance; pass .*: RecordingExecutor\(…\)"
    ):
        Runtime().tools.register(registration(RecordingExecutor))


@pytest.mark.parametrize(
    ("executor", "problem"),
    [
        (None, "the executor is None; pass an object with a method for each tool"),
        (
            registration(RecordingExecutor({})),
            "the executor is a ToolsetRegistration; pass the executor",
        ),
    ],
)
def test_what_is_no_executor_is_refused_once(executor: Any, problem: str) -> None:
    with pytest.raises(RegistrationError) as caught:
        Runtime().tools.register(registration(executor))
    assert str(caught.value).count(problem) == 1


def test_an_executor_in_the_place_of_its_registration_is_refused() -> None:
    executor: Any = RecordingExecutor({})
    with pytest.raises(
        RegistrationError, match=r"Executor is not a toolset registration\n.*registration\(exec"
    ):
        Runtime().tools.register(executor)


def test_a_toolset_is_registered_once() -> None:
    runtime = Runtime()
    runtime.tools.register(registration(RecordingExecutor({})))
    with pytest.raises(RegistrationError, match=r"'assistant\.devices' is registered already"):
        runtime.tools.register(registration(RecordingExecutor({})))


def test_a_tool_is_served_by_one_toolset() -> None:
    runtime = Runtime()
    runtime.tools.register(registration(RecordingExecutor({})))
    with pytest.raises(RegistrationError, match=r"'other' has .*, which .*'assistant\.devices' has already"):
        runtime.tools.register(registration(RecordingExecutor({}), name="other"))


class Region:
    fills = frozenset({"region"})

    def __init__(self, value: str | None) -> None:
        self._value = value

    async def intercept(self, call: ToolCall, payload: Any) -> None:
        if self._value is not None:
            payload.__dict__["region"] = self._value + call.meta.session_id


def with_region() -> ToolsetRegistration:
    spec = dataclasses.replace(devices.LIST_DEVICES, injected=("session_id", "region"))
    return registration(RecordingExecutor({}), specs=[spec])


def test_missing_methods_and_unfilled_fields_come_at_once() -> None:
    with pytest.raises(RegistrationError) as caught:
        Runtime().tools.register(dataclasses.replace(with_region(), executor=object()))
    assert "object.list_devices is missing" in str(caught.value)
    assert "no interceptor fills the injected field 'region'" in str(caught.value)


def test_an_injected_field_that_nobody_fills_names_the_fix() -> None:
    with pytest.raises(
        RegistrationError, match=r"'region' of 'list_devices'.*fills=frozenset\(\{'region'\}\)"
    ):
        Runtime().tools.register(with_region())


class Careless:
    fills = frozenset({"region"})

    def intercept(self, call: ToolCall, payload: Any) -> None: ...


class Named:
    fills = frozenset({"region"})

    async def inject(self, call: ToolCall, payload: Any) -> None: ...


class Meddling(Region):
    fills = frozenset({"session_id"})


class Spelled(Region):
    fills: Any = "region"


@pytest.mark.parametrize(
    ("interceptor", "reason"),
    [
        (Region, "is a class"),
        (Careless(), "Careless.intercept is not asynchronous"),
        (Named(), "Named.intercept is missing"),
        (Meddling("x"), "contains session_id, which the runtime fills"),
        (Spelled("x"), "fills is 'region', not a frozenset"),
    ],
)
def test_an_interceptor_that_cannot_work_is_refused(interceptor: Any, reason: str) -> None:
    with pytest.raises(RegistrationError, match=reason):
        Runtime(interceptors=[interceptor])


async def test_an_interceptor_fills_what_no_call_fact_fills() -> None:
    runtime = Runtime(interceptors=[Region("north")])
    runtime.tools.register(with_region())
    result = await runtime.call("list_devices", b'{"site_id": "s"}', CallMeta(session_id="-1"))
    assert "has no answer for" in str(result.error)  # it was executed

    silent = Runtime(interceptors=[Region(None)])
    silent.tools.register(with_region())
    result = await silent.call("list_devices", b'{"site_id": "s"}', CallMeta(session_id="-1"))
    assert result.error is not None
    assert result.error.correlation_id is not None  # the server's mistake, and in its log


def test_introspection_finds_a_tool_by_id_and_by_name() -> None:
    runtime = Runtime()
    runtime.tools.register(registration(RecordingExecutor({})))
    assert runtime.tools.spec("list_devices") is runtime.tools.spec("assistant.devices.list_devices")
    schema = runtime.tools.schema("list_devices")
    assert "session_id" not in schema["payload"]["properties"]
    assert list(schema["result"]["properties"])[-4:] == ["returned", "truncated", "total", "refinement_hint"]
    with pytest.raises(UnknownToolError, match="similar names: list_devices"):
        runtime.tools.spec("list_device")
    assert runtime.tools.spec(devices.LIST_DEVICES) is runtime.tools.spec("list_devices")
    assert runtime.tools.schema(devices.LIST_DEVICES) == schema
    with pytest.raises(TypeError, match="its wire name or its ToolSpec, got int"):
        runtime.tools.spec(1)  # type: ignore[arg-type]  # neither a name nor a spec


def test_specs_are_keys() -> None:
    named = {spec: spec.name for spec in devices.SPECS}
    assert named[devices.LIST_DEVICES] == "list_devices"
    assert named[dataclasses.replace(devices.LIST_DEVICES)] == "list_devices"
    parts = [part for spec in devices.SPECS for part in (*spec.artifacts.values(), *spec.errors.values())]
    asking = ConfirmSpec(hint="Sure?", when={"mode": ("hard",)})
    native = NativeTool(id="a.b.search", provider="openai", kind="search", config={"size": "low"})
    assert len({*parts, asking, native, LongRunningSpec(), chat.AGENT}) == len(parts) + 4


async def test_a_name_that_two_tools_have_is_not_guessed() -> None:
    runtime = Runtime()
    runtime.tools.register(registration(RecordingExecutor({})))
    twin = dataclasses.replace(devices.LIST_DEVICES, id="other.devices.list_devices")
    runtime.tools.register(registration(RecordingExecutor({}), name="other.devices", specs=[twin]))
    result = await runtime.call("list_devices", b"{}", CallMeta())
    assert b"assistant.devices.list_devices, other.devices.list_devices" in result.json


async def test_a_synchronous_service_runs_in_a_thread() -> None:
    class Clock:
        def add(self, a: int, *, b: int) -> int:
            return a + b

        async def later(self) -> str:
            return "now"

    assert await in_thread(Clock()).add(1, b=2) == 3
    assert await in_thread(Clock()).later() == "now"


@pytest.mark.parametrize(
    ("engine", "told"),
    [
        (
            "runs.db",
            "engine= is 'runs.db', not an engine\n  hint: write Runtime(engine=InProcessEngine('runs.db'))",
        ),
        (Path("runs.db"), "hint: write Runtime(engine=InProcessEngine('runs.db'))"),
        (
            InProcessEngine,
            "engine= is InProcessEngine, not an engine\n  hint: pass an instance: InProcessEngine(…)",
        ),
        (3, 'engine= is 3, not an engine\n  hint: write Runtime(engine=InProcessEngine("runs.db"))'),
    ],
)
def test_something_else_in_the_place_of_an_engine_is_refused(engine: Any, told: str) -> None:
    with pytest.raises(RegistrationError) as caught:
        Runtime(engine=engine)
    assert told in str(caught.value)


class Keys:
    """An interceptor."""

    fills = frozenset({"key"})

    async def intercept(self, call: ToolCall, payload: Any) -> None: ...


@pytest.mark.parametrize("option", ["interceptors", "hooks", "capabilities"])
def test_one_value_in_the_place_of_a_list_is_refused(option: str) -> None:
    options: dict[str, Any] = {option: Keys()}
    with pytest.raises(RegistrationError) as caught:
        Runtime(**options)
    assert str(caught.value) == f"{option}= is Keys, not a list\n  hint: pass a list: {option}=[Keys(…)]"


def confirmed() -> ToolsetRegistration:
    spec = dataclasses.replace(devices.SPECS[0], confirm=ConfirmSpec(hint="Really?"))
    return dataclasses.replace(registration(RecordingExecutor({})), specs=[spec])


def test_a_tool_that_nobody_is_asked_about_is_said_at_once(caplog: pytest.LogCaptureFixture) -> None:
    Runtime().tools.register(confirmed())
    (line,) = caplog.messages
    assert line.startswith("list_devices: needs approval, but this runtime has no engine")
    assert 'Runtime(engine=InProcessEngine("runs.db"))' in line


def test_a_tool_whose_result_cannot_come_later_is_said_at_once(caplog: pytest.LogCaptureFixture) -> None:
    spec = dataclasses.replace(devices.SPECS[0], long_running=LongRunningSpec())
    later = dataclasses.replace(registration(RecordingExecutor({})), specs=[spec])
    Runtime(engine=InProcessEngine()).tools.register(later)
    assert caplog.messages == []
    Runtime().tools.register(later)
    (line,) = caplog.messages
    assert line.startswith("list_devices: is long-running, but this runtime has no engine")


def test_a_runtime_that_asks_nobody_is_not_warned(caplog: pytest.LogCaptureFixture) -> None:
    Runtime(waiting=WaitOptions(is_interactive=False)).tools.register(confirmed())
    Runtime(engine=InProcessEngine()).tools.register(confirmed())
    assert caplog.messages == []
