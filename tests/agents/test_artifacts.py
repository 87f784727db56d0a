"""Artifacts of runs: by reference in the log, the conversation and the output, however far a run has come."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.agents.tools import (
    TOOLS,
    agent,
    calling,
    everything,
    exported,
    first_answer,
    keeping,
    ran,
    running,
)
from tests.runtime.store_files import ARTIFACT_STORES
from toolgen.agents import (
    FinalResult,
    PlanInput,
    RunOutput,
    ScriptedPlanner,
    SessionStore,
    ToolMessage,
    agents_of,
)
from toolgen.agents.sessions.memory import MemorySessionStore
from toolgen.agents.sessions.sqlite import SqliteSessionStore
from toolgen.calls.documents.results import ref_of
from toolgen.calls.functions.tools import func_tool
from toolgen.calls.functions.type_codec import TypeCodec
from toolgen.capabilities import ArtifactsCapability, ArtifactStore, MemoryArtifactStore, UnknownArtifactError
from toolgen.engines import InProcessEngine
from toolgen.runtime import Artifact, ArtifactRef, CallMeta, Runtime, StaticToolset, ToolModel, ToolOutcome
from toolgen.runtime.functions import ArtifactSpec


class Photo(ToolModel):
    pixels: str


PHOTO: ArtifactSpec[Photo] = ArtifactSpec(kind="photo", codec=TypeCodec(Photo, "Photo"))
LARGE = "x" * 20_000
NO_STORE = "the runtime has no artifact store"


async def paint(pixels: str, times: int) -> ToolOutcome[str]:
    """Paint a photo, the same again and again."""
    return ToolOutcome.of("painted", artifacts=[PHOTO.of(Photo(pixels=pixels * times))])


async def sculpt() -> str:
    """Work for ever."""
    await asyncio.sleep(10_000)
    return ""


def _painter() -> StaticToolset:
    tool = func_tool(paint)
    bound = replace(tool, spec=replace(tool.spec, artifacts={"photo": PHOTO}))
    return StaticToolset(name="local.functions", bound=(bound, func_tool(sculpt)))


PAINTER = _painter()
"""The toolset of `paint`, whose results have a photo."""


def painting(pixels: str, times: int = 1) -> tuple[str, dict[str, Any]]:
    return "paint", {"pixels": pixels, "times": times}


def with_store(store: ArtifactStore | None = None, **more: Any) -> dict[str, Any]:
    """Return options of a runtime that keeps artifacts, and can ask."""
    return keeping(capabilities=[ArtifactsCapability(store or MemoryArtifactStore())], **more)


# What a run tells.


async def test_a_run_names_its_artifacts_wherever_it_tells_of_the_call() -> None:
    sessions = MemorySessionStore()
    planner = ScriptedPlanner([calling(painting("0123"), painting("x", 20_000)), first_answer])
    registration = agent("x.agent", planner, PAINTER)
    async with running(registration, sessions=sessions, **with_store()) as (runtime, _):
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        output = await handle.result()
        events = await runtime.runs.events(handle.run_id)
        (said,) = await sessions.transcript("s")
        small, large = output.artifacts
        data = (await runtime.artifacts.load(large.uri, session_id="s")).data
    assert data == f'{{"pixels":"{LARGE}"}}'.encode()
    assert (small.kind, small.tool, small.tool_call_id, small.json) == (
        "photo",
        "local.functions.paint",
        "call_0_0",
        '{"pixels":"0123"}',
    )
    assert (large.tool_call_id, large.json, large.size) == ("call_0_1", "", len(data))
    ends = [event for event in events if event.type == "tool_end"]
    told = [tuple(map(ref_of, event.artifacts)) for event in sorted(ends, key=lambda end: end.tool_call_id)]
    (message,) = [message for message in said.messages if isinstance(message, ToolMessage)]
    kept = [answer.artifacts for answer in message.answers]
    refs = [
        (
            ArtifactRef(
                kind=one.kind,
                uri=one.uri,
                media_type=one.media_type,
                size=one.size,
                digest=one.digest,
                json=one.json,
            ),
        )
        for one in output.artifacts
    ]
    assert told == kept == refs


async def test_large_data_does_not_cross_the_engine() -> None:
    engine = InProcessEngine(max_payload_bytes=len(LARGE))
    async with Runtime(engine=engine, **with_store()) as runtime:
        planner = ScriptedPlanner([calling(painting("x", 20_000)), first_answer])
        agents_of(runtime).register(agent("x.agent", planner, PAINTER))
        output = await agents_of(runtime).client("x.agent").run("Go.", session_id="s")
        assert (output.status, output.text) == ("completed", '"painted"')
        assert len((await runtime.artifacts.load(output.artifacts[0].uri)).data) == 20_013


async def test_no_planner_sees_an_artifact_in_this_turn_or_a_later_one() -> None:
    planner = ScriptedPlanner([calling(painting("0123"), painting("x", 20_000)), first_answer, first_answer])
    registration = agent("x.agent", planner, PAINTER)
    async with running(registration, **with_store()) as (runtime, _):
        client = agents_of(runtime).client("x.agent")
        assert (await client.run("Go.", session_id="s")).text == '"painted"'
        assert (await client.run("Again.", session_id="s")).text == '"painted"'
    seen = [answer for given in planner.inputs for answer in _answers(given)]
    assert [one.text for one in seen] == ['"painted"'] * 8  # of the second planning and two of a second turn
    assert {one.artifacts for one in seen} == {()}
    assert "0123" not in str([_answers(given) for given in planner.inputs])


def _answers(given: PlanInput) -> list[Any]:
    """Return all results that a planner sees."""
    messages = [message for message in given.messages if isinstance(message, ToolMessage)]
    return [answer for message in messages for answer in message.answers]


async def test_without_a_store_the_output_has_the_data() -> None:
    planner = ScriptedPlanner([calling(painting("0123"), painting("x", 20_000)), first_answer])
    found = await ran(planner, toolsets=(PAINTER,))
    assert [json.loads(one.json)["pixels"] for one in found.output.artifacts] == ["0123", LARGE]
    assert [(one.uri, one.not_stored_reason) for one in found.output.artifacts] == [("", NO_STORE)] * 2
    ends = sorted(found.of("tool_end"), key=lambda end: end.tool_call_id)
    refs = [ref for event in ends for ref in event.artifacts]
    assert [(ref.get("data"), ref["size"]) for ref in refs] == [({"pixels": "0123"}, 17), (None, 20_013)]


class Broken(MemoryArtifactStore):
    async def listed(self, owner: str, name: str | None = None) -> Any:
        raise OSError("the disk is on fire")


async def test_a_store_that_fails_ends_no_run(caplog: pytest.LogCaptureFixture) -> None:
    planner = ScriptedPlanner([calling(painting("0123"), painting("x", 20_000)), first_answer])
    found = await ran(planner, toolsets=(PAINTER,), options=with_store(Broken()))
    assert found.output.text == '"painted"'
    small, large = found.output.artifacts
    assert (small.json, large.json) == ('{"pixels":"0123"}', "")
    assert {one.not_stored_reason for one in found.output.artifacts} == {"the artifact store failed"}
    assert "the disk is on fire" in caplog.text


# Runs that have no answer.


def drawn(output: RunOutput) -> list[str]:
    return [one.json or one.digest for one in output.artifacts]


async def test_a_run_that_waits_has_what_its_calls_made() -> None:
    planner = ScriptedPlanner([calling(painting("1"), "ask"), calling(painting("x", 20_000)), everything])
    registration = agent("x.agent", planner, PAINTER, TOOLS)
    async with running(registration, **with_store()) as (runtime, _):
        agents = agents_of(runtime)
        handle = await agents.client("x.agent").start("Go.", session_id="s")
        waits = await handle.settled()
        assert waits.status == "waiting"
        assert drawn(waits) == ['{"pixels":"1"}']
        assert await handle.output() == waits
        assert (await agents.snapshot(handle.run_id)).artifacts == waits.artifacts
        (listed,) = await agents.list_runs()
        assert (listed.status, listed.artifacts) == ("waiting", ())
        await handle.answer(waits.awaiting[0], "Ann")
        over = await handle.result()
    assert over.artifacts[0] == waits.artifacts[0]
    assert len(over.artifacts) == 2


async def test_a_run_that_was_canceled_has_what_its_calls_made() -> None:
    planner = ScriptedPlanner([calling(painting("1"), painting("2"), "sculpt")])
    registration = agent("x.agent", planner, PAINTER)
    async with running(registration, **with_store()) as (runtime, _):
        handle = await agents_of(runtime).client("x.agent").start("Go.", session_id="s")
        ends = 0
        async for event in handle.events():
            ends += event.type == "tool_end"
            if ends == 2:
                break
        assert (await handle.output()).status == "running"
        assert sorted(drawn(await handle.output())) == ['{"pixels":"1"}', '{"pixels":"2"}']
        await handle.cancel("enough")
        over = await handle.result()
    assert over.status == "canceled"
    assert sorted(drawn(over)) == ['{"pixels":"1"}', '{"pixels":"2"}']


async def test_a_run_whose_planner_failed_has_what_its_calls_made() -> None:
    def fails(given: PlanInput) -> str:
        raise SystemExit

    found = await ran(
        ScriptedPlanner([calling(painting("1")), fails]), toolsets=(PAINTER,), options=with_store()
    )
    assert found.output.status == "failed"
    assert drawn(found.output) == ['{"pixels":"1"}']


# Agents that call agents.


async def test_a_parent_has_what_its_child_made_while_both_wait_and_after() -> None:
    low = ScriptedPlanner([calling(painting("x", 20_000), "ask"), FinalResult(result="seen")])
    top = ScriptedPlanner([calling(painting("1"), "look"), everything])
    agents = (
        agent("x.low", low, PAINTER, TOOLS),
        agent("x.top", top, PAINTER, exported("x.lows", "x.low")),
    )
    async with running(*agents, **with_store()) as (runtime, _):
        handle = await agents_of(runtime).client("x.top").start("Go.", session_id="s")
        waits = await handle.settled()
        own, below = waits.artifacts
        assert (own.json, below.json, below.size) == ('{"pixels":"1"}', "", 20_013)
        assert below.uri.startswith(f"artifact:run/s/{handle.run_id}/child%3Acall_0_1/")
        await handle.answer(waits.awaiting[0], "Ann")
        over = await handle.result()
        assert over.status == "completed"
        assert list(over.artifacts) == [own, below]


async def test_a_parent_has_what_a_child_made_that_was_canceled() -> None:
    low = ScriptedPlanner([calling(painting("1"), "sculpt")])
    top = ScriptedPlanner([calling("look"), everything])
    agents = (agent("x.low", low, PAINTER), agent("x.top", top, exported("x.lows", "x.low")))
    async with running(*agents, **with_store()) as (runtime, engine):
        handle = await agents_of(runtime).client("x.top").start("Go.", session_id="s")
        child = f"{handle.run_id}/child:call_0_0"
        async for event in handle.events():
            if event.type == "agent_run_started":
                break
        async for _, told in engine.events(child):
            if told["type"] == "tool_end":
                break
        await engine.cancel(child, reason="enough")
        over = await handle.result()
    assert over.status == "completed"
    assert "look failed" in over.text
    assert drawn(over) == ['{"pixels":"1"}']


async def test_a_direct_call_of_an_agent_gets_the_artifacts_of_its_run_typed() -> None:
    low = ScriptedPlanner([calling(painting("1"), painting("x", 20_000)), FinalResult(result="seen")])
    agents = (
        agent("x.low", low, PAINTER),
        agent("x.top", ScriptedPlanner([]), PAINTER, exported("x.lows", "x.low")),
    )
    async with running(*agents, **with_store()) as (runtime, _):
        result = await runtime.call("look", {}, CallMeta(session_id="s"))
    assert [_pixels(one) for one in result.artifacts] == ["1", LARGE]
    assert [one.ref.size for one in result.artifacts if one.ref] == [14, 20_013]


def _pixels(artifact: Artifact) -> str:
    assert isinstance(artifact.data, Photo)
    return artifact.data.pixels


# Pruning, over real files.


async def test_sessions_are_forgotten_where_no_artifacts_are_kept() -> None:
    sessions = MemorySessionStore(clock=lambda: 100.0)
    registration = agent("x.agent", ScriptedPlanner(["done"]), PAINTER)
    async with running(registration, sessions=sessions) as (runtime, _):
        await agents_of(runtime).client("x.agent").run("Go.", session_id="s")
        await sessions.end("s")
        assert await agents_of(runtime).forget(before=101.0) == 1
    assert await sessions.list() == ()


@pytest.mark.asyncio(loop_factories=["real"])  # the stores work in threads
@pytest.mark.parametrize("name", ARTIFACT_STORES)
async def test_artifacts_are_forgotten_with_their_sessions(name: str, tmp_path: Path) -> None:
    now = [100.0]
    store = ARTIFACT_STORES[name](tmp_path, lambda: now[0])
    sessions: SessionStore = SqliteSessionStore(tmp_path / "sessions.db", clock=lambda: now[0])
    planner = ScriptedPlanner([calling(painting("x", 20_000)), first_answer] * 4)
    registration = agent("x.agent", planner, PAINTER)
    async with running(registration, sessions=sessions, **with_store(store)) as (runtime, _):
        agents = agents_of(runtime)
        client = agents.client("x.agent")
        uris = {}
        for session_id in ("over", "open", "late"):
            uris[session_id] = (await client.run("Go.", session_id=session_id)).artifacts[0].uri
        uris["alone"] = (await client.one_shot("Go.")).artifacts[0].uri
        await sessions.end("over")
        now[0] = 200.0
        await sessions.end("late")

        async def there() -> list[str]:
            found = []
            for one, uri in uris.items():
                try:
                    assert len((await runtime.artifacts.load(uri)).data) == 20_013
                    found.append(one)
                except UnknownArtifactError:
                    pass
            return found

        assert await agents.forget(before=100.0) == 0
        assert await there() == ["over", "open", "late", "alone"]
        assert await agents.forget(before=200.0) == 1
        assert await there() == ["open", "late"]
        assert [one.id for one in await sessions.list()] == ["late", "open"]
