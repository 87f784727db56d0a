"""Toolsets that say for each request which tools they have, and what was advertised is what is called."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from gen.assistant.toolsets import devices
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.calls.specs import NativeTool
from toolgen.events.hub import Events
from toolgen.runtime import (
    BoundTool,
    CallMeta,
    ReadonlyContext,
    RegistrationError,
    Runtime,
    Snapshot,
    SnapshotError,
    StaticToolset,
    ToolCall,
    ToolsetRegistration,
)
from toolgen.runtime.functions import Deprecation, LongRunningSpec
from toolgen.runtime.testing import RecordingExecutor
from toolgen.runtime.views import allow_tools, filter_toolset, prefixed, with_confirmation


def greet(name: str) -> str:
    """Greet somebody."""
    return f"Hello {name}"


def zip_up(path: str) -> str:
    """Pack a file."""
    return path


async def delete(path: str) -> str:
    """Delete a file."""
    return f"gone: {path}"


FILES = [func_tool(one, toolset="host.files") for one in (zip_up, delete)]
PEOPLE = [func_tool(greet, toolset="host.people")]


class Changing:
    """Lists what it is given, or raises it, and notes when it is opened and closed."""

    def __init__(self, name: str, found: Sequence[BoundTool] | BaseException, notes: list[str] | None = None):
        self.name = name
        self.found: Any = found
        self.notes: list[str] = [] if notes is None else notes
        self.contexts: list[ReadonlyContext] = []

    async def tools(self, context: ReadonlyContext) -> Sequence[BoundTool]:
        self.contexts.append(context)
        if isinstance(self.found, BaseException):
            raise self.found
        return self.found  # type: ignore[no-any-return]  # what the test gave


def home() -> ToolsetRegistration:
    executor: Any = RecordingExecutor({})
    return devices.registration(executor)


def names(snapshot: Snapshot) -> list[str]:
    return [spec.name for spec in snapshot.specs]


def session(session_id: str) -> ReadonlyContext:
    return ReadonlyContext(meta=CallMeta(session_id=session_id))


async def test_static_toolsets_come_first_and_dynamic_ones_by_wire_name() -> None:
    runtime = Runtime()
    runtime.tools.add_toolset(Changing("host.files", FILES))
    runtime.tools.register(home())
    runtime.tools.add_toolset(Changing("host.people", PEOPLE))
    snapshot = await runtime.tools.snapshot()
    assert names(snapshot) == ["list_devices", "get_time_series", "set_state", "delete", "zip_up", "greet"]
    assert runtime.tools.toolsets() == ("assistant.devices", "host.files", "host.people")
    assert snapshot.declarations()[3] == {
        "name": "delete",
        "description": "Delete a file.",
        "parameters": FILES[1].spec.payload.schema,
    }


async def test_a_call_is_dispatched_against_the_list_that_was_advertised() -> None:
    toolset = Changing("host.files", FILES)
    runtime = Runtime()
    runtime.tools.add_toolset(toolset)
    before = await runtime.tools.snapshot()
    toolset.found = FILES[:1]
    after = await runtime.tools.snapshot(previous=before)
    assert (await before.call("delete", {"path": "a"})).result == "gone: a"
    vanished = await after.call("delete", {"path": "a"})
    assert vanished.json == b'{"error":"the tool \'delete\' is no longer available"}'
    assert vanished.retry_hint is not None
    assert vanished.retry_hint.reason == "tool_unavailable"
    results = await after.call_all(
        [
            ToolCall(tool="host.files.zip_up", payload_json=b'{"path": "b"}'),
            ToolCall(tool="nothing", payload_json=b"{}"),
        ]
    )
    assert [result.status for result in results] == ["ok", "error"]


async def test_a_tool_that_was_not_advertised_is_unknown_though_it_is_there() -> None:
    runtime = Runtime()
    runtime.tools.register(home())
    runtime.tools.add_toolset(allow_tools(Changing("host.files", FILES), "zip_up"))
    snapshot = await runtime.tools.snapshot()
    hidden = await snapshot.call("delete", {"path": "a"})
    assert b"there is no tool 'delete'" in hidden.json
    assert b"there is no tool" in (await runtime.call("zip_up", {"path": "a"})).json


async def test_tools_appear_for_the_session_that_may_have_them() -> None:
    def may(spec: object, context: ReadonlyContext) -> bool:
        return context.state.get("user") == "mira"

    runtime = Runtime()
    runtime.tools.add_toolset(filter_toolset(Changing("host.files", FILES), may))
    assert names(await runtime.tools.snapshot()) == []
    assert names(await runtime.tools.snapshot(ReadonlyContext(state={"user": "mira"}))) == [
        "delete",
        "zip_up",
    ]


def test_the_state_of_a_context_cannot_be_changed() -> None:
    context = ReadonlyContext(state={"user": "mira"})
    with pytest.raises(TypeError):
        context.state["user"] = "jonas"  # type: ignore[index]  # what is tested


async def test_names_that_no_tool_has_are_an_error_when_tools_are_listed() -> None:
    runtime = Runtime()
    runtime.tools.add_toolset(allow_tools(Changing("host.files", FILES), "zip_up", "delte"))
    with pytest.raises(SnapshotError, match=r"'host\.files' has no tool 'delte'\n  hint: its tools are"):
        await runtime.tools.snapshot()


async def test_a_prefix_changes_the_wire_name_and_not_the_id() -> None:
    runtime = Runtime()
    runtime.tools.add_toolset(prefixed(home(), "home_"))
    [first, *_] = (await runtime.tools.snapshot()).specs
    assert (first.name, first.id) == ("home_get_time_series", "assistant.devices.get_time_series")


@pytest.mark.parametrize("prefix", ["home ", "h" * 60])
async def test_a_wire_name_that_no_provider_takes_is_an_error(prefix: str) -> None:
    runtime = Runtime()
    runtime.tools.add_toolset(prefixed(Changing("host.people", PEOPLE), prefix))
    with pytest.raises(SnapshotError, match="a wire name must have 1 to 64 letters"):
        await runtime.tools.snapshot()


async def test_two_tools_of_one_wire_name_are_an_error_that_names_both() -> None:
    runtime = Runtime()
    runtime.tools.add_toolset(Changing("host.people", PEOPLE), on_error="drop")
    other = replace(PEOPLE[0], spec=replace(PEOPLE[0].spec, id="host.robots.greet"))
    runtime.tools.add_toolset(Changing("host.robots", [other]), on_error="drop")
    with pytest.raises(SnapshotError, match=r"wire name 'greet'.*'host\.people'.*'host\.robots'"):
        await runtime.tools.snapshot()


async def test_confirmation_is_added_to_the_tools_that_are_named() -> None:
    runtime = Runtime()
    runtime.tools.add_toolset(
        with_confirmation(Changing("host.files", FILES), hint="Delete {path}?", tools=["delete"])
    )
    snapshot = await runtime.tools.snapshot()
    [deletes, zips] = snapshot.specs
    assert deletes.confirm is not None
    assert deletes.confirm.hint == "Delete {path}?"
    assert zips.confirm is None
    assert (await snapshot.call("delete", {"path": "a"})).status == "denied"


async def test_a_toolset_that_cannot_list_fails_the_request() -> None:
    runtime = Runtime()
    runtime.tools.add_toolset(Changing("host.files", OSError("no network")))
    with pytest.raises(SnapshotError, match=r"'host\.files' cannot list its tools: OSError: no network"):
        await runtime.tools.snapshot()


@pytest.mark.parametrize("found", [None, ["delete"], {"a": 1}])
async def test_a_list_of_anything_else_fails_the_request(found: Any) -> None:
    runtime = Runtime()
    runtime.tools.add_toolset(Changing("host.files", found))
    with pytest.raises(SnapshotError, match=r"toolset 'host\.files' (listed|lists) a"):
        await runtime.tools.snapshot()


@pytest.mark.asyncio(loop_factories=["virtual"])
async def test_a_toolset_that_hangs_fails_the_request() -> None:
    class Hanging(Changing):
        async def tools(self, context: ReadonlyContext) -> Sequence[BoundTool]:
            await asyncio.Event().wait()
            raise AssertionError

    runtime = Runtime()
    runtime.tools.add_toolset(Hanging("host.files", []), timeout=60)
    with pytest.raises(SnapshotError, match="it timed out"):
        await runtime.tools.snapshot()


async def test_a_toolset_that_is_dropped_is_reported_and_the_model_is_told() -> None:
    runtime = Runtime()
    runtime.tools.add_toolset(Changing("host.files", OSError("secret host")), on_error="drop")
    runtime.tools.add_toolset(Changing("host.people", PEOPLE))
    snapshot = await runtime.tools.snapshot()
    assert names(snapshot) == ["greet"]
    assert [*snapshot.dropped] == ["host.files"]
    assert snapshot.failures == {"host.files": "OSError: secret host"}
    assert snapshot.instructions == "The tools of host.files are not available now."


async def test_a_toolset_that_is_dropped_is_told_to_those_who_watch() -> None:
    """In words without what its exception says."""
    events = Events()
    runtime = Runtime(events=events)
    for name, error in (("host.files", OSError("secret host")), ("host.old", SnapshotError("it has moved"))):
        runtime.tools.add_toolset(Changing(name, error), on_error="drop")
    runtime.tools.add_toolset(Changing("host.people", PEOPLE), on_error="drop")
    told = events.subscribe()
    await runtime.tools.snapshot(ReadonlyContext(meta=CallMeta(session_id="mira", run_id="r")))
    events.close()
    seen = [event async for event in told]
    assert [(event.type, event.session_id, event.run_id) for event in seen] == [
        ("toolset_dropped", "mira", "r"),
        ("toolset_dropped", "mira", "r"),
    ]
    assert [(event.toolset, event.reason) for event in seen if event.type == "toolset_dropped"] == [
        ("host.files", "it cannot list its tools (OSError)"),
        ("host.old", "it has moved"),
    ]


async def test_a_stale_list_serves_the_session_that_got_it_and_no_other() -> None:
    toolset = Changing("host.files", FILES)
    runtime = Runtime()
    runtime.tools.add_toolset(toolset, on_error="stale")
    await runtime.tools.snapshot(session("mira"))
    toolset.found = OSError("no network")
    stale = await runtime.tools.snapshot(session("mira"))
    assert names(stale) == ["delete", "zip_up"]
    assert (stale.dropped, [*stale.failures]) == ({}, ["host.files"])
    with pytest.raises(SnapshotError):
        await runtime.tools.snapshot(session("jonas"))


async def test_instructions_stand_in_the_order_of_the_tools() -> None:
    told = [replace(one, spec=replace(one.spec, instructions=f"On {one.spec.name}.")) for one in FILES]
    toolset = function_toolset("host.files", told, instructions="Paths are relative.")
    runtime = Runtime()
    runtime.tools.add_toolset(prefixed(toolset, "my_"))
    snapshot = await runtime.tools.snapshot()
    assert snapshot.instructions == "Paths are relative.\n\nOn delete.\n\nOn zip_up."
    assert (await runtime.tools.snapshot()).instructions == snapshot.instructions


async def test_the_model_is_told_not_to_call_again_what_still_works() -> None:
    long = LongRunningSpec()
    told = [
        replace(one, spec=replace(one.spec, long_running=long, instructions=instructions))
        for one, instructions in zip(FILES, ("Zips a file.", ""), strict=True)
    ]
    runtime = Runtime()
    runtime.tools.add_toolset(prefixed(function_toolset("host.files", told), "my_"))
    snapshot = await runtime.tools.snapshot()
    assert snapshot.instructions.split("\n\n") == [
        "my_delete can return before its work is done. Do not call it again for the same work; "
        "the result arrives later by itself.",
        "Zips a file. my_zip_up can return before its work is done. Do not call it again for the same work; "
        "the result arrives later by itself.",
    ]
    assert [tool["description"] for tool in snapshot.declarations()] == ["Delete a file.", "Pack a file."]


async def test_a_model_reads_that_a_tool_is_deprecated() -> None:
    gone = Deprecation(reason="It is slow", replacement="host.tools.greet")
    runtime = Runtime()
    runtime.tools.add_toolset(function_toolset("host.files", [func_tool(delete, deprecated=gone)]))
    (alone,) = (await runtime.tools.snapshot()).declarations()
    assert alone["description"] == "Delete a file. Deprecated: It is slow."  # nothing is there to use instead
    runtime.tools.add_toolset(prefixed(function_toolset("host.tools", [greet]), "my_"))
    told = (await runtime.tools.snapshot()).declarations()
    assert told[0]["description"] == "Delete a file. Deprecated: use my_greet."


async def test_native_tools_are_there_as_data() -> None:
    search = NativeTool(id="host.web.search", provider="acme", kind="web_search", config={"most": 3})
    runtime = Runtime()
    runtime.tools.add_toolset(prefixed(StaticToolset(name="host.web", bound=(), native=(search,)), "my_"))
    assert (await runtime.tools.snapshot()).native == (search,)


async def test_functions_are_registered_as_a_toolset_like_any_other() -> None:
    runtime = Runtime()
    runtime.tools.register(function_toolset("host.tools", [greet, delete]))
    assert (await runtime.call("greet", {"name": "Ann"})).result == "Hello Ann"
    assert runtime.tools.spec("delete").id == "host.tools.delete"


def test_toolsets_have_different_names_and_the_methods_of_one() -> None:
    runtime = Runtime()
    runtime.tools.register(home())
    with pytest.raises(RegistrationError, match="is registered already"):
        runtime.tools.add_toolset(Changing("assistant.devices", []))
    runtime.tools.add_toolset(Changing("host.files", FILES))
    with pytest.raises(RegistrationError, match="is registered already"):
        runtime.tools.register(function_toolset("host.files", []))
    with pytest.raises(RegistrationError, match="Changing is not a toolset"):
        runtime.tools.add_toolset(Changing)  # type: ignore[arg-type]  # what is tested
