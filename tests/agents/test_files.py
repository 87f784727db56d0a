"""Files of a person: checked, stored, linked in the conversation, and attached to plannings."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import JsonValue

from tests.agents.tools import agent, calling, running
from toolgen.agents import (
    AgentClient,
    BadFileError,
    EndedSessionError,
    PlanInput,
    ScriptedPlanner,
    SessionBusyError,
    ToolMessage,
    Upload,
    UserMessage,
    agents_of,
)
from toolgen.agents.activities.attached_files import AttachedFiles
from toolgen.calls.functions.tools import func_tool, function_toolset
from toolgen.calls.functions.type_codec import TypeCodec
from toolgen.capabilities import ArtifactsCapability, MemoryArtifactStore, SqliteArtifactStore
from toolgen.contract.json_value import Json
from toolgen.engines import InProcessEngine
from toolgen.runtime import (
    Limits,
    ResourceContent,
    Runtime,
    StaticToolset,
    ToolModel,
    ToolOutcome,
)
from toolgen.runtime.functions import ArtifactSpec, Sensitive

PNG = b"\x89PNG\r\n\x1a\n" + b"pixels"
PHOTO = Upload(name="photo.png", data=PNG, media_type="image/png")
NOTE = Upload(name="note.txt", data=b"Buy milk.", media_type="text/plain")


class Curve(ToolModel):
    points: str


class Secret(ToolModel):
    code: Annotated[str, Sensitive()]


CURVE: ArtifactSpec[Curve] = ArtifactSpec(kind="curve", codec=TypeCodec(Curve, "Curve"), audience="model")
CARD: ArtifactSpec[Curve] = ArtifactSpec(kind="card", codec=TypeCodec(Curve, "Curve"))
CODE: ArtifactSpec[Secret] = ArtifactSpec(kind="code", codec=TypeCodec(Secret, "Secret"), audience="model")


async def measure(points: str) -> ToolOutcome[str]:
    """Measure a curve."""
    data = Curve(points=points)
    return ToolOutcome.of("measured", artifacts=[CURVE.of(data), CARD.of(data), CODE.of(Secret(code="4711"))])


async def point_at(uri: str) -> ToolOutcome[str]:
    """Return a link to whatever is named."""
    return ToolOutcome.of("there", content=[ResourceContent(uri=uri, name="theirs.json")])


def _measuring() -> StaticToolset:
    tool = func_tool(measure)
    specs: Any = {"curve": CURVE, "card": CARD, "code": CODE}
    bound = replace(tool, spec=replace(tool.spec, artifacts=specs))
    return StaticToolset(name="local.functions", bound=(bound, func_tool(point_at)))


MEASURING = _measuring()


def keeping(**more: Any) -> dict[str, Any]:
    return {"capabilities": [ArtifactsCapability(MemoryArtifactStore())], **more}


def client(runtime: Runtime) -> AgentClient:
    return agents_of(runtime).client("x.a")


def blocks(given: PlanInput) -> list[Any]:
    """Return the files of what people said, without the lists of files."""
    content = [
        block for message in given.messages if isinstance(message, UserMessage) for block in message.content
    ]
    return [block for block in content if not block.get("text", "").startswith("[Files")]


def data_of(block: Any) -> bytes:
    return base64.b64decode(block["resource"]["blob"])


def listed(given: PlanInput) -> str:
    """Return the list of files that a planning shows."""
    content = [
        block for message in given.messages if isinstance(message, UserMessage) for block in message.content
    ]
    return "".join(block["text"] for block in content if block.get("text", "").startswith("[Files"))


def loading(*names: str) -> Any:
    wanted: list[Json] = list(names)
    return calling(("load_artifacts", {"names": wanted}))


def loaded(given: PlanInput) -> list[bytes]:
    """Return the content that results show of files."""
    return [
        data_of(block)
        for message in given.messages
        if isinstance(message, ToolMessage)
        for answer in message.answers
        for block in answer.content
        if block["type"] == "resource"
    ]


def answers(given: PlanInput) -> list[Any]:
    return [
        json.loads(answer.text)
        for answer in [m for m in given.messages if isinstance(m, ToolMessage)][-1].answers
    ]


async def test_a_file_is_stored_and_attached_to_the_planning() -> None:
    planner = ScriptedPlanner(["A photo."], ["Still a photo."])
    async with running(agent("x.a", planner), **keeping()) as (runtime, engine):
        output = await client(runtime).run("What is it?", session_id="s", files=[PHOTO, NOTE])
        assert output.text == "A photo."
        photo, note = blocks(planner.inputs[0])
        assert (photo["name"], data_of(photo), photo["resource"]["mimeType"]) == (
            "photo.png",
            PNG,
            "image/png",
        )
        assert (note["name"], data_of(note)) == ("note.txt", b"Buy milk.")
        await client(runtime).run("And now?", session_id="s")
        assert list(map(data_of, blocks(planner.inputs[1]))) == [PNG, b"Buy milk."]
        (turn, _) = await agents_of(runtime).sessions.transcript("s")
        (kept,) = [message for message in turn.messages if isinstance(message, UserMessage)]
        assert [(block["type"], block["name"], block["size"]) for block in kept.content] == [
            ("resource_link", "photo.png", len(PNG)),
            ("resource_link", "note.txt", 9),
        ]
        status: Any = (await engine.status(output.run_id)).input
        assert "data" not in json.dumps(status["content"])
        stored = await runtime.artifacts.load(kept.content[0]["uri"], session_id="s")
        assert (stored.data, stored.info.media_type) == (PNG, "image/png")


async def test_a_run_without_a_session_has_its_own_files_only() -> None:
    planner = ScriptedPlanner(["One."], [calling(("point_at", {"uri": ""})), "Two."])
    async with running(agent("x.a", planner, MEASURING), **keeping()) as (runtime, engine):
        output = await client(runtime).one_shot("Look.", files=[PHOTO])
        assert list(map(data_of, blocks(planner.inputs[0]))) == [PNG]
        run_input: Any = (await engine.status(output.run_id)).input
        uri = run_input["content"][0]["uri"]
        read = runtime.assembly.services.artifacts
        assert read is not None
        assert await read.read(uri, "", output.run_id) is not None
        assert await read.read(uri, "", "another") is None


async def test_files_survive_a_restart(tmp_path: Path) -> None:
    """A turn that waits when its process ends goes on with its files in the next one."""
    planner = ScriptedPlanner([calling("ask"), "Seen."])

    def options() -> dict[str, Any]:
        store = SqliteArtifactStore(tmp_path / "files.db")
        return {"capabilities": [ArtifactsCapability(store)], "engine": InProcessEngine(tmp_path / "runs.db")}

    async with running(agent("x.a", planner), **options()) as (runtime, _):
        handle = await client(runtime).start("What is it?", session_id="s", files=[PHOTO])
        assert (await handle.settled()).status == "waiting"
    async with running(agent("x.a", planner), **options()) as (runtime, _):
        handle = client(runtime).handle(handle.run_id, session_id="s")
        (awaiting,) = (await handle.output()).awaiting
        await handle.answer(awaiting, "Ada")
        assert (await handle.result()).text == "Seen."
    assert [list(map(data_of, blocks(given))) for given in planner.inputs] == [[PNG], [PNG]]


async def test_the_newest_files_are_attached_within_the_limit() -> None:
    planner = ScriptedPlanner(["1"], ["2"], [loading("photo.png"), "3"])
    limits = Limits(attached_bytes=len(PNG) + 4)
    async with running(agent("x.a", planner), **keeping(limits=limits)) as (runtime, _):
        await client(runtime).run("One.", session_id="s", files=[PHOTO])
        await client(runtime).run("Two.", session_id="s", files=[NOTE])
        old, new = blocks(planner.inputs[1])
        assert (old["type"], new["type"]) == ("resource_link", "resource")
        assert old["description"] == "It is not shown here; load_artifacts shows it."
        await client(runtime).run("Show the photo.", session_id="s")
        assert loaded(planner.inputs[3]) == [PNG]
        assert [block["type"] for block in blocks(planner.inputs[3])] == ["resource_link"] * 2


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (replace(PHOTO, data=b"GIF89a"), "photo.png is not of the media type image/png"),
        (replace(NOTE, data=b"\xff"), "note.txt is not of the media type text/plain"),
        (replace(NOTE, media_type="text"), "note.txt: 'text' is not a media type such as image/png"),
        (
            replace(NOTE, name="a/b"),
            "a/b: 'a/b' is not an artifact name; use up to 255 characters without a slash",
        ),
        (replace(NOTE, data=b"x" * 101), "the files have 101 bytes in total; the limit is 100"),
    ],
)
async def test_a_file_that_does_not_fit_is_refused_before_the_turn(file: Upload, message: str) -> None:
    options = keeping(limits=Limits(attached_bytes=100))
    async with running(agent("x.a", ScriptedPlanner(["Ok."])), **options) as (runtime, _):
        with pytest.raises(BadFileError) as raised:
            await client(runtime).start("Look.", session_id="s", files=[file])
        assert raised.value.message == message
        assert (await client(runtime).run("Look.", session_id="s", files=[NOTE])).text == "Ok."


async def test_a_runtime_without_a_store_says_what_it_lacks() -> None:
    async with running(agent("x.a", ScriptedPlanner(["Ok."]))) as (runtime, _):
        with pytest.raises(BadFileError, match="this runtime has no artifact store") as raised:
            await client(runtime).start("Look.", session_id="s", files=[PHOTO])
        assert "ArtifactsCapability" in (raised.value.hint or "")


async def test_a_file_that_is_sent_again_is_stored_once() -> None:
    options = keeping()
    planner = ScriptedPlanner(["Ok."], ["Ok."])
    async with running(agent("x.a", planner), **options) as (runtime, _):
        for _ in range(2):
            await client(runtime).run("Look.", session_id="s", files=[NOTE])
        versions = await options["capabilities"][0].store.listed("session/s", "note.txt")
        assert [info.version for info in versions] == [1]


async def test_an_artifact_for_models_is_loaded_for_one_planning() -> None:
    planner = ScriptedPlanner(
        [
            calling(("measure", {"points": "1 2 3"})),
            lambda given: loading(f"curve-{given.messages[-1].answers[0].id}.json"),  # type: ignore[union-attr]
            calling(("measure", {"points": "4"})),
            "Done.",
        ]
    )
    async with running(agent("x.a", planner, MEASURING), **keeping()) as (runtime, _):
        output = await client(runtime).run("Measure.", session_id="s")
        assert output.text == "Done."
        first, second, third, fourth = planner.inputs
        assert [spec.name for spec in first.tools] == ["measure", "point_at"]
        assert [spec.name for spec in second.tools] == ["measure", "point_at", "load_artifacts"]
        assert listed(second).splitlines()[1:-1] == ['- "curve-call_0_0.json" (application/json, 18 bytes)']
        assert loaded(third) == [b'{"points":"1 2 3"}']
        assert loaded(fourth) == []
        (turn,) = await agents_of(runtime).sessions.transcript("s")
        assert "1 2 3" not in json.dumps([m.content for m in _answers(turn.messages)])


def _answers(messages: Any) -> list[Any]:
    return [answer for m in messages if isinstance(m, ToolMessage) for answer in m.answers]


async def test_no_model_loads_what_is_sensitive_or_for_people_or_of_another_session() -> None:
    uris: list[str] = []

    async def load_all(given: PlanInput) -> Any:
        return loading("theirs.json") if "load_artifacts" in [spec.name for spec in given.tools] else "None."

    planner = ScriptedPlanner(
        [calling(("measure", {"points": "9"})), "Measured."],
        [lambda _: calling(*(("point_at", {"uri": uri}) for uri in uris)), load_all, "Tried."],
    )
    async with running(agent("x.a", planner, MEASURING), **keeping()) as (runtime, _):
        output = await client(runtime).run("Measure.", session_id="s")
        uris += [artifact.uri for artifact in output.artifacts]
        await client(runtime).run("Look.", session_id="t", files=[NOTE])
        assert listed(planner.inputs[-1]).splitlines()[1:-1] == ['- "note.txt" (text/plain, 9 bytes)']
        (message,) = answers(planner.inputs[-1])
        assert message["error"] == "no file is named 'theirs.json'; the files are: note.txt"
        assert loaded(planner.inputs[-1]) == []


async def test_a_link_that_a_tool_forges_is_not_read() -> None:
    """Where a link names another session's file, or one for people, its data is not attached."""
    planner = ScriptedPlanner([calling(("measure", {"points": "9"})), "Measured."])
    async with running(agent("x.a", planner, MEASURING), **keeping()) as (runtime, _):
        output = await client(runtime).run("Measure.", session_id="s")
        files = AttachedFiles(agents_of(runtime)._host)
        run_input: Any = (await runtime.runs.status(output.run_id)).input
        facts, kinds = run_input["facts"], {}
        other: Any = {**facts, "session_id": "t"}
        for artifact in output.artifacts:
            stored = await files._read(artifact.uri, output.run_id, facts)
            kinds[artifact.kind] = stored is not None
            assert await files._read(artifact.uri, output.run_id, other) is None
        assert kinds == {"curve": True, "card": False, "code": False}


async def load_artifacts(names: list[str]) -> str:
    """Load nothing of the runtime's."""
    return "own"


OWN = StaticToolset(name="local.functions", bound=(func_tool(load_artifacts),))


@pytest.mark.parametrize(
    ("toolset", "restrictions"),
    [(OWN, {}), (MEASURING, {"restrict_to_tool": "measure"})],
    ids=["a tool of that name", "a restricted run"],
)
async def test_a_run_that_is_offered_no_such_tool_has_its_files(
    toolset: StaticToolset, restrictions: dict[str, Any]
) -> None:
    planner = ScriptedPlanner(["Ok."])
    async with running(agent("x.a", planner, toolset), **keeping()) as (runtime, _):
        await client(runtime).run("Look.", session_id="s", files=[PHOTO], **restrictions)
    (given,) = planner.inputs
    assert list(map(data_of, blocks(given))) == [PNG]
    assert listed(given) == ""
    assert [spec.id for spec in given.tools if spec.id.startswith("toolgen.")] == []


async def test_a_file_that_is_gone_is_named_in_its_place() -> None:
    options = keeping()
    planner = ScriptedPlanner(["Ok."], ["Ok."])
    async with running(agent("x.a", planner), **options) as (runtime, _):
        await client(runtime).run("Look.", session_id="s", files=[PHOTO])
        await options["capabilities"][0].forget("s")
        assert (await client(runtime).run("And now?", session_id="s")).status == "completed"
    assert blocks(planner.inputs[1]) == [{"type": "text", "text": "photo.png: The file no longer exists."}]


async def test_an_erased_session_leaves_no_file() -> None:
    options = keeping()
    async with running(agent("x.a", ScriptedPlanner(["Ok."])), **options) as (runtime, _):
        await client(runtime).run("Look.", session_id="s", files=[PHOTO])
        await agents_of(runtime).erase("s")
    assert await options["capabilities"][0].store.listed("session/s") == ()


async def test_a_message_that_is_refused_leaves_no_file() -> None:
    store, planner = MemoryArtifactStore(), ScriptedPlanner([calling("hang")])
    async with running(agent("x.a", planner), capabilities=[ArtifactsCapability(store)]) as (runtime, _):
        files = [PHOTO, replace(PHOTO, name="a/b.png")]
        with pytest.raises(BadFileError):
            await client(runtime).start("And this?", session_id="s", files=files)
        await client(runtime).start("Go.", session_id="s")
        with pytest.raises(SessionBusyError):
            await client(runtime).start("And this?", session_id="s", files=[PHOTO])
        await agents_of(runtime).sessions.end("s")
        with pytest.raises(EndedSessionError):
            await client(runtime).start("And this?", session_id="s", files=[PHOTO])
        assert await store.listed("session/s") == ()


async def own_files() -> list[JsonValue]:
    """List files of its own."""
    return [
        1,
        {"name": "x"},
        {"name": "photo.png", "uri": "artifact:session/s/photo.png?version=1", "size": 0},
    ]


async def test_files_are_read_from_no_other_tool_of_the_name() -> None:
    """What an agent before said by a tool of the same name is neither a failure nor beyond the budget."""
    own = function_toolset("x.own", [func_tool(own_files, name="load_artifacts", toolset="x.own")])
    calls = calling("load_artifacts", ("go", {"agent": "x.b"}))
    before = agent("x.a", ScriptedPlanner([calls]), dynamic=(own,), transfers=("x.b",))
    planner = ScriptedPlanner(["Fine."])
    limits = Limits(attached_bytes=len(PNG))
    async with running(before, agent("x.b", planner), **keeping(limits=limits)) as (runtime, _):
        output = await client(runtime).run("Hello.", session_id="s", files=[PHOTO])
        assert (output.status, output.text) == ("completed", "Fine.")
    assert [block["type"] for block in blocks(planner.inputs[0])] == ["resource_link"]
    assert loaded(planner.inputs[0]) == [PNG]


@pytest.mark.parametrize("data", [b"RIFF\x00\x00\x00\x00WAVEfmt ", b"RIFF"])
async def test_a_sound_is_no_picture(data: bytes) -> None:
    file = Upload(name="a.webp", data=data, media_type="image/webp")
    async with running(agent("x.a", ScriptedPlanner(["x"])), **keeping()) as (runtime, _):
        with pytest.raises(BadFileError, match="is not of the media type image/webp"):
            await client(runtime).run("Look.", session_id="s", files=[file])
