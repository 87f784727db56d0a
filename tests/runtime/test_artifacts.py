"""Artifacts of results: kept before the call is over, told by reference, and read again from a journal."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.painting import LIMITS, META, PHOTO, Photo, paint, photos, refs, runtime
from tests.runtime.painting import store as store
from tests.virtual_time import in_virtual_time
from toolgen.calls.call import CallName
from toolgen.calls.documents.results import ref_of
from toolgen.calls.functions.tools import func_tool
from toolgen.calls.functions.type_codec import TypeCodec
from toolgen.capabilities import ArtifactsCapability, ArtifactStore, MemoryArtifactStore, UnknownArtifactError
from toolgen.contract.json_value import Json
from toolgen.engines import InProcessEngine
from toolgen.events.hub import Events
from toolgen.events.records import ToolEnd
from toolgen.runtime import (
    Answer,
    ArtifactRef,
    Continue,
    Hook,
    Limits,
    Runtime,
    StaticToolset,
    ToolModel,
    ToolOutcome,
)
from toolgen.runtime.functions import ArtifactSpec


class Sketch(ToolModel):
    lines: int


NO_STORE = "the runtime has no artifact store"


def paint_in_a_thread(sizes: list[int]) -> ToolOutcome[str]:
    """Paint photos of these sizes."""
    return ToolOutcome.of("painted", artifacts=photos(*sizes))


async def test_a_result_says_where_its_artifacts_are(store: ArtifactStore) -> None:
    made = runtime(store)
    result = await made.call("paint", {"sizes": [3, 200]}, META)
    small, large = refs(result)
    document = b'{"pixels":"xxx"}'
    assert small == ArtifactRef(
        kind="photo",
        uri=small.uri,
        media_type="application/json",
        size=len(document),
        digest=f"sha256:{sha256(document).hexdigest()}",
        json=document.decode(),
    )
    assert (large.json, large.size, large.not_stored_reason) == ("", 213, "")
    for artifact, ref in zip(result.artifacts, (small, large), strict=True):
        found = await made.artifacts.load(ref.uri, session_id="s")
        assert found.data == artifact.json
        assert (found.info.uri, found.info.media_type) == (ref.uri, "application/json")
        assert found.info.metadata == {"kind": "photo", "tool": "local.functions.paint"}


async def test_what_the_model_reads_has_no_artifact(store: ArtifactStore) -> None:
    result = await runtime(store).call("paint", {"sizes": [3]}, META)
    assert (result.json, result.content, result.display) == (b'"painted"', (), "")


async def test_equal_data_of_one_run_is_kept_once(store: ArtifactStore) -> None:
    made = runtime(store)
    first = refs(await made.call("paint", {"sizes": [3, 3]}, META))
    again = refs(await made.call("paint", {"sizes": [3]}, replace(META, tool_call_id="c2")))
    other = refs(await made.call("paint", {"sizes": [3]}, replace(META, run_id="r2")))
    assert len({ref.uri for ref in (*first, *again)}) == 1
    assert other[0].uri != first[0].uri
    assert len(await store.listed("run/s/r")) == 1


async def test_an_artifact_is_there_when_the_end_of_its_call_is_told() -> None:
    seen: list[Any] = []

    class Watching(MemoryArtifactStore):
        async def save(
            self, owner: str, name: str, data: bytes, media_type: str, metadata: Mapping[str, Json], most: int
        ) -> int:
            await asyncio.sleep(0)
            assert not events.is_idle
            version = await super().save(owner, name, data, media_type, metadata, most)
            seen.append("kept")
            return version

    events = Events()
    made = runtime(Watching(), events=events)
    told = events.subscribe(types=["tool_end"])

    async def watches() -> None:
        async for event in told:
            seen.append(event)

    watching = asyncio.ensure_future(watches())
    result = await made.call("paint", {"sizes": [3, 200]}, META)
    events.close()
    await watching
    assert seen[:2] == ["kept", "kept"]
    (ended,) = seen[2:]
    assert isinstance(ended, ToolEnd)
    assert [*map(ref_of, ended.artifacts)] == refs(result)


async def test_without_a_store_the_data_is_in_the_result_and_small_data_in_the_event() -> None:
    events = Events()
    told = events.subscribe(types=["tool_end"])
    made = runtime(events=events)
    result = await made.call("paint", {"sizes": [3, 200]}, META)
    events.close()
    (ended,) = [event async for event in told]
    assert isinstance(ended, ToolEnd)
    small, large = map(ref_of, ended.artifacts)
    assert (small.uri, small.json, small.not_stored_reason) == ("", '{"pixels":"xxx"}', NO_STORE)
    assert (large.uri, large.json, large.not_stored_reason) == ("", "", NO_STORE)
    photo = PHOTO.get(result)
    assert photo is not None
    assert photo.pixels == "xxx"
    assert len(result.artifacts[1].json) == large.size == 213
    with pytest.raises(UnknownArtifactError):
        await made.artifacts.load("artifact:run/s/r/x?version=1")


class Broken(MemoryArtifactStore):
    """Raises, or takes for ever."""

    def __init__(self, error: BaseException | None) -> None:
        super().__init__()
        self.error = error

    async def listed(self, owner: str, name: str | None = None) -> Any:
        if self.error is None:
            await asyncio.sleep(3_600)
        else:
            raise self.error


@pytest.mark.parametrize("error", [OSError("the secret path"), SystemExit(1), None])
def test_a_store_that_fails_loses_the_artifact_and_not_the_result(
    error: BaseException | None, caplog: pytest.LogCaptureFixture
) -> None:
    @in_virtual_time
    async def calls() -> None:
        began = asyncio.get_running_loop().time()
        result = await runtime(Broken(error)).call("paint", {"sizes": [3, 200]}, META)
        small, large = refs(result)
        assert result.json == b'"painted"'
        assert (small.uri, small.json, small.not_stored_reason) == (
            "",
            '{"pixels":"xxx"}',
            "the artifact store failed",
        )
        assert (large.uri, large.json, large.not_stored_reason) == ("", "", "the artifact store failed")
        assert asyncio.get_running_loop().time() - began == (60 if error is None else 0)

    calls()
    assert "artifact photo of local.functions.paint was not stored" in caplog.text


async def test_an_artifact_that_is_too_large_for_its_host_is_not_kept(store: ArtifactStore) -> None:
    capability = ArtifactsCapability(store, most_bytes=100, most_bytes_of_owner=150)
    made = runtime_with(capability)
    large, first, second, third = refs(await made.call("paint", {"sizes": [200, 30, 31, 60]}, META))
    assert large.not_stored_reason == "the artifact has 213 bytes; the limit is 100"
    assert (first.not_stored_reason, second.not_stored_reason) == ("", "")
    assert third.not_stored_reason == "all artifacts together exceed the limit of 150 bytes"


def runtime_with(capability: ArtifactsCapability) -> Runtime:
    made = func_tool(paint)
    found = Runtime(capabilities=[capability], limits=LIMITS)
    bound = replace(made, spec=replace(made.spec, artifacts={"photo": PHOTO}))
    found.tools.register(StaticToolset(name="local.functions", bound=(bound,)))
    return found


async def test_a_hook_s_answer_is_kept_as_every_other(store: ArtifactStore) -> None:
    class Instead(Hook):
        async def after_tool(self, call: Any, result: Any, ctx: Any) -> Any:
            return Answer(result=ToolOutcome.of("instead", artifacts=photos(5)))

    class Seeing(Hook):
        async def after_tool(self, call: Any, result: Any, ctx: Any) -> Any:
            seen.append(result.artifacts[0].ref.uri)
            return Continue()

    seen: list[str] = []
    made = runtime(store, hooks=[Instead(), Seeing()])
    (ref,) = refs(await made.call("paint", {"sizes": [3]}, META))
    assert seen == [ref.uri]
    assert (await made.artifacts.load(ref.uri)).data == b'{"pixels":"xxxxx"}'


async def test_artifacts_of_a_tool_in_a_thread_are_kept(store: ArtifactStore) -> None:
    made = runtime(store, paint_in_a_thread)
    (ref,) = refs(await made.call("paint", {"sizes": [3]}, META))
    assert (await made.artifacts.load(ref.uri)).data == b'{"pixels":"xxx"}'
    await made.aclose()


def test_the_limit_of_what_stands_inline_is_no_negative_number() -> None:
    assert Limits().inline_artifact_bytes == 16_384
    with pytest.raises(ValueError, match="inline_artifact_bytes=-1"):
        Limits(inline_artifact_bytes=-1)


async def test_a_host_may_let_no_data_stand_in_references(store: ArtifactStore) -> None:
    made = runtime(store, limits=Limits(inline_artifact_bytes=0))
    (ref,) = refs(await made.call("paint", {"sizes": [3]}, META))
    assert (ref.json, ref.size) == ("", 16)
    assert (await made.artifacts.load(ref.uri, session_id="s")).data == b'{"pixels":"xxx"}'


async def test_no_data_above_the_limit_of_what_goes_out_stands_in_a_reference(store: ArtifactStore) -> None:
    made = runtime(store, limits=Limits(inline_artifact_bytes=500, result_bytes=100))
    small, large = refs(await made.call("paint", {"sizes": [3, 200]}, META))
    assert (small.json, large.json) == ('{"pixels":"xxx"}', "")


# Results that are read from a journal.


async def test_a_call_that_is_made_again_has_its_typed_result_and_its_artifacts(
    store: ArtifactStore, tmp_path: Path
) -> None:
    """In the same process, and in one that only has the files; the large one comes from the store."""
    name = CallName(interface="test", call_id="c1")
    results = []
    for _ in range(2):
        async with runtime(store, engine=InProcessEngine(tmp_path / "runs.db")) as made:
            for _ in range(2):
                results.append(await made.call_once(name, "paint", {"sizes": [3, 200]}, META))
    first = results[0]
    assert [artifact.data for artifact in first.artifacts] == [Photo(pixels="xxx"), Photo(pixels="x" * 200)]
    for again in results[1:]:
        assert (
            (again.result, again.artifacts) == (first.result, first.artifacts) == ("painted", first.artifacts)
        )


@pytest.mark.parametrize("levels", [3, 190, 210])
@pytest.mark.parametrize("number", [1, 10**5_000], ids=["small", "large"])
async def test_data_that_no_journal_keeps_as_a_value_is_read_from_the_store(
    store: ArtifactStore, tmp_path: Path, levels: int, number: int
) -> None:
    data: Any = number
    for _ in range(levels):
        data = [data]
    kind: ArtifactSpec[Any] = ArtifactSpec(kind="photo", codec=TypeCodec(Any, "Any"))

    async def paint() -> ToolOutcome[str]:
        """Paint."""
        return ToolOutcome.of("painted", artifacts=[kind.of(data)])

    name, events = CallName(interface="test", call_id="c1"), Events()
    results = []
    for _ in range(2):
        engine = InProcessEngine(tmp_path / "runs.db")
        async with (
            runtime(store, paint, limits=Limits(), kind=kind, engine=engine, events=events) as made,
            events.subscribe(types=["tool_end"]),
        ):
            results.append(await made.call_once(name, "paint", {}, META))
            if number == 1:  # no Python reads the other one
                assert (await made.call("paint", {}, META)).status == "ok"
    kept = [[artifact.json for artifact in result.artifacts] for result in results]
    assert [result.status for result in results] == ["ok", "ok"]
    assert len(kept[0]) == 1
    assert levels > 190 or number > 1 or kept[0] == kept[1]


async def test_artifacts_that_nobody_kept_are_not_there_again() -> None:
    name, made = CallName(interface="test", call_id="c1"), runtime(engine=InProcessEngine())
    async with made:
        first, again = [await made.call_once(name, "paint", {"sizes": [3, 200]}, META) for _ in range(2)]
    assert again.artifacts == first.artifacts[:1]


async def test_a_result_of_another_version_of_the_tool_has_no_typed_parts(tmp_path: Path) -> None:
    """What the model saw stands."""
    other: ArtifactSpec[Sketch] = ArtifactSpec(kind="photo", codec=TypeCodec(Sketch, "Sketch"))

    async def count(sizes: list[int]) -> int:
        """Count photos."""
        raise AssertionError("it was called before")

    name, results = CallName(interface="test", call_id="c1"), []
    for tool, kind in ((paint, PHOTO), (count, other)):
        async with runtime(tool=tool, kind=kind, engine=InProcessEngine(tmp_path / "runs.db")) as made:
            results.append(await made.call_once(name, "paint", {"sizes": [3]}, META))
    first, again = results
    assert (again.status, again.json, again.result, again.artifacts) == ("ok", first.json, None, ())
