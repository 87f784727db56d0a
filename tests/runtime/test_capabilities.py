"""State and artifacts: the same over memory and SQLite, merged in the order of the calls."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest

from tests.conftest import surroundings
from tests.runtime.store_files import ARTIFACT_STORES
from tests.runtime.tools import META, SITE, Listing, lists_much, nothing, runtime, spec
from toolgen.capabilities import (
    ArtifactsCapability,
    ArtifactStore,
    Change,
    MemoryStateStore,
    SqliteStateStore,
    StateCapability,
    StateStore,
)
from toolgen.events.hub import Events
from toolgen.events.records import ArtifactSaved, StateChanged, StateConflict
from toolgen.runtime import CallMeta, Limits, RegistrationError, ToolCall, ToolError

TOOL = "assistant.devices.list_devices"
ANN = CallMeta(session_id="s", turn_id="t", tool_call_id="c1", labels={"user": "ann"})


@pytest.fixture(params=["memory", "sqlite"])
def states(request: pytest.FixtureRequest, tmp_path: Path) -> StateStore:
    return MemoryStateStore() if request.param == "memory" else SqliteStateStore(tmp_path / "state.db")


@pytest.fixture(params=ARTIFACT_STORES)
def artifacts(request: pytest.FixtureRequest, tmp_path: Path) -> ArtifactStore:
    return ARTIFACT_STORES[request.param](tmp_path, time.time)


def doing(work: Any) -> Listing:
    async def does(payload: Any, ctx: Any) -> Any:
        await work(payload, ctx)
        return nothing()

    return Listing(does)


def call(site: str, meta: CallMeta) -> ToolCall:
    return ToolCall(tool=TOOL, payload_json=json.dumps({"site_id": site}).encode(), meta=meta)


async def test_a_tool_that_needs_what_is_missing_is_not_registered() -> None:
    with pytest.raises(RegistrationError, match="needs the capability 'state'"):
        runtime(Listing(), spec(needs=("state",)))
    runtime(Listing(), spec(needs=("state",)), capabilities=[StateCapability(MemoryStateStore())])


async def test_a_capability_that_nobody_gave_names_itself(caplog: pytest.LogCaptureFixture) -> None:
    async def uses(payload: Any, ctx: Any) -> None:
        await ctx.state.get("x")

    result = await runtime(doing(uses)).call(TOOL, SITE, META)
    assert result.status == "error"
    assert "ctx has no 'state'" in caplog.text


async def test_state_is_of_its_scope(states: StateStore) -> None:
    async def counts(payload: Any, ctx: Any) -> None:
        for scope in ("app", "user", "session", "temp"):
            ctx.state.add(f"{scope}:calls", 1)
        seen.append([await ctx.state.get(f"{scope}:calls") for scope in ("app", "user", "session", "temp")])

    seen: list[list[Any]] = []
    made = runtime(doing(counts), capabilities=[StateCapability(states)])
    for labels, session, turn in (("ann", "1", "1"), ("ann", "1", "2"), ("ann", "2", "1"), ("bob", "2", "1")):
        meta = CallMeta(session_id=session, turn_id=turn, labels={"user": labels})
        await made.call(TOOL, SITE, meta)
    assert seen == [[1, 1, 1, 1], [2, 2, 2, 1], [3, 3, 1, 1], [4, 1, 2, 2]]


@pytest.mark.parametrize("is_first", [True, False])
async def test_a_call_with_actions_changes_state_once(states: StateStore, is_first: bool) -> None:
    async def counts(payload: Any, ctx: Any) -> None:
        if is_first:
            ctx.actions.transfer("x.other")
        ctx.state.add("session:calls", 1)
        ctx.actions.transfer("x.other")

    result = await runtime(doing(counts), capabilities=[StateCapability(states)]).call(TOOL, SITE, ANN)
    assert result.actions is not None
    assert result.actions.transfer_to == "x.other"
    assert await states.load("session", "s") == {"calls": 1}


class Failing:
    """A capability that commits nothing."""

    name = "failing"

    def open(self, call: Any) -> None:
        return None

    async def close(self, opened: Any) -> Any:
        raise OSError("no disk")


async def test_a_capability_that_fails_keeps_no_other_from_committing(
    states: StateStore, caplog: pytest.LogCaptureFixture
) -> None:
    async def counts(payload: Any, ctx: Any) -> None:
        assert ctx.failing is None
        ctx.state.add("session:calls", 1)
        ctx.actions.transfer("x.other")

    made = runtime(doing(counts), capabilities=[Failing(), StateCapability(states)])
    result = await made.call(TOOL, SITE, ANN)
    assert result.status == "ok"
    assert result.actions is not None
    assert result.actions.transfer_to == "x.other"
    assert await states.load("session", "s") == {"calls": 1}
    assert "capability 'failing' failed to commit the changes of 1 calls" in caplog.text


async def test_state_whose_owner_no_store_can_keep_fails_when_it_is_read(states: StateStore) -> None:
    async def counts(payload: Any, ctx: Any) -> None:
        ctx.state.add("user:calls", 1)
        await ctx.state.get("user:calls")

    made = runtime(doing(counts), capabilities=[StateCapability(states)])
    result = await made.call(TOOL, SITE, replace(ANN, labels={"user": "half \ud800"}))
    assert result.status == "error"


async def test_temporary_state_is_of_one_turn_of_one_session(states: StateStore) -> None:
    """Whatever characters their ids have."""

    async def counts(payload: Any, ctx: Any) -> None:
        ctx.state.add("temp:calls", 1)
        seen.append(await ctx.state.get("temp:calls"))

    seen: list[Any] = []
    made = runtime(doing(counts), capabilities=[StateCapability(states)])
    for session, turn in (("a/b", "c"), ("a", "b/c"), ("a", "b"), ("", "b"), ("a/b", "c")):
        await made.call(TOOL, SITE, CallMeta(session_id=session, turn_id=turn))
    assert seen == [1, 1, 1, 1, 2]


async def test_temporary_state_of_a_call_without_a_turn_ends_with_the_call(states: StateStore) -> None:
    async def counts(payload: Any, ctx: Any) -> None:
        ctx.state.set("temp:site", payload.site_id)
        ctx.state.add("temp:calls", 1)
        seen.append((await ctx.state.get("temp:site"), await ctx.state.get("temp:calls")))

    seen: list[Any] = []
    events = Events()
    told = events.subscribe(types=["state_conflict"])
    made = runtime(doing(counts), capabilities=[StateCapability(states)], events=events)
    alone = CallMeta(session_id="s")
    await made.call_all([call("a", alone), call("b", alone)])
    await made.call(TOOL, SITE, CallMeta())
    assert seen == [("a", 1), ("b", 1), ("s1", 1)]
    events.close()
    assert [event async for event in told] == []


async def test_a_key_that_one_call_sets_and_another_one_deletes_is_a_conflict(states: StateStore) -> None:
    async def changes(payload: Any, ctx: Any) -> None:
        if payload.site_id == "gone":
            ctx.state.delete("site")
        else:
            ctx.state.set("site", payload.site_id)

    events = Events()
    told = events.subscribe(types=["state_conflict"])
    made = runtime(doing(changes), capabilities=[StateCapability(states)], events=events)
    await made.call_all([call("here", ANN), call("gone", replace(ANN, tool_call_id="c2"))])
    events.close()
    (conflict,) = [event async for event in told]
    assert isinstance(conflict, StateConflict)
    assert (conflict.key, conflict.tool_call_ids) == ("site", ("c1", "c2"))
    assert await states.load("session", "s") == {}


async def test_a_call_reads_what_it_wrote_and_a_failed_one_leaves_nothing(states: StateStore) -> None:
    async def writes(payload: Any, ctx: Any) -> None:
        ctx.state.set("cart", ["milk"])
        ctx.state.append("cart", payload.site_id)
        seen.append(await ctx.state.get("cart"))
        if payload.site_id == "bad":
            raise ToolError("sold out")

    seen: list[Any] = []
    made = runtime(doing(writes), capabilities=[StateCapability(states)])
    await made.call_all([call("bad", ANN)])
    assert await states.load("session", "s") == {}
    await made.call_all([call("good", ANN)])
    assert await states.load("session", "s") == {"cart": ["milk", "good"]}
    assert seen == [["milk", "bad"], ["milk", "good"]]


async def test_calls_at_once_are_merged_in_their_order(states: StateStore) -> None:
    """However long each takes; of what both set, the later call's value stands."""
    is_last_done = asyncio.Event()

    async def writes(payload: Any, ctx: Any) -> None:
        if payload.site_id == "a":
            await is_last_done.wait()
        ctx.state.append("seen", payload.site_id)
        ctx.state.add("count", 1)
        ctx.state.set("last", payload.site_id)
        if payload.site_id == "c":
            is_last_done.set()

    made = runtime(doing(writes), capabilities=[StateCapability(states)])
    await made.call_all([call(site, ANN) for site in "abc"])
    assert await states.load("session", "s") == {"seen": ["a", "b", "c"], "count": 3, "last": "c"}


async def test_a_rule_lets_only_its_operation_through(states: StateStore) -> None:
    async def overwrites(payload: Any, ctx: Any) -> None:
        with pytest.raises(ValueError, match="can only be changed by 'add'"):
            ctx.state.set("app:hits", 0)
        ctx.state.add("app:hits", 1)

    capability = StateCapability(states, rules={"app:hits": "add"})
    assert (await runtime(doing(overwrites), capabilities=[capability]).call(TOOL, SITE, ANN)).status == "ok"


@pytest.mark.parametrize("value", [float("nan"), b"x", object(), {1: 2}.keys()])
async def test_the_state_takes_json(states: StateStore, value: Any) -> None:
    async def writes(payload: Any, ctx: Any) -> None:
        with pytest.raises(ValueError, match="the value of 'secret' cannot be stored: it is not JSON"):
            ctx.state.set("secret", value)

    made = runtime(doing(writes), capabilities=[StateCapability(states)])
    assert (await made.call(TOOL, SITE, ANN)).status == "ok"


@pytest.mark.exhaustive
def test_processes_lose_no_addition(tmp_path: Path) -> None:
    code = textwrap.dedent(
        """
        import asyncio, sys
        from toolgen.capabilities import Change, SqliteStateStore
        store = SqliteStateStore(sys.argv[1])
        for _ in range(20):
            asyncio.run(store.apply("app", "a", [Change(key="hits", operation="add", value=1)]))
        """
    )
    file = str(tmp_path / "state.db")
    SqliteStateStore(file)
    running = [subprocess.Popen([sys.executable, "-c", code, file], env=surroundings()) for _ in range(3)]
    assert [process.wait() for process in running] == [0, 0, 0]
    assert asyncio.run(SqliteStateStore(file).load("app", "a")) == {"hits": 60}


async def test_an_artifact_has_versions(artifacts: ArtifactStore) -> None:
    async def draws(payload: Any, ctx: Any) -> None:
        first = await ctx.artifacts.save("plan.png", b"1", "image/png", {"floor": 1})
        await ctx.artifacts.save("plan.png", b"22", "image/png")
        await ctx.artifacts.save("user:note.txt", b"n", "text/plain")
        assert (first.version, first.uri) == (1, "artifact:session/s/plan.png?version=1")
        assert (await ctx.artifacts.load("plan.png")).data == b"22"
        assert (await ctx.artifacts.load("plan.png", 1)).info.metadata == {"floor": 1}
        assert [one.version for one in await ctx.artifacts.versions("plan.png")] == [1, 2]
        assert [one.name for one in await ctx.artifacts.list()] == ["plan.png"]
        assert [one.name for one in await ctx.artifacts.list("user")] == ["note.txt"]
        with pytest.raises(ToolError, match=r"no artifact 'plan.png' with version 9"):
            await ctx.artifacts.load("plan.png", 9)
        done.append(True)

    done: list[bool] = []
    await runtime(doing(draws), capabilities=[ArtifactsCapability(artifacts)]).call(TOOL, SITE, ANN)
    assert done


@pytest.mark.parametrize("name", ["../x", "a/b", "", "x" * 256, "a\x00", ".."])
async def test_a_name_is_no_path(artifacts: ArtifactStore, name: str) -> None:
    async def draws(payload: Any, ctx: Any) -> None:
        with pytest.raises(ToolError, match="is not an artifact name"):
            await ctx.artifacts.save(name, b"x")

    made = runtime(doing(draws), capabilities=[ArtifactsCapability(artifacts)])
    assert (await made.call(TOOL, SITE, ANN)).status == "ok"


async def test_artifacts_have_a_size(artifacts: ArtifactStore) -> None:
    async def draws(payload: Any, ctx: Any) -> None:
        await ctx.artifacts.save("a", b"12345")
        with pytest.raises(ToolError, match="the limit is 5"):
            await ctx.artifacts.save("b", b"123456")
        with pytest.raises(ToolError, match="all artifacts together"):
            await ctx.artifacts.save("b", b"12345")

    capability = ArtifactsCapability(artifacts, most_bytes=5, most_bytes_of_owner=8)
    assert (await runtime(doing(draws), capabilities=[capability]).call(TOOL, SITE, ANN)).status == "ok"


async def test_a_result_above_the_limit_is_kept_whole(artifacts: ArtifactStore) -> None:
    made = runtime(
        Listing(lists_much), capabilities=[ArtifactsCapability(artifacts)], limits=Limits(result_bytes=245)
    )
    result = await made.call(TOOL, SITE, ANN)
    assert len(result.json) <= 245
    uri = json.loads(result.json)["uri"]
    assert [block.as_json()["uri"] for block in result.content] == [uri]
    (info,) = await artifacts.listed("session/s")
    stored = await artifacts.load("session/s", info.name, None)
    assert stored is not None
    assert json.loads(stored.data)["returned"] == 0


async def test_changes_of_calls_that_succeed_are_told_without_their_values(states: StateStore) -> None:
    async def writes(payload: Any, ctx: Any) -> None:
        ctx.state.set("cart", ["a secret"])
        ctx.state.append("cart", payload.site_id)
        ctx.state.append("cart", "more")
        ctx.state.add("user:visits", 1)
        ctx.state.delete("temp:draft")
        if payload.site_id == "bad":
            raise ToolError("sold out")

    events = Events()
    told = events.subscribe(types=["state_changed"])
    made = runtime(doing(writes), capabilities=[StateCapability(states)], events=events)
    await made.call_all([call("bad", ANN), call("good", replace(ANN, tool_call_id="c2"))])
    events.close()
    seen = [event async for event in told if isinstance(event, StateChanged)]
    assert [(one.scope, one.key, one.operation) for one in seen] == [
        ("session", "cart", "set"),
        ("session", "cart", "append"),
        ("user", "visits", "add"),
        ("temp", "draft", "delete"),
    ]
    assert {(one.tool, one.tool_call_id, one.session_id) for one in seen} == {(TOOL, "c2", "s")}
    assert "secret" not in repr(seen)


async def test_changes_that_the_store_does_not_take_are_not_told() -> None:
    async def writes(payload: Any, ctx: Any) -> None:
        ctx.state.set("user:name", "Ann")
        ctx.state.append("visits", 1)  # a number is there

    states, events = MemoryStateStore(), Events()
    await states.apply("session", "s", [Change(key="visits", operation="set", value=1)])
    told = events.subscribe(types=["state_changed"])
    made = runtime(doing(writes), capabilities=[StateCapability(states)], events=events)
    await made.call(TOOL, SITE, ANN)
    events.close()
    assert [event.key async for event in told if isinstance(event, StateChanged)] == ["name"]


async def test_a_stored_artifact_is_told_to_those_who_watch(artifacts: ArtifactStore) -> None:
    async def saves(payload: Any, ctx: Any) -> None:
        await ctx.artifacts.save("plan.png", b"abc", "image/png")
        await ctx.artifacts.save("plan.png", b"abcd", "image/png")

    events = Events()
    made = runtime(doing(saves), capabilities=[ArtifactsCapability(artifacts)], events=events)
    assert (await made.call(TOOL, SITE, META)).status == "ok"
    told = events.subscribe(types=["artifact_saved"])
    await made.call(TOOL, SITE, META)
    events.close()
    assert [event async for event in told] == [
        ArtifactSaved(
            name="plan.png",
            version=version,
            media_type="image/png",
            size=size,
            seq=seq,
            time=ANY,
            run_id="r",
            session_id="s",
            turn_id="t",
            tool_call_id="c1",
        )
        for version, size, seq in ((3, 3, 2), (4, 4, 3))
    ]
