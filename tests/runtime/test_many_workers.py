"""An engine with many workers, and what it refuses of a host."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.many_workers import SECRET, ManyWorkers
from tests.runtime.tools import META, SITE, Listing, runtime, spec, waiting
from toolgen.adapters.postgres import Postgres, PostgresArtifactStore, PostgresStateStore
from toolgen.calls.errors import RegistrationError
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.capabilities import (
    ArtifactsCapability,
    Capability,
    DisabledTools,
    FileArtifactStore,
    MemoryArtifactStore,
    MemoryStateStore,
    SqliteArtifactStore,
    SqliteStateStore,
    StateCapability,
)
from toolgen.engines import InProcessEngine
from toolgen.runtime import ConfirmSpec, Runtime, ToolCall, ToolOutcome
from toolgen.runtime.functions import LongRunningSpec


def shared() -> Runtime:
    return Runtime(engine=ManyWorkers(), secret=SECRET)


def test_all_that_cannot_be_shared_is_named_at_once() -> None:
    with pytest.raises(RegistrationError) as raised:
        Runtime(
            engine=ManyWorkers(),
            capabilities=[StateCapability(MemoryStateStore()), ArtifactsCapability(MemoryArtifactStore())],
            disabled=DisabledTools(MemoryStateStore()),
        )
    assert raised.value.message.splitlines() == [
        "the engine 'in-process' has many workers, which must share all data:",
        "  StateCapability has a MemoryStateStore; use PostgresStateStore(database)",
        "  ArtifactsCapability has a MemoryArtifactStore; use PostgresArtifactStore(database)",
        "  DisabledTools has a MemoryStateStore; use PostgresStateStore(database)",
        "  secret= is missing; pass the same secret in all processes: Runtime(secret=…)",
    ]


@pytest.mark.parametrize(
    ("capability", "store"),
    [
        (lambda path: StateCapability(SqliteStateStore(path / "state.db")), "SqliteStateStore"),
        (lambda path: ArtifactsCapability(SqliteArtifactStore(path / "a.db")), "SqliteArtifactStore"),
        (lambda path: ArtifactsCapability(FileArtifactStore(path / "a")), "FileArtifactStore"),
    ],
)
def test_a_store_in_files_is_refused(tmp_path: Path, capability: Callable[[Path], Any], store: str) -> None:
    with pytest.raises(RegistrationError, match=f"has a {store}; use Postgres"):
        Runtime(engine=ManyWorkers(), secret=SECRET, capabilities=[capability(tmp_path)])


def test_a_client_is_held_to_the_same() -> None:
    engine = ManyWorkers(worker=False)
    with pytest.raises(RegistrationError, match="secret= is missing"):
        Runtime(engine=engine)


def test_stores_on_a_server_and_those_of_the_host_are_accepted() -> None:
    database = Postgres("host=nowhere.invalid")
    capabilities: list[Capability] = [
        StateCapability(PostgresStateStore(database)),
        ArtifactsCapability(PostgresArtifactStore(database)),
    ]
    Runtime(engine=ManyWorkers(), secret=SECRET, capabilities=capabilities)


def test_one_worker_may_have_any_store() -> None:
    Runtime(engine=InProcessEngine(), capabilities=[StateCapability(MemoryStateStore())])


async def test_a_tool_of_the_callers_snapshot_alone_cannot_ask() -> None:
    executor = Listing()
    given = await runtime(executor, spec(confirm=ConfirmSpec())).tools.snapshot()
    async with shared() as made:
        result = await made.call("list_devices", SITE, META, within=given)
        assert (result.status, result.error is not None and result.error.message) == (
            "denied",
            "list_devices needs approval, but assistant.devices.list_devices is not in a toolset of the "
            "runtime, so other workers of its engine could not resume the call",
        )
        (again,) = await made.call_all(
            [ToolCall(tool="list_devices", payload_json=SITE, meta=META)], within=given
        )
        assert again.status == "denied"
        assert await made.suspensions.list() == ()
    assert executor.calls == []


async def test_a_tool_of_the_callers_snapshot_alone_cannot_be_pending(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def pends(payload: Any, ctx: Any) -> Any:
        return ToolOutcome.pending("h-1")

    executor = Listing(pends)
    given = await runtime(executor, spec(long_running=LongRunningSpec())).tools.snapshot()
    async with shared() as made:
        result = await made.call("list_devices", SITE, META, within=given)
        assert (result.status, executor.calls) == ("denied", [])
        assert "Runtime.tools.add_toolset(…)" in caplog.text


async def test_a_tool_that_a_toolset_of_the_runtime_lists_can_ask() -> None:
    async def send(text: str) -> str:
        """Send."""
        return text

    tool = func_tool(send, toolset="x.mail", confirm=ConfirmSpec())
    async with shared() as made:
        made.tools.register(function_toolset("x.mail", [tool]))
        asked = waiting(await made.call("send", {"text": "hi"}, META, within=await made.tools.snapshot()))
        assert (await made.suspensions.answer(asked.token, {"approved": True})).status == "ok"


async def test_a_call_that_does_not_wait_may_have_a_tool_of_the_callers_snapshot() -> None:
    given = await runtime(Listing(), spec()).tools.snapshot()
    async with shared() as made:
        assert (await made.call("list_devices", SITE, META, within=given)).status == "ok"
