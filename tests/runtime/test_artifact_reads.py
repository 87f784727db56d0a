"""Kept artifacts: read by those whose they are, and dropped with their session or run."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.agents.store_outages import Artifacts, Outage
from tests.runtime.painting import META, refs, runtime
from tests.runtime.painting import store as store
from tests.selection import first
from tests.virtual_time import in_virtual_time
from toolgen.calls.functions.tools import func_tool
from toolgen.capabilities import ArtifactsCapability, ArtifactStore, UnknownArtifactError
from toolgen.engines import InProcessEngine
from toolgen.runtime import CallMeta, Limits, Runtime, StaticToolset, ToolContext
from toolgen.waiting import CallName


async def test_nobody_reads_what_another_session_left(store: ArtifactStore) -> None:
    made = runtime(store)

    async def uri(session_id: str, run_id: str) -> str:
        meta = CallMeta(session_id=session_id, run_id=run_id)
        return refs(await made.call("paint", {"sizes": [3]}, meta))[0].uri

    sessions = ("s", "s/r", "", "s%2Fr", "S", "s?version=1", "ü")
    uris = {session: await uri(session, "r") for session in sessions}
    uris |= {f"{session}/": await uri(session, "") for session in ("s", "")}
    assert len(set(uris.values())) == len(uris)
    for owner, name in uris.items():
        assert (await made.artifacts.load(name)).data == b'{"pixels":"xxx"}'
        for session in sessions:
            if session == owner.removesuffix("/"):
                assert (await made.artifacts.load(name, session_id=session)).info.size == 16
            else:
                with pytest.raises(UnknownArtifactError, match="there is no artifact"):
                    await made.artifacts.load(name, session_id=session)


@in_virtual_time
async def test_a_kept_result_waits_for_the_store_of_its_artifacts() -> None:
    made = runtime(Artifacts(Outage(load=2)), engine=InProcessEngine())
    snapshot, name = await made.tools.snapshot(), CallName(interface="test", call_id="c1")
    results = [await snapshot.call_once(name, "paint", {"sizes": [2_000]}, META) for _ in range(2)]
    assert results[0].artifacts
    assert results[1].artifacts == results[0].artifacts


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "uri",
    first(
        [
            "",
            "artifact:",
            "artifact:run/s/r/x",
            "artifact:run/s/r/x?version=0",
            "artifact:run/s/r/x?version=1&x",
            "artifact:run/s/r/x?version=99999999999999999999",
            "artifact:run/s/r/../../x?version=1",
            "file:///etc/passwd",
            "artifact:run/s/r/%2e%2e?version=1",
            "artifact:run/s/r/%00?version=1",
            "artifact:run/s/r/%ff?version=1",
        ],
        5,
    ),
)
async def test_a_uri_that_names_nothing_is_unknown(store: ArtifactStore, uri: str) -> None:
    with pytest.raises(UnknownArtifactError):
        await runtime(store).artifacts.load(uri)


async def test_a_file_and_a_result_that_was_too_large_are_read_by_uri(store: ArtifactStore) -> None:
    uris: list[str] = []

    async def saves(ctx: ToolContext) -> str:
        """Save files."""
        uris.append((await ctx.artifacts.save("plan.png", b"abc", "image/png")).uri)
        uris.append((await ctx.artifacts.save("user:note", b"mine")).uri)
        return "x" * 600

    made = runtime(store, saves)
    limited = Runtime(capabilities=[ArtifactsCapability(store)], limits=Limits(result_bytes=300))
    limited.tools.register(StaticToolset(name="local.functions", bound=(func_tool(saves),)))
    result = await limited.call("saves", {}, replace(META, labels={"user": "ann"}))
    uris.append(json.loads(result.json)["uri"])
    plan, note, whole = uris
    found = await made.artifacts.load(plan, session_id="s")
    assert (found.data, found.info.name, found.info.media_type) == (b"abc", "plan.png", "image/png")
    assert len((await made.artifacts.load(whole, session_id="s")).data) == 602
    assert (await made.artifacts.load(note)).data == b"mine"
    with pytest.raises(UnknownArtifactError):  # a session is not its user
        await made.artifacts.load(note, session_id="s")


async def test_what_a_session_or_a_run_left_is_dropped(store: ArtifactStore) -> None:
    made, capability = runtime(store), ArtifactsCapability(store)

    async def uri(session_id: str, run_id: str) -> str:
        meta = CallMeta(session_id=session_id, run_id=run_id)
        return refs(await made.call("paint", {"sizes": [3]}, meta))[0].uri

    uris = [
        await uri("s", "r"),
        await uri("s", "r/child:c"),
        await uri("s", "r2"),
        await uri("s/r", "r"),
        await uri("", "r"),
    ]
    await store.save("session/s", "plan", b"x", "image/png", {}, 100)
    await store.save("session/s/r", "plan", b"x", "image/png", {}, 100)

    async def there() -> list[int]:
        found = []
        for number, name in enumerate(uris):
            try:
                await made.artifacts.load(name)
                found.append(number)
            except UnknownArtifactError:
                pass
        return found

    assert await capability.forget("s", run_id="r") == 2
    assert await there() == [2, 3, 4]
    assert await capability.forget("s") == 2
    assert await there() == [3, 4]
    assert await store.listed("session/s") == ()
    assert len(await store.listed("session/s/r")) == 1
    assert await capability.forget("") == 1
    assert await there() == [3]
